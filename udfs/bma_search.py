"""Two ways to search one block of sets for partners: through the index, or by computing every average.

Both give the same pairs. The index wins while few pairs come near the threshold; computing everything costs the same
at any threshold, so it bounds the time (and the memory of the index) on dense corpora and at low thresholds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from udfs.bma_dense import TileRows, by_branch, tiles_of
from udfs.bma_index import (
    IndexTooLargeError,
    file_by_rarest,
    near_topics,
    size_classes,
    sum_type,
    sums_of_best_matches,
)
from udfs.bma_space import BestMatches, IntArray, SetSpace
from udfs.lin import GRID

DENSE_SHARE = 0.08
"""From this many candidates a pair on, computing every average is quicker than looking at the candidates."""
CHUNK_CANDIDATES = 1 << 21
_BYTES_AN_ENTRY = 48

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


class Search(Protocol):
    """Finders in the order of their blocks, and the work on one block."""

    space: SetSpace
    finders: IntArray

    def block(self, first: int, stop: int, buffer: BestMatches) -> tuple[IntArray, IntArray, BoolArray]:
        """Return qualifying (finder, partner, whether the partner's own search finds the pair too)."""
        ...


def make_search(space: SetSpace, finders: IntArray, threshold: float, from_both_ends: bool) -> Search:
    """Choose the cheaper way; the choice depends on the sets, the threshold and the memory budget alone.

    Parameters
    ----------
    space : SetSpace
    finders : int64 array, shape (n,)
        Set numbers.
    threshold : float
        Every average >= threshold qualifies.
    from_both_ends : bool
        All sets are finders, so that a pair has to be found from one of its ends only.
    """
    n_pairs = len(finders) * len(space.sets) / (2 if from_both_ends else 1)
    with contextlib.suppress(IndexTooLargeError):
        indexed = IndexedSearch(space, finders, threshold, from_both_ends)
        if indexed.n_candidates <= DENSE_SHARE * n_pairs:
            return indexed
    return DenseSearch(space, finders, threshold, from_both_ends)


class IndexedSearch:
    """Candidates from :mod:`udfs.bma_index`, one side first, the other for those that are left.

    Attributes
    ----------
    n_candidates : int
        Candidates of all finders together, one that is met twice counted twice.

    Raises
    ------
    IndexTooLargeError
        When the index would take more than a quarter of the memory budget.
    """

    def __init__(self, space: SetSpace, finders: IntArray, threshold: float, from_both_ends: bool) -> None:
        self.space = space
        self.threshold = threshold
        self.finders = space.by_neighbourhood(finders)
        # A true mean at the threshold shows as a mean on the grid that is at most half a step below.
        self.limit = threshold - GRID
        self._from_both_ends = from_both_ends
        self._membership = space.membership(self.finders)
        self._near: sp.csr_array | None = None
        most = space.memory_budget // 4 // _BYTES_AN_ENTRY
        classes = size_classes(space)
        if from_both_ends:
            self._classes = file_by_rarest(classes, space.similarities, self.limit, most)
        else:
            self._classes = classes
            asked = np.unique(self._membership.indices)
            self._near = near_topics(space.similarities, asked, self.limit, most)
        filed_under = np.zeros(len(space.similarities), dtype=np.int64)
        for one in self._classes:
            filed_under += np.diff(one.filed.indptr)
        if self._near is not None:
            filed_under = self._near.astype(np.int64) @ filed_under
        self._work = np.concatenate([[0], np.cumsum(self._membership.astype(np.int64) @ filed_under)])
        self.n_candidates = int(self._work[-1])

    def block(self, first: int, stop: int, buffer: BestMatches) -> tuple[IntArray, IntArray, BoolArray]:
        """Return qualifying (finder, partner, whether the partner's own search finds the pair too)."""
        starts, positions = self.space.members(self.finders[first:stop])
        rows, row_of_position = self.space.similarities.rows(np.unique(positions))
        best = buffer.fill(starts, positions, rows, row_of_position)
        found = []
        for low, high in self._chunks(first, stop):
            finder, target, target_sum = self._one_side(low, high, best[low - first : high - first])
            finder_sum = self._other_side(finder, target, rows, row_of_position)
            found.append(self._decide(finder, target, finder_sum, target_sum))
        x, y, found_from_y = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return x, y, found_from_y

    def _chunks(self, first: int, stop: int) -> Iterator[tuple[int, int]]:
        """Runs of finders with a bounded number of candidates together (one finder at least)."""
        while first < stop:
            reach = int(np.searchsorted(self._work, self._work[first] + CHUNK_CANDIDATES, side="right")) - 1
            high = min(max(reach, first + 1), stop)
            yield first, high
            first = high

    def _one_side(self, low: int, high: int, best: npt.NDArray[np.float32]) -> tuple[IntArray, IntArray, FloatArray]:
        """Candidates whose own side is good enough, as (index of the finder, target, sum of its best matches)."""
        found: list[tuple[IntArray, IntArray, FloatArray]] = []
        flat = best.ravel()
        asks_for = self._membership[low:high]
        if self._near is not None:
            asks_for = asks_for @ self._near
        finder_sizes = self.space.sizes[self.finders[low:high]]
        for one in self._classes:
            candidates = asks_for @ one.filed
            finder = np.repeat(np.arange(high - low), np.diff(candidates.indptr))
            needed = self._needed(finder_sizes, one.size)
            needed = needed if len(needed) == 1 else needed.take(finder)
            place, target, total = sums_of_best_matches(flat, finder * best.shape[1], candidates.indices, one, needed)
            found.append((place // best.shape[1] + low, one.sets.take(target), total))
        finder, target, total = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return finder, target, total

    def _needed(self, finder_sizes: IntArray, target_size: int) -> npt.NDArray[np.floating]:
        """Least sum of the target's best matches: one number for all finders, or one each."""
        if self._from_both_ends:
            needed = self._least_sum(np.array([target_size]))
        else:
            # The finder's own matches are at most 1 each.
            needed = self._least_sum(finder_sizes + target_size) - finder_sizes
        return needed.astype(sum_type(target_size))

    def _least_sum(self, size: IntArray) -> FloatArray:
        """``size * limit``, rounded up to the grid of the sums, where float32 holds it exactly too."""
        return np.asarray(np.ceil(size * (self.limit / GRID)) * GRID)

    def _other_side(
        self, finder: IntArray, target: IntArray, rows: npt.NDArray[np.float32], row_of_position: IntArray
    ) -> FloatArray:
        """Sums over the finder's topics of their best match in the target."""
        sums = np.empty(len(finder))
        finder = self.finders[finder]
        work = np.cumsum(self.space.sizes[finder] * self.space.sizes[target])
        start = 0
        while start < len(finder):
            done = work[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(work, done + CHUNK_CANDIDATES, side="right")))
            topic_starts, topics = self.space.members(finder[start:stop])
            pair = np.repeat(np.arange(start, stop), np.diff(topic_starts))
            other_starts, others = self.space.members(target[pair])
            place = np.repeat(row_of_position[topics] * rows.shape[1], np.diff(other_starts))
            place += others
            matches = np.maximum.reduceat(rows.ravel().take(place), other_starts[:-1])
            sums[start:stop] = np.add.reduceat(matches.astype(np.float64), topic_starts[:-1])
            start = stop
        return sums

    def _decide(
        self, finder: IntArray, target: IntArray, finder_sum: FloatArray, target_sum: FloatArray
    ) -> tuple[IntArray, IntArray, BoolArray]:
        x, y = self.finders[finder], target
        average = (finder_sum + target_sum) / (self.space.sizes[x] + self.space.sizes[y])
        qualifies = _qualifies(self.space, self.threshold, x, y, average)
        # The very condition that _needed sets when the roles are swapped.
        found_from_y = finder_sum >= self._least_sum(self.space.sizes[x])
        return x[qualifies], y[qualifies], found_from_y[qualifies]


class DenseSearch:
    """Every average of a finder with the sets that share a branch of the ontology, tile by tile."""

    def __init__(self, space: SetSpace, finders: IntArray, threshold: float, from_both_ends: bool) -> None:
        self.space = space
        self.threshold = threshold
        self.finders = finders[by_branch(space, finders)]
        self._tiles = tiles_of(space)
        # Before its own place a finder of all sets has been a partner already.
        self._place = np.full(len(space.sets), len(space.sets))
        if from_both_ends:
            self._place[self.finders] = np.arange(len(self.finders))
        self._last_place = [int(self._place[tile.sets].max()) for tile in self._tiles]

    def block(self, first: int, stop: int, buffer: BestMatches) -> tuple[IntArray, IntArray, BoolArray]:
        """Return qualifying (finder, partner, False): from both ends, a pair is found from the earlier one alone."""
        finders = self.finders[first:stop]
        rows = TileRows(self.space, finders, buffer)
        found = [(finders[:0], finders[:0])]
        for tile, last_place in zip(self._tiles, self._last_place, strict=True):
            if last_place < first or not rows.shares_branch(tile):
                continue
            averages = rows.averages(tile)
            hits = np.flatnonzero(averages >= averages.dtype.type(self.threshold - 2 * GRID))
            row, column = np.divmod(hits, averages.shape[1])
            x, y, average = finders[row], tile.sets[column], averages.ravel()[hits].astype(np.float64)
            later = np.flatnonzero(self._place[y] >= row + first)
            x, y, average = x[later], y[later], average[later]
            qualifies = _qualifies(self.space, self.threshold, x, y, average)
            found.append((x[qualifies], y[qualifies]))
        x, y = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return x, y, np.zeros(len(x), dtype=bool)


def _qualifies(space: SetSpace, threshold: float, x: IntArray, y: IntArray, average: FloatArray) -> BoolArray:
    """Decide by averages on the grid, and by the definition where they are too close to the threshold to tell."""
    qualifies = average >= threshold
    close = np.flatnonzero(np.abs(average - threshold) <= 2 * GRID)
    qualifies[close] = space.exact(x[close], y[close]) >= threshold
    return np.asarray(qualifies)
