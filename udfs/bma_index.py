"""Which topic sets may be similar enough: an inverted index that finds every pair above a threshold from one side.

Let ``a(x -> y)`` be the mean over the topics of y of their best match in x. The best-match average is a weighted mean
of ``a(x -> y)`` and ``a(y -> x)``, so a pair that reaches the threshold T has a side that reaches it. Say it is y
(the *target*), found from x (the *finder*). The n topics of y then fall short of 1 by at most ``n (1 - T)`` in all.
Among any p of them one falls short by at most ``n (1 - T) / p``, that is, has a match >= ``1 - n (1 - T) / p`` in x.

So each target is filed under p of its topics alone, and p is chosen to make the expected number of candidates least:
p = 1 asks for a weak match of the rarest topic, p = n for a match >= T of any topic. A topic that every problem
carries costs nothing as long as there is a rarer one beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from udfs.bma_space import IntArray, SetSpace
from udfs.lin import TopicSimilarities

_COST_STEPS = 128
_EXACT_FLOAT32_TERMS = 16
_ROUNDING = 1e-6
"""More than the rounding of one float32 similarity to its grid; widening a match costs a few candidates at most."""


class IndexTooLargeError(Exception):
    """The threshold is so low that the index would not fit into its share of the memory."""


@dataclass(frozen=True)
class SizeClass:
    """Target sets of one size.

    Attributes
    ----------
    size : int
        Topics in each set.
    sets : int64 array, shape (n,)
        Set numbers, ascending.
    columns : tuple of `size` int64 arrays, shape (n,)
        Positions of the first, second, ... topic of every set.
    filed : bool CSR array, shape (n_used topics, n)
        Entry (t, i): a set that holds topic t may have set i for a partner.
    """

    size: int
    sets: IntArray
    columns: tuple[IntArray, ...]
    filed: sp.csr_array


def size_classes(space: SetSpace) -> list[SizeClass]:
    """All sets by size, filed under every topic they hold (for finders that look up near topics themselves)."""
    classes = []
    for size in np.unique(space.sizes).tolist():
        numbers = np.flatnonzero(space.sizes == size)
        _, positions = space.members(numbers)
        columns = tuple(np.ascontiguousarray(positions.reshape(-1, size).T))
        filed = space.membership(numbers).T.tocsr()
        classes.append(SizeClass(size, numbers, columns, filed))
    return classes


def file_by_rarest(
    classes: list[SizeClass], similarities: TopicSimilarities, threshold: float, most_entries: int
) -> list[SizeClass]:
    """Targets by size, filed under the topics that a finder of them must hold one of.

    Parameters
    ----------
    classes : list of SizeClass
        From :func:`size_classes`.
    similarities : TopicSimilarities
    threshold : float
        Least mean of the targets' best matches that must be found, above 1e-6.
    most_entries : int
        Largest index to make.

    Returns
    -------
    list of SizeClass
        The same classes with `filed` replaced.

    Raises
    ------
    IndexTooLargeError
        When it would have more entries.
    """
    costs = _candidates_by_match(classes, similarities)
    chosen = [_choose(one, costs, threshold) for one in classes]
    topics: list[list[IntArray]] = [[] for _ in classes]
    filed: list[list[IntArray]] = [[] for _ in classes]
    for first in range(0, len(similarities), _rows_at_once(similarities)):
        stop = min(first + _rows_at_once(similarities), len(similarities))
        rows, row_of_position = similarities.rows(np.arange(first, stop))
        for number, (prefix, count, target) in enumerate(chosen):
            inside = slice(*np.searchsorted(prefix, [first, stop]))
            size = classes[number].size
            matches = np.array([_least_match(threshold, size, p) for p in range(1, size + 1)])
            near, owner = _near(
                similarities, rows, row_of_position, prefix[inside], matches, count[inside] - 1, most_entries
            )
            most_entries -= len(near)
            topics[number].append(near)
            filed[number].append(target[inside][owner])
    shape = len(similarities)
    return [
        SizeClass(
            one.size,
            one.sets,
            one.columns,
            _bool_csr(np.concatenate(topics[number]), np.concatenate(filed[number]), (shape, len(one.sets))),
        )
        for number, one in enumerate(classes)
    ]


def near_topics(
    similarities: TopicSimilarities, positions: IntArray, least_match: float, most_entries: int
) -> sp.csr_array:
    """Topics with a match >= `least_match` to each of some topics.

    Returns
    -------
    bool CSR array, shape (n_used, n_used)
        Rows of topics that are not in `positions` are empty.

    Raises
    ------
    IndexTooLargeError
        When there are more than `most_entries`.
    """
    topics: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    owners: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    step = _rows_at_once(similarities)
    for first in range(0, len(positions), step):
        chunk = positions[first : first + step]
        rows, row_of_position = similarities.rows(chunk)
        match, which = np.array([least_match]), np.zeros_like(chunk)
        near, owner = _near(similarities, rows, row_of_position, chunk, match, which, most_entries)
        most_entries -= len(near)
        topics.append(near)
        owners.append(chunk[owner])
    shape = (len(similarities), len(similarities))
    return _bool_csr(np.concatenate(owners), np.concatenate(topics), shape)


def sum_type(terms: int) -> type[np.floating]:
    """A type that sums this many similarities without rounding."""
    return np.float32 if terms <= _EXACT_FLOAT32_TERMS else np.float64


def sums_of_best_matches(
    best: npt.NDArray[np.float32],
    row: IntArray,
    target: npt.NDArray[np.integer],
    one: SizeClass,
    needed: npt.NDArray[np.floating],
) -> tuple[IntArray, IntArray, npt.NDArray[np.float64]]:
    """Sum over each candidate's topics of their best match in its finder, for those that reach what is needed.

    Parameters
    ----------
    best : float32 array
        Flattened rows of :meth:`udfs.bma_space.BestMatches.fill`.
    row : int64 array, shape (n_candidates,)
        Where the finder's row begins in `best`.
    target : integer array, shape (n_candidates,)
        Index into the class.
    one : SizeClass
    needed : floating array, shape (n_candidates,) or (1,)
        On the grid of the similarities, of :func:`sum_type`.

    Returns
    -------
    row, target : int64 arrays, shape (n_left,)
    total : float64 array, shape (n_left,)
    """
    left: IntArray = target.astype(np.int64)
    total: npt.NDArray[np.floating] = best.take(one.columns[0].take(left) + row)
    total = total.astype(sum_type(one.size), copy=False)
    for done, column in enumerate(one.columns[1:], start=1):
        if done > 1 and done & (done - 1) == 0:
            row, left, total, needed = _hopeful(row, left, total, needed, one.size - done)
        total += best.take(column.take(left) + row)
    row, left, total, _ = _hopeful(row, left, total, needed, 0)
    return row, left, total.astype(np.float64)


def _hopeful(
    row: IntArray,
    target: IntArray,
    total: npt.NDArray[np.floating],
    needed: npt.NDArray[np.floating],
    missing: int,
) -> tuple[IntArray, IntArray, npt.NDArray[np.floating], npt.NDArray[np.floating]]:
    """Candidates that still reach what they need if every missing match is 1."""
    rows = np.flatnonzero(total >= needed - total.dtype.type(missing))
    return row.take(rows), target.take(rows), total.take(rows), needed if len(needed) == 1 else needed.take(rows)


def _choose(one: SizeClass, costs: npt.NDArray[np.float32], threshold: float) -> tuple[IntArray, IntArray, IntArray]:
    """Entries (topic, p, target) to file the targets of a class under, ascending by topic."""
    size = one.size
    members = np.stack(one.columns, axis=1)
    best_cost = np.full(len(members), np.inf)
    best_count = np.full(len(members), size)
    for count in range(1, size + 1):
        match = _least_match(threshold, size, count)
        if match <= 0.0:
            continue  # everything matches that well
        cost = np.sort(costs[_cost_step(match)][members], axis=1)[:, :count].sum(axis=1)
        better = cost < best_cost
        best_cost[better], best_count[better] = cost[better], count
    topics, counts, targets = [], [], []
    for count in np.unique(best_count).tolist():
        rows = np.flatnonzero(best_count == count)
        match = _least_match(threshold, size, count)
        rarest = np.argsort(costs[_cost_step(match)][members[rows]], axis=1, kind="stable")[:, :count]
        topics.append(np.take_along_axis(members[rows], rarest, axis=1).ravel())
        counts.append(np.full(rarest.size, count))
        targets.append(np.repeat(rows, count))
    topic = np.concatenate(topics)
    order = np.argsort(topic, kind="stable")
    return topic[order], np.concatenate(counts)[order], np.concatenate(targets)[order]


def _least_match(threshold: float, size: int, count: int) -> float:
    return 1.0 - (1.0 - threshold) * size / count - _ROUNDING


def _cost_step(match: float) -> int:
    return min(max(int(match * _COST_STEPS), 0), _COST_STEPS)


def _candidates_by_match(classes: list[SizeClass], similarities: TopicSimilarities) -> npt.NDArray[np.float32]:
    """Row m, column t: roughly how many targets hold a topic with a match >= m / steps to topic t."""
    frequency = np.zeros(len(similarities))
    for one in classes:
        for column in one.columns:
            frequency += np.bincount(column, minlength=len(similarities))
    costs = np.zeros((_COST_STEPS + 1, len(similarities)), dtype=np.float32)
    for first in range(0, len(similarities), _rows_at_once(similarities)):
        positions = np.arange(first, min(first + _rows_at_once(similarities), len(similarities)))
        rows, row_of_position = similarities.rows(positions)
        for position in positions.tolist():
            branch = slice(similarities.branch_start[position], similarities.branch_stop[position])
            step = (rows[row_of_position[position], branch] * np.float32(_COST_STEPS)).astype(np.int64)
            held = np.bincount(step, weights=frequency[branch], minlength=_COST_STEPS + 1)
            costs[:, position] = held[::-1].cumsum()[::-1]
    costs[0] = frequency.sum()
    return costs


def _near(
    similarities: TopicSimilarities,
    rows: npt.NDArray[np.float32],
    row_of_position: IntArray,
    positions: npt.NDArray[np.integer],
    matches: npt.NDArray[np.float64],
    which: npt.NDArray[np.integer],
    most_entries: int,
) -> tuple[IntArray, IntArray]:
    """Topics with a match >= matches[which] to each entry's position, and the entry they belong to.

    Equal entries are looked up once.
    """
    keys, entry = np.unique(positions.astype(np.int64) * len(matches) + which, return_inverse=True)
    found = []
    for key in keys.tolist():
        position, match = key // len(matches), matches[key % len(matches)]
        start, stop = int(similarities.branch_start[position]), int(similarities.branch_stop[position])
        found.append(np.flatnonzero(rows[row_of_position[position], start:stop] >= match) + start)
    lengths = np.array([len(topics) for topics in found], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    of_entry = lengths[entry]
    if of_entry.sum() > most_entries:
        raise IndexTooLargeError
    owner = np.repeat(np.arange(len(entry)), of_entry)
    ends = np.cumsum(of_entry)
    place = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts[entry] - ends + of_entry, of_entry)
    flat = np.concatenate([*found, np.zeros(0, dtype=np.int64)])
    return flat[place], owner


def _rows_at_once(similarities: TopicSimilarities) -> int:
    return max(1, (1 << 24) // max(1, len(similarities)))


def _bool_csr(
    rows: npt.NDArray[np.integer], columns: npt.NDArray[np.integer], shape: tuple[int, int]
) -> sp.csr_array:
    # bool, because its products are "or": a count could wrap around to 0 and lose the entry.
    return sp.coo_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape).tocsr()
