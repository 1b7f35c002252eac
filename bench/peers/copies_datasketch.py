"""Copies by datasketch: MinHash of word shingles, locality-sensitive hashing, exact Jaccard of what it proposes.

Its precision is that of the similarity alone: renumbered copies, which are other problems, are as similar.
"""

from __future__ import annotations

from bench.stage import Outcome, Stage, Workbench
from bench.stages.copies import n_statements
from bench.verdicts import timed
from warehouse.deduplication import SHINGLE, THRESHOLD

_BANDS, _ROWS = 14, 8  # proposes 92 % of the pairs of similarity 0.8; its own choice for 0.8 proposes 41 %


def run(workbench: Workbench) -> Outcome:
    """Find pairs; the time is that of signatures, index and verification."""
    from datasketch import MinHash, MinHashLSH

    from warehouse.deduplication.synthetic import synthetic_problems

    planted = synthetic_problems(n_statements(workbench))
    shingles = {}
    for record in planted.records:
        words = record["statement"].lower().split()
        ends = range(max(1, len(words) - SHINGLE + 1))
        shingles[record["problem_id"]] = {" ".join(words[start : start + SHINGLE]) for start in ends}

    permutations = _BANDS * _ROWS

    def find() -> set[frozenset[str]]:
        index = MinHashLSH(num_perm=permutations, params=(_BANDS, _ROWS))
        pairs: set[frozenset[str]] = set()
        for name, texts in shingles.items():
            signature = MinHash(num_perm=permutations)
            signature.update_batch([text.encode() for text in texts])
            pairs.update(frozenset((name, str(other))) for other in index.query(signature))
            index.insert(name, signature)
        return {pair for pair in pairs if jaccard(*pair) >= THRESHOLD}

    def jaccard(first: str, second: str) -> float:
        one, other = shingles[first], shingles[second]
        return len(one & other) / len(one | other)

    found, seconds = timed(find)
    wanted = {frozenset(pair) for pair in planted.reworded if jaccard(*pair) >= THRESHOLD}
    recall, precision = len(found & wanted) / len(wanted), len(found & wanted) / max(1, len(found))
    facts = {"pairs": len(found), "recall": round(recall, 4), "precision": round(precision, 4)}
    return Outcome(None, {**facts, **seconds})


STAGE = Stage("copies: datasketch", 87, run, peer_of="copies", largest=20_000, unit="statements", apart=True)
