"""Measures deduplication on synthetic statements: time, memory, recall and precision, with other libraries beside.

``python -m warehouse.deduplication.measure [N]`` prints one line a measure.
"""

from __future__ import annotations

import resource
import sys
from collections import Counter, defaultdict
from time import perf_counter, process_time
from typing import Any

from warehouse.deduplication import SHINGLE, THRESHOLD, Duplicates, find_duplicates
from warehouse.deduplication.search import pair_array, pair_similarities
from warehouse.deduplication.synthetic import Planted, synthetic_problems
from warehouse.deduplication.tokens import tokenise


def measure(count: int = 300_000, peer_statements: int = 20_000, near: bool = True) -> list[dict[str, Any]]:
    """Deduplicate ``count`` synthetic statements and compare with what was planted.

    Parameters
    ----------
    peer_statements : int
        How many statements the other libraries sign; their time is also given for ``count``, in proportion.

    Returns
    -------
    list of dict
        measure, value and unit.
    """
    planted = synthetic_problems(count)
    begin, worked = perf_counter(), process_time()
    found = find_duplicates(planted.records, near=near)
    seconds, worked = perf_counter() - begin, process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = [("seconds", seconds, "s"), ("processor seconds", worked, "s"), ("peak memory", peak, "MiB")]
    rows += [(f"seconds: {stage}", value, "s") for stage, value in found.seconds.items()]
    rows += [(name, value, "") for name, value in score(planted, found).items()]
    rows += peers(planted, peer_statements, count)
    return [{"measure": name, "value": value, "unit": unit} for name, value, unit in rows]


def score(planted: Planted, found: Duplicates) -> dict[str, float]:
    """Recall over planted reworded pairs at or above the threshold, precision of the merged pairs.

    A merged pair is right when it was planted as reworded; renumbered copies must all be near and unmerged.
    """
    group = {row["problem_id"]: row["group_id"] for row in found.groups}
    similarity = _similarities(planted)
    similar = [pair for pair, value in zip(planted.reworded, similarity, strict=True) if value >= THRESHOLD]
    merged = sum(group.get(first, first) == group.get(second, second) for first, second in similar)
    members = defaultdict(list)
    for problem, survivor in group.items():
        members[survivor].append(problem)
    truth = {frozenset(pair) for pair in planted.reworded}
    pairs = [frozenset((head, other)) for head, *others in map(sorted, members.values()) for other in others]
    right = sum(pair in truth for pair in pairs)
    near = Counter(row["kind"] for row in found.near)
    wrongly = sum(first in group and group[first] == group.get(second) for first, second in planted.renumbered)
    return {
        "planted pairs": float(len(planted.reworded)),
        "planted pairs at the threshold": float(len(similar)),
        "recall": merged / len(similar) if similar else 1.0,
        "precision": right / len(pairs) if pairs else 1.0,
        "renumbered merged": float(wrongly),
        "renumbered planted": float(len(planted.renumbered)),
        "renumbered near": float(near["renumbered"]),
    }


def peers(planted: Planted, sample: int, count: int) -> list[tuple[str, float, str]]:
    """Time of the signatures alone with datasketch and rensa where they are installed."""
    words = [record["statement"].split() for record in planted.records[:sample]]
    shingles = [[" ".join(w[i : i + SHINGLE]) for i in range(max(1, len(w) - SHINGLE + 1))] for w in words]
    rows: list[tuple[str, float, str]] = []
    for name, sign in (("datasketch", _datasketch), ("rensa", _rensa)):
        begin = perf_counter()
        try:
            sign(shingles)
        except ImportError:
            continue
        seconds = perf_counter() - begin
        rows.append((f"{name}: signatures of {len(words):,}", seconds, "s"))
        rows.append((f"{name}: in proportion for {count:,}", seconds * count / len(words), "s"))
    return rows


def _similarities(planted: Planted) -> list[float]:
    place = {record["problem_id"]: number for number, record in enumerate(planted.records)}
    pairs = pair_array([(place[first], place[second]) for first, second in planted.reworded])
    tokens = tokenise(record["statement"] for record in planted.records)
    return list(pair_similarities(tokens.plain, tokens.starts, pairs, SHINGLE))


def _datasketch(shingles: list[list[str]]) -> None:
    from datasketch import MinHash

    for texts in shingles:
        MinHash(num_perm=100).update_batch([text.encode() for text in texts])


def _rensa(shingles: list[list[str]]) -> None:
    from rensa import RMinHash

    for texts in shingles:
        signature = RMinHash(num_perm=100, seed=1)
        signature.update(texts)
        signature.digest()


if __name__ == "__main__":
    for row in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 300_000):
        print(f"{row['measure']:45} {row['value']:14,.4f} {row['unit']}")
