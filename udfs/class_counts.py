"""Partners of every problem in the three classes, from streams of qualifying pairs that are never stored.

Topic-relevant pairs come as pairs of topic *sets* (problems with equal topics share one), summary-relevant
ones as pairs of problems. A pair in both streams is of class both, else topic-only or summary-only. What is
held is one 64-bit key a pair of sets; where even these are too many, `class_counts_by_slices` goes through
the sets in slices, at twice the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Pairs: TypeAlias = tuple[NDArray[Any], NDArray[Any]]
Counts: TypeAlias = NDArray[np.int64]

_BATCH = 1 << 20
_LARGEST_FILTER_BITS = 27
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class ClassCounts:
    """Numbers of partners of every problem, int64, shape (N,) each; a problem is no partner of itself."""

    topic_only: Counts
    summary_only: Counts
    both: Counts


def class_counts(
    set_of_problem: NDArray[Any],
    n_sets: int,
    topic_pairs: Iterable[Pairs],
    summary_pairs: Iterable[Pairs],
    *,
    text_of_problem: NDArray[Any] | None = None,
    both_ends: bool = True,
) -> ClassCounts:
    """Count partners by class.

    Parameters
    ----------
    set_of_problem : int, shape (N,)
        Topic set of each problem; -1 for none.
    n_sets : int
    topic_pairs : iterable of (x, y), int arrays of equal length
        Qualifying pairs of topic sets, each unordered pair once; (x, x) says that problems with the same
        set are topic-relevant to each other.
    summary_pairs : iterable of (i, j), int arrays of equal length
        Qualifying pairs of problems, each unordered pair once.
    text_of_problem : int, shape (N,), optional
        Problems with the same number have the same text and are no partners of each other.
    both_ends : bool
        False: the streams hold ordered pairs, and only x and i are counted for. A run over some rows, with
        all their partners, then fills the counts of these rows alone.

    Returns
    -------
    ClassCounts

    Raises
    ------
    ValueError
        When a pair of sets comes twice.
    """
    sets = np.asarray(set_of_problem, dtype=np.int64)
    n = len(sets)
    texts = np.arange(n) if text_of_problem is None else np.asarray(text_of_problem)
    lookup = SetPairs(n_sets, topic_pairs, both_ends)
    topic = _topic_counts(lookup, sets)
    first, second = _copies(texts)
    related = lookup.contain(sets[first], sets[second])
    topic -= np.bincount(first[related], minlength=n)

    summary, both = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for i, j in _batches(summary_pairs):
        if text_of_problem is not None:
            other_text = texts[i] != texts[j]
            i, j = i[other_text], j[other_text]
        related = lookup.contain(sets[i], sets[j])
        for end in (i, j) if both_ends else (i,):
            summary += np.bincount(end, minlength=n)
            both += np.bincount(end[related], minlength=n)
    return ClassCounts(topic - both, summary - both, both)


def class_counts_by_slices(
    set_of_problem: NDArray[Any],
    n_sets: int,
    topic_partners: Callable[[NDArray[np.int64]], Iterable[Pairs]],
    summary_partners: Callable[[NDArray[np.int64]], Iterable[Pairs]],
    *,
    sets_at_once: int = 4096,
    text_of_problem: NDArray[Any] | None = None,
) -> ClassCounts:
    """`class_counts` for corpora in which so many pairs of sets qualify that their keys exceed memory.

    Parameters
    ----------
    topic_partners : callable
        Set numbers -> stream of (x, y) with x among them and y every qualifying partner, x itself included.
    summary_partners : callable
        Problem numbers -> stream of (i, j) with i among them and j every qualifying partner.
    sets_at_once : int
        Held keys are ``sets_at_once * n_sets`` times the share of qualifying pairs.
    set_of_problem, n_sets, text_of_problem
        As for `class_counts`. Problems without a set count too.
    """
    sets = np.asarray(set_of_problem, dtype=np.int64)
    total = [np.zeros(len(sets), dtype=np.int64) for _ in range(3)]
    for start in range(-1, n_sets, sets_at_once):
        stop = min(start + sets_at_once, n_sets)
        rows = np.flatnonzero((sets >= start) & (sets < stop))
        if not len(rows):
            continue
        part = class_counts(
            sets,
            n_sets,
            topic_partners(np.arange(max(start, 0), stop)),
            summary_partners(rows),
            text_of_problem=text_of_problem,
            both_ends=False,
        )
        for counts, added in zip(total, (part.topic_only, part.summary_only, part.both), strict=True):
            counts[rows] += added[rows]
    return ClassCounts(*total)


def _batches(pairs: Iterable[Pairs]) -> Iterator[Pairs]:
    """The same pairs in fewer parts: every part costs a pass over all problems."""
    waiting: list[Pairs] = []
    length = 0
    for i, j in pairs:
        waiting.append((i, j))
        length += len(i)
        if length >= _BATCH:
            yield np.concatenate([part[0] for part in waiting]), np.concatenate([part[1] for part in waiting])
            waiting, length = [], 0
    if waiting:
        yield np.concatenate([part[0] for part in waiting]), np.concatenate([part[1] for part in waiting])


class SetPairs:
    """A set of pairs of set numbers that answers "is (x, y) in it" for arrays.

    Parameters
    ----------
    n_sets : int
    pairs : iterable of (x, y)
    unordered : bool
        (x, y) and (y, x) are one pair.
    """

    def __init__(self, n_sets: int, pairs: Iterable[Pairs], unordered: bool) -> None:
        self.n_sets = n_sets
        self.unordered = unordered
        parts = [self._keys(np.asarray(x, dtype=np.int64), np.asarray(y, dtype=np.int64)) for x, y in pairs]
        self.keys = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
        del parts
        self.keys.sort()
        twice = np.flatnonzero(self.keys[1:] == self.keys[:-1])
        if len(twice):
            x, y = divmod(int(self.keys[twice[0]]), n_sets)
            raise ValueError(f"The pair of topic sets {x} and {y} comes twice. Each pair must come once.")
        # Most questions are answered no: a table of hashed keys says so without a search.
        bits = min(max(int(8 * len(self.keys)).bit_length(), 10), _LARGEST_FILTER_BITS)
        self._shift = np.uint64(64 - bits)
        self._may_hold = np.zeros(1 << bits, dtype=bool)
        self._may_hold[self._hash(self.keys)] = True

    def contain(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each (x, y) is held; pairs with a set number of -1 never are."""
        keys = self._keys(x, y)
        answer = self._may_hold[self._hash(keys)]
        maybe = np.flatnonzero(answer)
        place = np.searchsorted(self.keys, keys[maybe])
        found = place < len(self.keys)
        found[found] = self.keys[place[found]] == keys[maybe[found]]
        answer[maybe] = found & (np.minimum(x[maybe], y[maybe]) >= 0)
        return answer

    def _keys(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.unordered:
            x, y = np.minimum(x, y), np.maximum(x, y)
        return x * self.n_sets + y

    def _hash(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        return ((keys.view(np.uint64) * _MULTIPLIER) >> self._shift).view(np.int64)


def _topic_counts(lookup: SetPairs, sets: NDArray[np.int64]) -> Counts:
    """Topic-relevant partners of every problem."""
    n_sets = lookup.n_sets
    held = sets >= 0
    multiplicity = np.bincount(sets[held], minlength=n_sets)
    by_set = np.zeros(n_sets + 1, dtype=np.int64)  # the last one for problems without a set
    for start in range(0, len(lookup.keys), 1 << 22):
        x, y = np.divmod(lookup.keys[start : start + (1 << 22)], max(n_sets, 1))
        ends = ((x, y), (y, x)) if lookup.unordered else ((x, y),)
        for end, other in ends:
            # bincount adds in float64: exact, as no set has 2**53 partners.
            by_set[:-1] += np.bincount(end, weights=multiplicity[other], minlength=n_sets).astype(np.int64)
        same = x[x == y]
        # A problem is no partner of itself; the unordered sum saw (x, x) from both ends.
        by_set[same] -= multiplicity[same] + 1 if lookup.unordered else 1
    return by_set[sets]


def _copies(texts: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ordered pairs of different problems with the same text."""
    order = np.argsort(texts, kind="stable")
    first = np.flatnonzero(np.append(True, texts[order][1:] != texts[order][:-1])) if len(order) else order
    sizes = np.diff(np.append(first, len(order)))
    left, right = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for start, size in zip(first[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        group = order[start : start + size]
        a, b = np.repeat(group, size), np.tile(group, size)
        left.append(a[a != b])
        right.append(b[a != b])
    return np.concatenate(left), np.concatenate(right)
