"""Every pair of topic sets whose best-match average reaches a threshold: exact, in blocks, at full size.

Problems with equal topics are one set, so pairs of sets stand for all pairs of problems. For a block of sets (the
*finders*) the work is:

1. Candidates: targets filed under a topic of the finder (:mod:`udfs.bma_index`).
2. One side: the sum over the target's topics of their best match in the finder, from float32 similarities on a grid
   of 2^-20, whose sums carry no rounding error. Most candidates end here.
3. The other side and the average. It is off by less than 2^-20, so a value further than that from the threshold is
   decided; for the few in between the float64 value is computed.

Where candidates would be too many, every average is computed instead (:mod:`udfs.bma_search`).

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

from udfs.bma import qualifying_threshold
from udfs.bma_search import Search, make_search
from udfs.bma_space import BestMatches, IntArray, SetSpace
from udfs.ordered_map import ordered_map

LEAST_THRESHOLD = 1e-4
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
    every: int = 1,
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
    every : int
        Compute only each such block from `start_block` on: a sample of the work, for estimates.
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
    limit = _checked(threshold, comparison)
    finders = np.arange(first_new_set, len(space.sets))
    if first_new_set == 0:
        search = make_search(space, finders, limit, from_both_ends=True)
        keep: _Keep = lambda x, y, found_from_y: (x <= y) | ~found_from_y  # noqa: E731
    else:
        search = make_search(space, finders, limit, from_both_ends=False)
        keep = lambda x, y, _: (x <= y) | (y < first_new_set)  # noqa: E731
    blocks = range(start_block, count_blocks(len(finders), 0, block_size), every)
    for block, x, y in _run(search, keep, blocks, block_size, workers):
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
    limit = _checked(threshold, comparison)
    search = make_search(space, np.unique(rows).astype(np.int64), limit, from_both_ends=False)
    blocks = range(count_blocks(len(search.finders), 0, block_size))
    for block, x, y in _run(search, lambda x, y, _: np.ones(len(x), dtype=bool), blocks, block_size, workers):
        yield _result(space, block, x, y, with_similarity)


def count_blocks(n_sets: int, first_new_set: int = 0, block_size: int = 256) -> int:
    """How many blocks :func:`similar_set_pairs` gives from block 0 on."""
    return -(-max(0, n_sets - first_new_set) // block_size)


_Keep = Callable[[IntArray, IntArray, BoolArray], BoolArray]


def _checked(threshold: float, comparison: str) -> float:
    limit = qualifying_threshold(threshold, comparison)
    if limit < LEAST_THRESHOLD:
        raise ValueError(
            f"At the topic threshold {threshold} next to every pair of problems qualifies. "
            f"Set it to {LEAST_THRESHOLD} or more."
        )
    return limit


def _run(
    search: Search, keep: _Keep, blocks: range, block_size: int, workers: int
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

    return ordered_map(work, blocks, workers)


def _result(space: SetSpace, block: int, x: IntArray, y: IntArray, with_similarity: bool) -> SetPairs:
    # One number a pair sorts many times faster than two keys.
    pair = np.sort(x * len(space.sets) + y)
    x, y = np.divmod(pair, max(len(space.sets), 1))
    similarity = space.exact(x, y) if with_similarity else None
    return SetPairs(block, x.astype(np.int32), y.astype(np.int32), similarity)
