"""Every pair of topic sets whose best-match average reaches a threshold: exact, in blocks, at full size.

Problems with equal topics are one set, so pairs of sets stand for all pairs of problems. For a block of sets (the
*finders*) the work is:

1. Candidates: targets filed under a topic of the finder (:mod:`udfs.bma_index`).
2. One side: the sum over the target's topics of their best match in the finder, from float32 similarities on a grid
   of 2^-20, whose sums carry no rounding error. Most candidates end here.
3. The other side and the average. It is off by less than 2^-20, so a value further than that from the threshold is
   decided; for the few in between the float64 value is computed.

A pair is found from its first set when the second set's side reaches the threshold, from its second set when the
first one's does, often from both; it is then reported from the first alone. When only some sets search (new ones,
chosen ones), any near pair of topics makes a candidate, and every pair is found from the set that searches.

A block is the unit of parallelism and of resuming: its result depends on nothing but its sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import SimpleQueue

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from udfs.bma import qualifying_threshold
from udfs.bma_index import file_by_rarest, near_topics, size_classes, sum_type, sums_of_best_matches
from udfs.bma_space import BestMatches, IntArray, SetSpace
from udfs.lin import GRID
from udfs.ordered_map import ordered_map

LEAST_THRESHOLD = 1e-4
_CHUNK_CANDIDATES = 1 << 21
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SetPairs:
    """Qualifying pairs of one block, ascending by (x, y).

    Attributes
    ----------
    block : int
    x, y : int32 arrays, shape (n_pairs,)
        Set numbers; x == y stands for two problems with the same set.
    similarity : float64 array, shape (n_pairs,), or None
        In [threshold, 1], where it was asked for.
    """

    block: int
    x: npt.NDArray[np.int32]
    y: npt.NDArray[np.int32]
    similarity: FloatArray | None


def similar_set_pairs(
    space: SetSpace,
    threshold: float,
    *,
    comparison: str = "exact",
    first_new_set: int = 0,
    start_block: int = 0,
    block_size: int = 256,
    workers: int = 2,
    with_similarity: bool = False,
) -> Iterator[SetPairs]:
    """All pairs x <= y of sets whose best-match average reaches the threshold, each exactly once.

    Parameters
    ----------
    space : SetSpace
    threshold : float
        At least 1e-4; below that next to every pair qualifies.
    comparison : {"exact", "published"}
        See :func:`udfs.bma.qualifying_threshold`.
    first_new_set : int
        Only pairs with a set numbered `first_new_set` or above: what an incremental build adds.
    start_block : int
        First block to compute; those before it were finished earlier under the same arguments.
    block_size : int
        Sets a block, see :func:`count_blocks`.
    workers : int
        Threads. The result does not depend on them.
    with_similarity : bool
        Also give the float64 similarity of every pair (about a microsecond each).

    Yields
    ------
    SetPairs
        One a block, in order, empty ones too.

    Raises
    ------
    ValueError
        For a threshold below 1e-4 or no number, or an unknown comparison.
    """
    finders = np.arange(first_new_set, len(space.sets))
    if first_new_set == 0:
        search = _Search(space, finders, threshold, comparison, from_both_ends=True)
        keep: _Keep = lambda x, y, found_from_y: (x <= y) | ~found_from_y  # noqa: E731
    else:
        search = _Search(space, finders, threshold, comparison, from_both_ends=False)
        keep = lambda x, y, _: (x <= y) | (y < first_new_set)  # noqa: E731
    for block, x, y in _run(search, keep, start_block, block_size, workers):
        yield _result(space, block, np.minimum(x, y), np.maximum(x, y), with_similarity)


def partners_of_sets(
    space: SetSpace,
    rows: npt.NDArray[np.integer],
    threshold: float,
    *,
    comparison: str = "exact",
    block_size: int = 256,
    workers: int = 2,
    with_similarity: bool = False,
) -> Iterator[SetPairs]:
    """All partners y of the sets x in `rows` (themselves included), the same pairs as :func:`similar_set_pairs`.

    The other parameters are described there. A pair with both sets in `rows` is given twice, once from either end.
    """
    search = _Search(space, np.unique(rows).astype(np.int64), threshold, comparison, from_both_ends=False)
    for block, x, y in _run(search, lambda x, y, _: np.ones(len(x), dtype=bool), 0, block_size, workers):
        yield _result(space, block, x, y, with_similarity)


def count_blocks(n_sets: int, first_new_set: int = 0, block_size: int = 256) -> int:
    """How many blocks :func:`similar_set_pairs` gives from block 0 on."""
    return -(-max(0, n_sets - first_new_set) // block_size)


_Keep = Callable[[IntArray, IntArray, BoolArray], BoolArray]


class _Search:
    """Finders in the order of their blocks, the targets in their index, and the work on one block."""

    def __init__(
        self, space: SetSpace, finders: IntArray, threshold: float, comparison: str, from_both_ends: bool
    ) -> None:
        self.threshold = qualifying_threshold(threshold, comparison)
        if self.threshold < LEAST_THRESHOLD:
            raise ValueError(
                f"At the topic threshold {threshold} next to every pair of problems qualifies. "
                f"Set it to {LEAST_THRESHOLD} or more."
            )
        self.space = space
        self.finders = space.by_neighbourhood(finders)
        # A true mean at the threshold shows as a mean on the grid that is at most half a step below.
        self.limit = self.threshold - GRID
        self._from_both_ends = from_both_ends
        classes = size_classes(space)
        self._asks_for: sp.csr_array = space.membership(self.finders)
        if from_both_ends:
            self._classes = file_by_rarest(classes, space.similarities, self.limit)
        else:
            self._classes = classes
            near = near_topics(space.similarities, np.unique(self._asks_for.indices), self.limit)
            self._asks_for = self._asks_for @ near
        filed = np.zeros(len(space.similarities), dtype=np.int64)
        for one in self._classes:
            filed += np.diff(one.filed.indptr)
        self._work = np.concatenate([[0], np.cumsum(self._asks_for.astype(np.int64) @ filed)])

    def block(self, first: int, stop: int, buffer: BestMatches) -> tuple[IntArray, IntArray, BoolArray]:
        """Qualifying (finder, target, could the finder be found from the target) of finders[first:stop]."""
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
            reach = int(np.searchsorted(self._work, self._work[first] + _CHUNK_CANDIDATES, side="right")) - 1
            high = min(max(reach, first + 1), stop)
            yield first, high
            first = high

    def _one_side(self, low: int, high: int, best: npt.NDArray[np.float32]) -> tuple[IntArray, IntArray, FloatArray]:
        """Candidates whose own side is good enough, as (index of the finder, target, sum of its best matches)."""
        found: list[tuple[IntArray, IntArray, FloatArray]] = []
        flat = best.ravel()
        asks_for = self._asks_for[low:high]
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
            stop = max(start + 1, int(np.searchsorted(work, done + _CHUNK_CANDIDATES, side="right")))
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
        qualifies = average >= self.threshold
        close = np.flatnonzero(np.abs(average - self.threshold) <= GRID)
        qualifies[close] = self.space.exact(x[close], y[close]) >= self.threshold
        # The very condition that _needed sets when the roles are swapped.
        found_from_y = finder_sum >= self._least_sum(self.space.sizes[x])
        return x[qualifies], y[qualifies], found_from_y[qualifies]


def _run(
    search: _Search, keep: _Keep, start_block: int, block_size: int, workers: int
) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Blocks in order, a few ahead of the consumer."""
    buffers: SimpleQueue[BestMatches] = SimpleQueue()
    for _ in range(workers):
        buffers.put(BestMatches(search.space, min(block_size, len(search.finders))))

    def work(block: int) -> tuple[int, IntArray, IntArray]:
        buffer = buffers.get()
        try:
            stop = min((block + 1) * block_size, len(search.finders))
            x, y, found_from_y = search.block(block * block_size, stop, buffer)
        finally:
            buffers.put(buffer)
        kept = keep(x, y, found_from_y)
        return block, x[kept], y[kept]

    blocks = range(start_block, count_blocks(len(search.finders), 0, block_size))
    return ordered_map(work, blocks, workers)


def _result(space: SetSpace, block: int, x: IntArray, y: IntArray, with_similarity: bool) -> SetPairs:
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    similarity = space.exact(x, y) if with_similarity else None
    return SetPairs(block, x.astype(np.int32), y.astype(np.int32), similarity)
