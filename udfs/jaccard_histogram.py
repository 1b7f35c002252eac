"""Exact histogram of Jaccard similarities per group of rows, over every pair, without listing pairs.

A similarity is a fraction common / union, so the histogram counts fractions, not bins. Most pairs share few
tokens: the low bits of the lanes are counted by adding whole words of them, and only lanes of 4 and more
(8, 16 where sets are long) are looked at one by one.

Pairs are ordered, (row of the group, any other row): a pair within the group counts from either end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from udfs.jaccard_bit_counts import CountedLanes, count_values
from udfs.jaccard_counting import Overlaps, count_overlaps, row_block
from udfs.jaccard_fractions import FractionCounts, OverlapHistogram, fraction_keys
from udfs.jaccard_index import Tile, TokenSetIndex
from udfs.jaccard_lanes import WIDTHS, Lanes, lanes_at, unpack
from udfs.ordered_map import ordered_map

Counts = NDArray[np.int64]

MOST_COUNTERS = 1 << 22


@dataclass(frozen=True)
class RowClasses:
    """Rows with the same groups (and the same age) share a class.

    Attributes
    ----------
    of_row : int32, shape (N,)
        To be given to `TokenSetIndex` as ``classes``.
    groups : bool, shape (n_classes, n_groups)
    is_new : bool, shape (n_classes,)
    """

    of_row: NDArray[np.int32]
    groups: NDArray[np.bool_]
    is_new: NDArray[np.bool_]


def row_classes(membership: Any, first_new_row: int | None = None) -> RowClasses:
    """Sort rows into classes by the groups they belong to.

    Parameters
    ----------
    membership : bool array or sparse matrix, shape (N, n_groups)
        A row may be in several groups or in none.
    first_new_row : int, optional
        Rows from this number on count as new, for a histogram of the pairs they add.
    """
    dense = membership.toarray() if hasattr(membership, "toarray") else np.asarray(membership)
    flags = np.column_stack([dense.astype(bool), np.zeros(len(dense), dtype=bool)])
    if first_new_row is not None:
        flags[first_new_row:, -1] = True
    distinct, of_row = np.unique(flags, axis=0, return_inverse=True)
    return RowClasses(of_row.ravel().astype(np.int32), distinct[:, :-1], distinct[:, -1])


def overlap_histogram(
    index: TokenSetIndex,
    classes: RowClasses,
    *,
    added_only: bool = False,
    workers: int = 2,
    progress: Callable[[int, int], None] | None = None,
) -> OverlapHistogram:
    """Count all pairs of every group by their Jaccard similarity.

    Parameters
    ----------
    index : TokenSetIndex
        Built with ``classes=classes.of_row``.
    classes : RowClasses
    added_only : bool
        Only the pairs with at least one row of a new class: what has to be added to the histogram of the
        rows that were there before. With M new rows the cost is that of M x N pairs.
    workers : int
        Threads.
    progress : callable, optional
        Called with (blocks done, blocks in all).

    Returns
    -------
    OverlapHistogram
    """
    ranks = np.arange(index.n_rows, dtype=np.int32)
    if added_only:
        ranks = ranks[classes.is_new[classes.of_row[index.order]]]
        # A new row counts its pairs itself; only old rows need the pair counted from the other end.
        others = classes.groups & ~classes.is_new[:, None]
    else:
        others = classes.groups
    job = _Job(index, ranks, classes.groups, others, each_once=not added_only)
    total = FractionCounts()
    for done, part in enumerate(ordered_map(job.count_block, job.blocks, workers), 1):
        total.add(*part)
        if progress is not None:
            progress(done, len(job.blocks))
    return total.histogram()


class _Block(NamedTuple):
    """Rows of a job against a tile, cut into runs of one segment."""

    ranks: NDArray[np.int32]
    own_columns: Counts  # of each row, relative to the tile; outside of it as well
    run_starts: Counts
    runs: NDArray[np.int32]  # segment of each run
    run_of_row: Counts
    tile: Tile
    segments: Counts  # of the tile
    overlaps: Overlaps


class _Job:
    """Blocks of ranks x tiles, and the counts of one."""

    def __init__(
        self,
        index: TokenSetIndex,
        ranks: NDArray[np.int32],
        own_groups: NDArray[np.bool_],
        other_groups: NDArray[np.bool_],
        each_once: bool,
    ) -> None:
        self.index = index
        self.ranks = ranks
        self.own_groups = own_groups
        self.other_groups = other_groups
        self.each_once = each_once
        self.dense, self.rare = (
            part if len(ranks) == index.n_rows else part[ranks] for part in (index.dense, index.rare)
        )
        starts = range(0, len(ranks), index.block_rows)
        self.blocks = [
            (tile, start, min(start + index.block_rows, len(ranks)))
            for tile in range(index.n_tiles)
            for start in starts
            if not each_once or index.column[ranks[start]] < (tile + 1) * index.tile_columns - 1
        ]

    def count_block(self, place: tuple[int, int, int]) -> tuple[Counts, Counts]:
        """Keys and numbers of pairs of one block; see `FractionCounts`."""
        block = self._block(*place)
        n_values = int(min(self.index.sizes[block.ranks[-1]], self.index.segment_size[block.segments].max())) + 1
        shape = (len(block.runs), len(block.segments), n_values)
        counted = self._dense_counts if np.prod(shape) <= MOST_COUNTERS else self._sorted_counts
        run, segment, common, n_pairs = counted(block, shape)
        row_end, column_end = block.runs[run], block.segments[segment]
        union = self.index.segment_size[row_end] + self.index.segment_size[column_end] - common
        keys, numbers = [], []
        for end, groups in ((row_end, self.own_groups), (column_end, self.other_groups)):
            entry, group = np.nonzero(groups[self.index.segment_class[end]])
            keys.append(fraction_keys(group, union[entry], common[entry]))
            numbers.append(n_pairs[entry])
        return np.concatenate(keys), np.concatenate(numbers)

    def _block(self, number: int, start: int, end: int) -> _Block:
        index, tile = self.index, self.index.tile(number)
        ranks = self.ranks[start:end]
        segments = index.segment_of_rank[ranks]
        run_starts = np.flatnonzero(np.diff(segments, prepend=-1))
        overlaps = count_overlaps(
            row_block(index, ranks, self.dense[start:end], self.rare[start:end]),
            tile,
            {bits: (1 << bits) - 1 for bits in WIDTHS},
        )
        own_columns = index.column[ranks] - tile.first_column
        if self.each_once and own_columns[-1] >= 0:
            _clear_up_to(overlaps.lanes, overlaps.bits, own_columns)
            later = overlaps.columns > own_columns[overlaps.rows]
            overlaps = Overlaps(
                overlaps.lanes,
                overlaps.bits,
                overlaps.rows[later],
                overlaps.columns[later],
                overlaps.extra[later],
            )
        return _Block(
            ranks=ranks,
            own_columns=own_columns,
            run_starts=run_starts,
            runs=segments[run_starts],
            run_of_row=np.repeat(np.arange(len(run_starts)), np.diff(np.append(run_starts, len(ranks)))),
            tile=tile,
            segments=tile.first_segment + np.arange(len(tile.segment_columns)),
            overlaps=overlaps,
        )

    def _dense_counts(self, block: _Block, shape: tuple[int, int, int]) -> tuple[Counts, ...]:
        """Run, segment, overlap and number of pairs by a counter for each combination."""
        overlaps, tile = block.overlaps, block.tile
        counted = CountedLanes(
            overlaps.lanes,
            overlaps.bits,
            block.run_starts,
            block.run_of_row,
            tile.segment_columns,
            tile.segment_of_column,
        )
        counts = count_values(counted, shape[2])
        # The lanes hold the dense tokens alone; pairs with rare ones move up by these.
        before = lanes_at(overlaps.lanes, overlaps.bits, overlaps.rows, overlaps.columns).astype(np.int64)
        kind = (block.run_of_row * shape[1])[overlaps.rows] + tile.segment_of_column[overlaps.columns]
        flat = counts.reshape(-1)
        flat -= np.bincount(kind * shape[2] + before, minlength=len(flat))
        flat += np.bincount(kind * shape[2] + before + overlaps.extra, minlength=len(flat))
        pairs = self._pairs(block)
        if not self.each_once:
            self._leave_out_themselves(counts, pairs, block)
        counts[:, :, 0] = pairs - counts[:, :, 1:].sum(axis=2)
        found = np.nonzero(counts)
        return (*found, counts[found])

    def _sorted_counts(self, block: _Block, shape: tuple[int, int, int]) -> tuple[Counts, ...]:
        """The same where sets are so long and their sizes so many that counters would not fit: by sorting."""
        overlaps, tile = block.overlaps, block.tile
        common = unpack(overlaps.lanes, overlaps.bits).astype(np.int64)
        common[overlaps.rows, overlaps.columns] += overlaps.extra
        kind = (block.run_of_row * shape[1])[:, None] + tile.segment_of_column[None, :]
        columns = np.arange(common.shape[1])
        is_pair = self.index.row_of_column[tile.first_column :][: len(columns)] >= 0
        own = block.own_columns[:, None]
        is_pair = is_pair & (columns > own if self.each_once else columns != own)
        keys, n_pairs = np.unique((kind * shape[2] + common)[is_pair], return_counts=True)
        return (*np.unravel_index(keys, shape), n_pairs)

    def _pairs(self, block: _Block) -> Counts:
        """Pairs of each run of rows with each segment's columns, padding left out."""
        index, first = self.index, block.tile.first_column
        begin = index.segment_start[block.segments]
        width = len(block.tile.segment_of_column)
        low = np.clip(begin - first, 0, width)
        high = np.clip(begin + index.segment_rows[block.segments] - first, 0, width)
        after = block.own_columns + 1 if self.each_once else np.zeros_like(block.own_columns)
        per_row = np.maximum(high[None, :] - np.maximum(low[None, :], after[:, None]), 0)
        return np.add.reduceat(per_row, block.run_starts, axis=0)

    def _leave_out_themselves(self, counts: Counts, pairs: Counts, block: _Block) -> None:
        own = block.own_columns
        here = np.flatnonzero((own >= 0) & (own < len(block.tile.segment_of_column)))
        run, segment = block.run_of_row[here], block.tile.segment_of_column[own[here]]
        np.subtract.at(pairs, (run, segment), 1)
        np.subtract.at(counts, (run, segment, self.index.sizes[block.ranks[here]]), 1)


def _clear_up_to(lanes: Lanes, bits: int, own_columns: Counts) -> None:
    """Clear every row's lanes up to and including its own column (-1 and below: nothing to clear)."""
    words = lanes.view(np.uint64)
    lanes_per_word = 64 // bits
    last = np.minimum(own_columns + 1, words.shape[1] * lanes_per_word)
    for row in np.flatnonzero(last > 0).tolist():
        whole, rest = divmod(int(last[row]), lanes_per_word)
        words[row, :whole] = 0
        if rest:
            words[row, whole] &= np.uint64((1 << 64) - (1 << (rest * bits)))
