"""Histograms of the topic signal over all pairs (problem of a group, any other problem), for quantiles by group.

The average of a pair is rounded down to a multiple of 2^-14. It is computed from Lin similarities rounded to
multiples of 2^-20, without further rounding error (:mod:`udfs.bma_dense`), so the counts are integers that do not
depend on threads or tiles, and SQL obtains the same ones from ``round(lin * 1048576) / 1048576``. They are exact for
these rounded similarities; against the unrounded definition a pair within 2^-21 of a bin's edge may be counted next
door, so a quantile read off as the lower edge of its bin is at most 2^-14 + 2^-21 below the true one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from udfs.bma_dense import TILE_SETS, Tile, TileRows, by_branch, fill_rows, tile_order
from udfs.bma_space import BestMatches, IntArray, SetSpace
from udfs.ordered_map import ordered_map

BIN_WIDTH = 2.0**-14
N_BINS = 2**14 + 1
"""Bin b holds [b, b + 1) / 2^14; the last one holds 1 alone."""

_ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class _Entries:
    """Sets split so that the problems of an entry belong to the same groups: one tile's worth of them."""

    tile: Tile
    multiplicity: IntArray  # (n,) problems of each entry, in the order of tile.sets
    groups: npt.NDArray[np.bool_]  # (n_groups,) which groups all these problems belong to

    @property
    def n_problems(self) -> int:
        return int(self.multiplicity.sum())


def pair_histogram(
    space: SetSpace,
    weights: npt.NDArray[np.integer],
    *,
    workers: int = 2,
    progress: Callable[[int, int], None] | None = None,
) -> npt.NDArray[np.int64]:
    """Count the pairs of every group by their best-match average.

    Parameters
    ----------
    space : SetSpace
        Its sets' multiplicities count all problems that may be "any other".
    weights : integer array, shape (n_sets, n_groups)
        How many problems of the group have the set, between 0 and its multiplicity. Groups may overlap.
    workers : int
        Threads. The result does not depend on them.
    progress : callable, optional
        Called with (pairs of tiles done, pairs of tiles in all).

    Returns
    -------
    int64 array, shape (n_groups, N_BINS)
        Ordered pairs (problem of the group, another problem), so that a pair inside the group counts from either
        end; row g sums to ``weights[:, g].sum() * (n_problems - 1)``.

    Raises
    ------
    ValueError
        When weights have another shape, are negative or exceed the multiplicity of their set.
    """
    weights = _checked(weights, space.sets.multiplicity)
    histogram = np.zeros((weights.shape[1], N_BINS), dtype=np.int64)
    entries = _entries(space, weights)
    buffers: SimpleQueue[BestMatches] = SimpleQueue()
    for _ in range(workers if entries else 0):
        buffers.put(BestMatches(space, TILE_SETS))

    def work(first: int) -> npt.NDArray[np.int64]:
        buffer = buffers.get()
        try:
            return _against_later(space, entries, first, buffer)
        finally:
            buffers.put(buffer)

    n_tiles, done = len(entries), 0
    for first, part in enumerate(ordered_map(work, range(n_tiles), workers)):
        histogram += part
        done += n_tiles - first
        if progress is not None:
            progress(done, n_tiles * (n_tiles + 1) // 2)
    return histogram


def added_pair_histogram(
    space: SetSpace,
    weights: npt.NDArray[np.integer],
    added: npt.NDArray[np.integer],
    added_weights: npt.NDArray[np.integer],
    *,
    workers: int = 2,
) -> npt.NDArray[np.int64]:
    """What problems that came later add to :func:`pair_histogram`, the information content being kept as it was.

    Parameters
    ----------
    space : SetSpace
        All sets, with multiplicities that count the added problems too.
    weights : integer array, shape (n_sets, n_groups)
        As in :func:`pair_histogram`, added problems included.
    added : integer array, shape (n_sets,)
        How many problems of each set were added.
    added_weights : integer array, shape (n_sets, n_groups)
        How many of these belong to the group.
    workers : int
        Threads.

    Returns
    -------
    int64 array, shape (n_groups, N_BINS)
        The cost grows with the number of sets that were added to, not with all pairs.

    Raises
    ------
    ValueError
        As in :func:`pair_histogram`, and when more was added than is there.
    """
    weights = _checked(weights, space.sets.multiplicity)
    added_weights = _checked(added_weights, np.asarray(added, dtype=np.int64))
    earlier = weights - added_weights
    if np.any(earlier < 0) or np.any(space.sets.multiplicity < added):
        raise ValueError("More problems were added to a topic set than it has now. Pass totals that include them.")
    histogram = np.zeros((weights.shape[1], N_BINS), dtype=np.int64)
    others = np.column_stack([space.sets.multiplicity, earlier])[tile_order(space)]
    ones, columns = np.ones(len(others), dtype=np.int64), np.arange(len(others) + 1)
    rows = np.flatnonzero(added)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        chunk = rows[start : start + _ROWS_AT_ONCE]
        bins = np.zeros((len(chunk), len(space.sets)), dtype=np.int32)
        fill_rows(space, chunk, bins, unit=BIN_WIDTH, workers=workers, by_set=False)
        for row, number in zip(bins, chunk.tolist(), strict=True):
            # One entry a set, in the row of its bin: the product counts everyone and each group in one go.
            counts = (sp.csc_array((ones, row, columns), shape=(N_BINS, len(others))) @ others).T
            # (added, anyone) from the added end, (earlier, added) from the earlier one.
            histogram += np.outer(added_weights[number], counts[0]) + int(added[number]) * counts[1:]
    histogram[:, -1] -= added_weights.sum(axis=0)  # a problem with itself
    return histogram


def _against_later(
    space: SetSpace, entries: list[_Entries], first: int, buffer: BestMatches
) -> npt.NDArray[np.int64]:
    """Pairs of the entries of one tile among themselves and with those of every later tile."""
    own = entries[first]
    rows = TileRows(space, own.tile.sets, buffer)
    histogram = np.zeros((len(own.groups), N_BINS), dtype=np.int64)
    within = _weighted_counts(rows, own, own)
    within[-1] -= own.n_problems  # a problem with itself
    histogram[own.groups] += within
    for other in entries[first + 1 :]:
        # The pair counts for the groups of either end.
        ends = own.groups.astype(np.int64) + other.groups
        if not ends.any():
            continue
        if rows.shares_branch(other.tile):
            histogram += ends[:, None] * _weighted_counts(rows, own, other)
        else:
            histogram[:, 0] += ends * own.n_problems * other.n_problems
    return histogram


def _weighted_counts(rows: TileRows, own: _Entries, other: _Entries) -> npt.NDArray[np.int64]:
    bins = rows.averages(other.tile, unit=BIN_WIDTH).astype(np.int32).ravel()
    if own.multiplicity.max() == 1 and other.multiplicity.max() == 1:
        return np.bincount(bins, minlength=N_BINS)
    return _count(bins, np.multiply.outer(own.multiplicity, other.multiplicity).ravel())


def _count(bins: npt.NDArray[np.int32], weights: IntArray) -> npt.NDArray[np.int64]:
    # bincount sums in float64, which is exact for integers below 2^53.
    return np.bincount(bins, weights=weights, minlength=N_BINS).astype(np.int64)


def _entries(space: SetSpace, weights: npt.NDArray[np.int64]) -> list[_Entries]:
    """Split the sets by the groups of their problems and cut them into tiles."""
    # Problems of a set are interchangeable, so membership may be nested: with weights 2 and 5 of 6, two problems are
    # in both groups, three in the second, one in none.
    levels = np.sort(np.column_stack([weights, space.sets.multiplicity]), axis=1)
    counts = np.diff(levels, axis=1, prepend=0)
    sets, level = np.nonzero(counts)
    member = weights[sets] >= levels[sets, level][:, None]
    profiles, profile = np.unique(member, axis=0, return_inverse=True)
    entries = []
    for number, groups in enumerate(profiles):
        chosen = np.flatnonzero(profile.ravel() == number)
        chosen = chosen[by_branch(space, sets[chosen])]
        multiplicity = counts[sets[chosen], level[chosen]]
        # Entries of one problem are counted without weights, which is much faster: keep them together.
        for part in (np.flatnonzero(multiplicity == 1), np.flatnonzero(multiplicity > 1)):
            for start in range(0, len(part), TILE_SETS):
                run = part[start : start + TILE_SETS]
                tile = Tile(space, sets[chosen[run]])
                entries.append(_Entries(tile, multiplicity[run][tile.order], groups))
    return entries


def _checked(weights: npt.NDArray[np.integer], most: IntArray) -> IntArray:
    counts: IntArray = np.asarray(weights).astype(np.int64)
    if counts.ndim != 2 or len(counts) != len(most):
        raise ValueError(f"weights have shape {counts.shape}, not ({len(most)}, groups).")
    wrong = np.flatnonzero(((counts < 0) | (counts > most[:, None])).any(axis=1))
    if len(wrong):
        raise ValueError(f"weights of topic set {wrong[0]} are not between 0 and the number of its problems.")
    return counts
