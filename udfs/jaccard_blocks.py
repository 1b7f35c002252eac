"""Every pair of token sets whose Jaccard similarity reaches a threshold: exact, blocked, streamed.

The work is cut into blocks: rows of the index x columns of a tile (see `jaccard_index` for the layout and
`jaccard_counting` for the counting). A block depends on no other: it is the unit of threads, of resuming
and of growing. Pairs of sizes that cannot qualify (|a| / |b| below the threshold) are skipped by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.jaccard import minimum_overlap
from udfs.jaccard_counting import count_overlaps, pairs_reaching, row_block
from udfs.jaccard_index import Tile, TokenSetIndex
from udfs.jaccard_lanes import WIDTHS, unpack
from udfs.ordered_map import ordered_map


@dataclass(frozen=True)
class PairBlock:
    """Qualifying pairs of one block, in no particular order.

    Attributes
    ----------
    block, n_blocks : int
        Number of the block, and how many there are in all.
    n_compared : int
        Pairs the block looked at (for progress).
    i, j : int32, shape (n,)
        Rows as numbered by the caller. From `qualifying_pairs` i < j; from `qualifying_partners` i is one
        of the rows asked for and j any other.
    common, union : int32, shape (n,)
        Tokens in both sets, tokens in either. The similarity is ``common / union``.
    """

    block: int
    n_blocks: int
    n_compared: int
    i: NDArray[np.int32]
    j: NDArray[np.int32]
    common: NDArray[np.int32]
    union: NDArray[np.int32]


def qualifying_pairs(
    index: TokenSetIndex,
    threshold: float,
    comparison: str = "exact",
    *,
    first_new_row: int = 0,
    start_block: int = 0,
    every: int = 1,
    workers: int = 2,
) -> Iterator[PairBlock]:
    """All pairs i < j whose similarity reaches the threshold.

    Parameters
    ----------
    index : TokenSetIndex
    threshold, comparison
        See `udfs.jaccard.minimum_overlap`.
    first_new_row : int
        Only pairs with at least one row of this number or above. With M such rows the cost is that of
        M x N pairs, not N x N.
    start_block : int
        Leave out the blocks before this one. Blocks of an index with the same `fingerprint`, the same
        threshold, comparison and first_new_row are the same, so that an interrupted run can go on after
        the last block it stored.
    every : int
        Compute only each such block from `start_block` on: a sample of the work, for estimates.
    workers : int
        Threads.

    Yields
    ------
    PairBlock
        In order of block number. Every qualifying pair is in exactly one block.
    """
    if first_new_row <= 0:
        plan = _Plan(index, np.arange(index.n_rows, dtype=np.int32), threshold, comparison, each_once=True)
    else:
        ranks = np.sort(index.rank[first_new_row:])
        plan = _Plan(index, ranks, threshold, comparison, first_new_row=first_new_row)
    for found in plan.run(start_block, workers, every):
        low, high = np.minimum(found.i, found.j), np.maximum(found.i, found.j)
        yield PairBlock(found.block, found.n_blocks, found.n_compared, low, high, found.common, found.union)


def qualifying_partners(
    index: TokenSetIndex,
    rows: NDArray[Any],
    threshold: float,
    comparison: str = "exact",
    *,
    start_block: int = 0,
    workers: int = 2,
) -> Iterator[PairBlock]:
    """All qualifying partners of the given rows, on either side of them.

    Parameters
    ----------
    rows : int, distinct row numbers
    index, threshold, comparison, start_block, workers
        As for `qualifying_pairs`.

    Yields
    ------
    PairBlock
        i one of `rows`, j any other row; a pair of two given rows comes in both directions.
    """
    ranks = np.sort(index.rank[_checked_rows(index, rows)])
    yield from _Plan(index, ranks, threshold, comparison).run(start_block, workers)


def overlap_rows(index: TokenSetIndex, rows: NDArray[Any]) -> NDArray[Any]:
    """Numbers of tokens that the given rows have in common with every row.

    Parameters
    ----------
    rows : int, shape (n,), distinct row numbers

    Returns
    -------
    uint8, or uint16 where sets are larger than 255; shape (n, N)
        Row order as given.
    """
    rows = _checked_rows(index, rows)
    kind = np.uint8 if index.sizes[-1:].max(initial=0) < 256 else np.uint16
    result = np.zeros((len(rows), index.n_rows), dtype=kind)
    by_rank = np.argsort(index.rank[rows], kind="stable")
    ranks = index.rank[rows[by_rank]]
    column_of_row = index.column[index.rank]
    by_column = np.empty((min(len(rows), index.block_rows), len(index.row_of_column)), dtype=kind)
    for start in range(0, len(ranks), index.block_rows):
        chosen = ranks[start : start + index.block_rows]
        block = row_block(index, chosen, index.dense[chosen], index.rare[chosen])
        for number in range(index.n_tiles):
            tile = index.tile(number)
            overlaps = count_overlaps(block, tile, {bits: (1 << bits) - 1 for bits in WIDTHS})
            common = by_column[: len(chosen), tile.first_column :][:, : len(tile.segment_of_column)]
            common[:] = unpack(overlaps.lanes, overlaps.bits)
            common[overlaps.rows, overlaps.columns] += overlaps.extra.astype(kind)
        # One row at a time: gathers of small arrays stay in the cache, a scatter of the block does not.
        for place, counts in zip(by_rank[start : start + len(chosen)].tolist(), by_column, strict=False):
            np.take(counts, column_of_row, out=result[place], mode="clip")
    return result


def jaccard_rows(index: TokenSetIndex, rows: NDArray[Any]) -> NDArray[np.float64]:
    """Similarities of the given rows with every row.

    Parameters
    ----------
    rows : int, shape (n,), distinct row numbers

    Returns
    -------
    float64, shape (n, N)
        Row order as given; in [0, 1], NaN where both sets are empty. Takes 8 n N bytes.
    """
    common = overlap_rows(index, rows)
    sizes = index.sizes[index.rank]
    union = sizes[np.asarray(rows, dtype=np.int64)][:, None] + sizes[None, :] - common
    similarity = np.full(common.shape, np.nan)
    np.divide(common, union, out=similarity, where=union > 0)
    return similarity


class _Plan:
    """The blocks of one run, and how to compute one."""

    def __init__(
        self,
        index: TokenSetIndex,
        ranks: NDArray[np.int32],
        threshold: float,
        comparison: str,
        *,
        each_once: bool = False,
        first_new_row: int | None = None,
    ) -> None:
        minimum_overlap(0, 0, threshold, comparison)  # complains about wrong settings before any work
        self.index = index
        self.ranks = ranks
        self.threshold = threshold
        self.comparison = comparison
        self.each_once = each_once
        self.first_new_row = first_new_row
        whole = len(ranks) == index.n_rows
        self.dense = index.dense if whole else index.dense[ranks]
        self.rare = index.rare if whole else index.rare[ranks]
        self.distinct_sizes = np.unique(index.sizes)
        self._overlaps_by_size: dict[int, NDArray[np.int32]] = {}
        self.blocks = list(self._cut())

    def run(self, start_block: int, workers: int, every: int = 1) -> Iterator[PairBlock]:
        yield from ordered_map(self._compute, range(start_block, len(self.blocks), every), workers)

    def _cut(self) -> Iterator[tuple[int, int, int]]:
        """(tile, first row, end row), tile by tile, without blocks in which no pair can qualify."""
        index = self.index
        starts = np.arange(0, len(self.ranks), index.block_rows)
        ends = np.minimum(starts + index.block_rows, len(self.ranks))
        smallest, largest = index.sizes[self.ranks[starts]], index.sizes[self.ranks[ends - 1]]
        first_columns = index.column[self.ranks[starts]]
        for number in range(index.n_tiles):
            first = number * index.tile_columns
            last = min(first + index.tile_columns, int(index.segment_start[-1])) - 1
            edge = np.searchsorted(index.segment_start, [first, last], side="right") - 1
            low, high = index.segment_size[edge]
            # The most alike sizes the block holds; where the ranges meet, the largest size of both.
            a = np.clip(high, smallest, largest)
            b = np.clip(a, low, high)
            possible = minimum_overlap(a, b, self.threshold, self.comparison) <= np.minimum(a, b)
            if self.threshold <= 0:
                possible[:] = True
            if self.each_once:
                possible &= first_columns < last
            for block in np.flatnonzero(possible).tolist():
                yield number, int(starts[block]), int(ends[block])

    def _smallest_overlaps(self, size: int) -> NDArray[np.int32]:
        """Smallest qualifying overlap of a set of that size with each distinct size."""
        if size not in self._overlaps_by_size:
            table = minimum_overlap(size, self.distinct_sizes, self.threshold, self.comparison)
            self._overlaps_by_size[size] = table.astype(np.int32)
        return self._overlaps_by_size[size]

    def _compute(self, number: int) -> PairBlock:
        tile_number, start, end = self.blocks[number]
        index, tile = self.index, self.index.tile(tile_number)
        ranks = self.ranks[start:end]
        block = row_block(index, ranks, self.dense[start:end], self.rare[start:end])
        segment_sizes = index.segment_size[tile.first_segment :][: len(tile.segment_columns)]
        place = np.searchsorted(self.distinct_sizes, segment_sizes)
        needed = np.stack([self._smallest_overlaps(size)[place] for size in block.sizes.tolist()])

        rows, columns, common, kind = pairs_reaching(block, tile, needed)
        union = (block.sizes[:, None] + segment_sizes[None, :]).ravel()[kind] - common
        i = index.order[ranks][rows]
        j = index.row_of_column[tile.first_column :][columns]
        keep = self._kept(tile, ranks, rows, columns, i, j)
        compared = len(ranks) * len(tile.segment_of_column)
        return PairBlock(number, len(self.blocks), compared, i[keep], j[keep], common[keep], union[keep])

    def _kept(
        self,
        tile: Tile,
        ranks: NDArray[np.int32],
        rows: NDArray[np.int64],
        columns: NDArray[np.int64],
        i: NDArray[np.int32],
        j: NDArray[np.int32],
    ) -> NDArray[np.bool_] | slice:
        """Which hits stay: no padding, no row with itself, and each pair as often as the run asks for."""
        if self.each_once:
            last_column = self.index.column[ranks[-1]]
            if tile.first_column > last_column and self.threshold > 0:
                return slice(None)
            keep = columns > (self.index.column[ranks] - tile.first_column)[rows]
        else:
            keep = i != j
        keep &= j >= 0
        if self.first_new_row is not None:
            # Both rows new: the pair comes up from either side, one is enough.
            keep &= (j < self.first_new_row) | (j < i)
        return keep


def _checked_rows(index: TokenSetIndex, rows: NDArray[Any]) -> NDArray[np.int64]:
    rows = np.asarray(rows, dtype=np.int64)
    if len(np.unique(rows)) != len(rows):
        raise ValueError("A row is given twice. Give distinct row numbers.")
    outside = rows[(rows < 0) | (rows >= index.n_rows)]
    if len(outside):
        raise ValueError(f"Row {int(outside[0])} is outside 0..{index.n_rows - 1}.")
    return rows
