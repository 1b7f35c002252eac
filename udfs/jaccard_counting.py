"""Count the common tokens of a block of rows with a tile of columns, and find the pairs with enough.

1. Lanes of common dense tokens come from one sparse-by-dense product, which counts all pairs of the block;
   each lane starts at a bias such that its top bit says "the smallest qualifying overlap is reached".
2. Pairs that share a rare token come from a sparse product; their lanes are read and the rare tokens added.
3. The lanes with their top bit set are collected.

The test is one on integers, ``overlap >= minimum_overlap(size, size)`` (see `jaccard`), so nothing is
rounded and nothing approximated. Lanes hold at most 15, 255 or 65,535. A row with more dense tokens than
fit its lanes passes the excess to the rare side, where any count fits; when much would pass, wider lanes
are taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from udfs.jaccard_index import Tile, TokenSetIndex, masked
from udfs.jaccard_lanes import WIDTHS, Lanes, clear_high, high_value, lanes_at, lanes_with, repeated

MOVED_TOKEN_COST = 4
"""Counting a dense token by its postings costs about this many times its 4-bit lanes."""


@dataclass(frozen=True)
class RowBlock:
    """Consecutive rows of a plan, in order of rank, and their tokens."""

    ranks: NDArray[np.int32]
    dense: sp.csr_matrix
    rare: sp.csr_matrix
    sizes: NDArray[np.int32]  # distinct set sizes, ascending
    size_starts: NDArray[np.int64]  # first row of each size, and the number of rows

    @property
    def size_of_row(self) -> NDArray[np.int64]:
        """Index into `sizes` of each row."""
        return np.repeat(np.arange(len(self.sizes)), np.diff(self.size_starts))


@dataclass
class Overlaps:
    """Common tokens of a block of rows with a tile: lanes, and what the rare tokens add to some of them."""

    lanes: Lanes
    bits: int
    rows: NDArray[np.int64]
    columns: NDArray[np.int32]
    extra: NDArray[np.int32]


def row_block(index: TokenSetIndex, ranks: NDArray[np.int32], dense: sp.csr_matrix, rare: sp.csr_matrix) -> RowBlock:
    """Rows of the given ascending ranks with the runs of equal size among them."""
    sizes = index.sizes[ranks]
    starts = np.flatnonzero(np.append(True, np.diff(sizes) != 0)) if len(sizes) else np.zeros(0, dtype=np.int64)
    return RowBlock(ranks, dense, rare, sizes[starts], np.append(starts, len(sizes)))


def count_overlaps(block: RowBlock, tile: Tile, capacity: dict[int, int]) -> Overlaps:
    """Count common tokens of a block of rows with the columns of a tile.

    Parameters
    ----------
    capacity : dict of int to int
        Per lane width the number of dense tokens of a row that may be added to a lane.

    Returns
    -------
    Overlaps
        ``lanes`` without bias, in the narrowest width that fits all but a few tokens.
    """
    dense, rare = block.dense, block.rare
    counts = np.diff(dense.indptr)
    for bits in WIDTHS:
        moved = int(np.maximum(counts - capacity[bits], 0).sum())
        if moved * MOVED_TOKEN_COST <= dense.nnz or bits == WIDTHS[-1]:
            break
    if moved:
        # Tokens are in order of falling frequency, so the row's rarest ones move.
        within_row = np.arange(dense.nnz) - np.repeat(dense.indptr[:-1], counts)
        fits = within_row < capacity[bits]
        rare = rare + masked(dense, ~fits, rare.shape[1])
        dense = masked(dense, fits, dense.shape[1])
    lanes = dense @ tile.dense_lanes(bits)
    shared = rare @ tile.postings
    rows = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
    return Overlaps(lanes, bits, rows, shared.indices, shared.data.astype(np.int32))


def pairs_reaching(
    block: RowBlock, tile: Tile, needed: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Find the pairs of a block with at least the needed number of common tokens.

    Parameters
    ----------
    needed : int32, shape (sizes of the block, segments of the tile)
        Smallest overlap that counts, 0 or more.

    Returns
    -------
    rows, columns : int64, shape (n,)
        Within the block and the tile. Padding columns come up only where 0 is enough.
    common : int32, shape (n,)
    kind : int64, shape (n,)
        Flat index into `needed` of the pair's sizes.
    """
    least, most = int(needed.min()), int(needed.max())
    # With a bias of max(0, high - needed) a lane of n tokens stays below 2 * high while
    # n < high + min(needed, high).
    capacity = {bits: high_value(bits) - 1 + min(high_value(bits), least) for bits in WIDTHS}
    overlaps = count_overlaps(block, tile, capacity)
    lanes, bits = overlaps.lanes, overlaps.bits
    high = high_value(bits)
    bias = np.maximum(high - needed, 0)
    lane_unit = repeated(1, bits).astype(np.uint16)
    words = tile.segment_columns * bits // 16
    for size, (start, end) in enumerate(zip(block.size_starts[:-1], block.size_starts[1:], strict=True)):
        lanes[start:end] += np.repeat(bias[size].astype(np.uint16) * lane_unit, words)

    value = lanes_at(lanes, bits, overlaps.rows, overlaps.columns)
    reaching = np.flatnonzero(value + overlaps.extra >= high)
    # Counted here with their rare tokens; the search of the lanes must not find them again.
    again = reaching[value[reaching] >= high]
    clear_high(lanes, bits, overlaps.rows[again], overlaps.columns[again])
    positions, held = lanes_with(lanes, bits, high)

    n_columns = len(tile.segment_of_column)
    rows = positions // n_columns
    columns = np.concatenate([positions - rows * n_columns, overlaps.columns[reaching]])
    rows = np.concatenate([rows, overlaps.rows[reaching]])
    counts = np.concatenate([held.astype(np.int32), value[reaching] + overlaps.extra[reaching]])
    kind = (block.size_of_row * needed.shape[1])[rows] + tile.segment_of_column[columns]
    common = counts - bias.ravel()[kind]
    if most > high:
        # Where the target lies above the top bit the lanes only nominate.
        enough = common >= needed.ravel()[kind]
        rows, columns, common, kind = rows[enough], columns[enough], common[enough], kind[enough]
    return rows, columns, common, kind
