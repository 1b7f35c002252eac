"""Duplicates among problems: exact, same text, similar text; and copies that are only near.

**Merged** are problems of one content hash, of equal tokens, or of word-shingle Jaccard similarity at or above
the threshold with everything hard (numbers, formulas, words that matter) equal and in the same order.
**Near** and only reported are renumbered copies, copies with other formulas or decisive words, copies with
another answer, and translations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.deduplication import near as nearness
from warehouse.deduplication import search
from warehouse.deduplication.groups import components, preference
from warehouse.deduplication.statements import Statements

__all__ = ["Duplicates", "find_duplicates"]

SHINGLE = 3
THRESHOLD = 0.8
PRIORITY = ("official", "numina", "aops")
EXACT, SAME, SIMILAR = "exact", "same text", "similar text"


@dataclass
class Duplicates:
    """What deduplication found.

    Attributes
    ----------
    groups : list of dict
        One row per problem that has copies: group_id (the survivor's problem_id), problem_id, is_survivor,
        kind (how it is linked: exact, same text, similar text), similarity (Jaccard to the survivor).
    near : list of dict
        One row per pair that is only near: first_id, second_id, kind (renumbered, other formulas, other
        words, other answer, translation), similarity (of the words), masked_similarity (numbers masked).
    seconds : dict of str to float
        Time of each stage.
    """

    groups: list[dict[str, Any]] = field(default_factory=list)
    near: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def dropped(self) -> set[str]:
        """Ids of the copies that do not survive."""
        return {row["problem_id"] for row in self.groups if not row["is_survivor"]}

    @property
    def counts(self) -> dict[str, int]:
        """Groups, dropped problems by kind, near pairs by kind."""
        kinds = Counter(row["kind"] for row in self.groups if not row["is_survivor"])
        near = Counter(row["kind"] for row in self.near)
        return {
            "groups": sum(row["is_survivor"] for row in self.groups),
            "dropped": sum(kinds.values()),
            **{f"dropped {kind}": count for kind, count in sorted(kinds.items())},
            **{f"near {kind}": count for kind, count in sorted(near.items())},
        }


def find_duplicates(
    records: Sequence[Mapping[str, Any]],
    priority: Sequence[str] = PRIORITY,
    threshold: float = THRESHOLD,
    near: bool = True,
    shingle_size: int = SHINGLE,
    workers: int = 2,
) -> Duplicates:
    """Find the copies among problems.

    Parameters
    ----------
    records : sequence of mapping
        Problem records (problem_id, source, statement, solution, answer, language, metadata, content_hash).
    priority : sequence of str
        Sources, best first; of a group the copy of the best source survives, then the most complete one.
    threshold : float
        Least Jaccard similarity of word shingles, in (0, 1].
    near : bool
        Whether to look for near copies too.
    shingle_size : int
        Tokens a shingle. Three, because a statement has about 40 tokens: one reworded word leaves a
        similarity of 0.86 with three and of 0.76 with five.
    workers : int
        Threads; the result does not depend on it.

    Returns
    -------
    Duplicates
        Rows in an order that does not depend on the order of the records.
    """
    clock = _Clock()
    statements = Statements.of(sorted(records, key=lambda record: record["problem_id"]))
    clock.lap("tokens")
    links, conflicts = search.equal_links(statements)
    clock.lap("equal")
    leaders = _first_of_each(components(len(statements), links))
    found = search.similar_text(statements.tokens, leaders, statements.hard_keys, threshold, shingle_size, workers)
    agree = search.agreeing(found, statements)
    links = np.concatenate([links, found.pairs[agree]])
    conflicts = np.concatenate([conflicts, found.pairs[~agree]])
    clock.lap("similar")
    labels = components(len(statements), links)
    survivors = _survivors(statements, labels, priority)
    groups = _group_rows(statements, labels, survivors, shingle_size)
    clock.lap("groups")
    close: list[dict[str, Any]] = []
    if near:
        close = nearness.near_rows(statements, survivors[labels], conflicts, threshold, shingle_size, workers)
        clock.lap("near")
    return Duplicates(groups, close, clock.seconds)


class _Clock:
    """Time since the last lap, by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, stage: str) -> None:
        now = perf_counter()
        self.seconds[stage], self._last = now - self._last, now


def _first_of_each(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.sort(np.unique(labels, return_index=True)[1]).astype(np.int64)


def _survivors(statements: Statements, labels: NDArray[np.int64], priority: Sequence[str]) -> NDArray[np.int64]:
    """The best copy of each component, by label."""
    sizes = np.bincount(labels)
    best = np.full(len(sizes), -1, np.int64)
    best[labels[::-1]] = np.arange(len(labels))[::-1]  # right for components of one
    for place in np.flatnonzero(sizes[labels] > 1).tolist():
        label, record = labels[place], statements.records[place]
        if preference(record, priority) < preference(statements.records[best[label]], priority):
            best[label] = place
    return best


def _group_rows(
    statements: Statements, labels: NDArray[np.int64], survivors: NDArray[np.int64], shingle_size: int
) -> list[dict[str, Any]]:
    members = np.flatnonzero(np.bincount(labels)[labels] > 1)
    best = survivors[labels[members]]
    tokens = statements.tokens
    pairs = np.stack([members, best], axis=1)
    similarity = search.pair_similarities(tokens.plain, tokens.starts, pairs, shingle_size)
    rows = []
    for place, survivor, value in zip(members.tolist(), best.tolist(), similarity.tolist(), strict=True):
        record, kept = statements.records[place], statements.records[survivor]
        kind = SIMILAR
        if record["content_hash"] == kept["content_hash"]:
            kind = EXACT
        elif statements.text_keys[place] == statements.text_keys[survivor]:
            kind = SAME
        rows.append(
            {
                "group_id": kept["problem_id"],
                "problem_id": record["problem_id"],
                "is_survivor": place == survivor,
                "kind": kind,
                "similarity": value,
            }
        )
    return sorted(rows, key=lambda row: (row["group_id"], not row["is_survivor"], row["problem_id"]))
