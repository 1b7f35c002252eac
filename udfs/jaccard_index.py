"""Token sets laid out for counting common tokens of many pairs at once.

Rows are ordered by set size (then by an optional class), and every run of equal size and class starts at a
multiple of 16 columns, so that one 64-bit word of lanes has one size throughout. Tokens are renumbered by
falling document frequency and split in two:

* The *dense* tokens, the most frequent ones, become 0/1 lanes: per tile of columns an array
  (dense tokens x words). The sparse-by-dense product "rows x dense tokens" times "dense tokens x columns"
  counts the common dense tokens of a block of rows with all columns of the tile.
* The *rare* tokens are joined through their postings, which touches only pairs that share one.

Their sum is the exact size of the intersection.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from udfs.jaccard_lanes import COLUMNS_ALIGNED, Lanes, pack

MAXIMUM_SET_SIZE = 65_535
DENSE_SHARE = 1 / 400
"""A token in more than this share of the sets is dense: adding its lanes is then cheaper than its postings."""
MAXIMUM_DENSE_TOKENS = 1_024
BYTES_PER_PAIR = 64
"""Memory a block may need per pair when every pair qualifies: lanes, index arrays, results."""
BLOCKS_IN_FLIGHT = 4


class Tile(NamedTuple):
    """A range of columns with what is needed to count against it."""

    first_column: int
    first_segment: int
    segment_of_column: NDArray[np.int32]  # relative to first_segment
    segment_columns: NDArray[np.int64]  # columns of each segment within the tile
    postings: sp.csr_matrix  # (tokens, columns), every token
    n_dense: int
    lanes: dict[int, Lanes]  # filled by dense_lanes

    def dense_lanes(self, bits: int) -> Lanes:
        """Dense tokens as lanes of the given width, shape (dense tokens, columns * bits // 16)."""
        if bits not in self.lanes:
            # Two threads may both do it: the results are the same.
            held = np.zeros((self.n_dense, self.postings.shape[1]), dtype=np.uint8)
            indptr = self.postings.indptr[: self.n_dense + 1]
            tokens = np.repeat(np.arange(self.n_dense), np.diff(indptr))
            held[tokens, self.postings.indices[: indptr[-1]]] = 1
            self.lanes[bits] = pack(held, bits)
        return self.lanes[bits]


class TokenSetIndex:
    """Token sets of N rows, prepared for the kernels of `jaccard_blocks` and `jaccard_histogram`.

    Parameters
    ----------
    indptr : int64, shape (N + 1,)
    indices : int32, shape (indptr[-1],)
        Token ids >= 0 of row r at ``indices[indptr[r]:indptr[r + 1]]``, distinct within a row, any order.
        A row may have 0 to 65,535 tokens.
    classes : int, shape (N,), optional
        Rows of equal size are also ordered by class (see `jaccard_histogram`).
    memory_budget : int
        Bytes. Bounds what the kernels hold at a time beyond the index itself (about 20 bytes a token) and
        thereby the block size; it does not change any result.

    Raises
    ------
    ValueError
        For arrays that are no such sets; the message names the row.
    """

    def __init__(
        self,
        indptr: NDArray[Any],
        indices: NDArray[Any],
        *,
        classes: NDArray[Any] | None = None,
        memory_budget: int = 1 << 30,
    ) -> None:
        indptr = np.asarray(indptr, dtype=np.int64)
        indices = np.asarray(indices)
        _check_sets(indptr, indices)
        self.n_rows = len(indptr) - 1
        self.memory_budget = memory_budget
        sizes = np.diff(indptr).astype(np.int32)
        classes = np.zeros(self.n_rows, dtype=np.int32) if classes is None else np.asarray(classes)
        if len(classes) != self.n_rows:
            raise ValueError(f"{len(classes)} classes for {self.n_rows} rows. Give one class a row.")

        self.order: NDArray[np.int32] = np.lexsort((classes, sizes)).astype(np.int32)
        """Row at each rank."""
        self.rank: NDArray[np.int32] = np.empty(self.n_rows, dtype=np.int32)
        self.rank[self.order] = np.arange(self.n_rows, dtype=np.int32)
        self.sizes: NDArray[np.int32] = sizes[self.order]
        """Set size at each rank, ascending."""
        self._lay_out_segments(classes[self.order])

        _, tokens, frequency = np.unique(indices, return_inverse=True, return_counts=True)
        by_frequency = np.argsort(-frequency, kind="stable")
        number = np.empty(len(frequency), dtype=np.int32)
        number[by_frequency] = np.arange(len(frequency), dtype=np.int32)
        ones = np.ones(len(indices), dtype=np.uint16)
        sets = sp.csr_matrix((ones, number[tokens.ravel()], indptr), shape=(self.n_rows, len(frequency)))
        sets = sets[self.order]
        sets.sort_indices()
        _check_distinct(sets, self.order)
        n_dense = min(int((frequency > DENSE_SHARE * self.n_rows).sum()), MAXIMUM_DENSE_TOKENS)
        self.sets = sets
        self.dense, self.rare = _split_columns(sets, n_dense)

        # A block is (block_rows x tile_columns) pairs; BYTES_PER_PAIR holds even if all of them qualify.
        pairs = max(memory_budget // (BYTES_PER_PAIR * BLOCKS_IN_FLIGHT), 1 << 12)
        self.tile_columns = min(8_192, max(256, 1 << ((pairs // 512).bit_length() - 1)))
        self.block_rows = min(512, max(16, pairs // self.tile_columns))
        self.n_tiles = -(-len(self.row_of_column) // self.tile_columns)
        self._tiles: OrderedDict[int, Tile] = OrderedDict()
        self._tiles_lock = threading.Lock()

    def _lay_out_segments(self, classes: NDArray[Any]) -> None:
        """Give each run of equal (size, class) an aligned range of columns."""
        new_run = np.ones(self.n_rows, dtype=bool)
        new_run[1:] = (np.diff(self.sizes) != 0) | (classes[1:] != classes[:-1])
        first = np.flatnonzero(new_run)
        lengths = np.diff(np.append(first, self.n_rows))
        padded = -(-lengths // COLUMNS_ALIGNED) * COLUMNS_ALIGNED
        starts = np.cumsum(padded) - padded
        self.segment_start: NDArray[np.int64] = np.append(starts, padded.sum())
        """First column of each segment, and the number of columns."""
        self.segment_rows: NDArray[np.int64] = lengths
        self.segment_size: NDArray[np.int32] = self.sizes[first]
        self.segment_class: NDArray[Any] = classes[first]
        self.segment_of_rank: NDArray[np.int32] = (np.cumsum(new_run) - 1).astype(np.int32)
        offset = np.arange(self.n_rows) - np.repeat(first, lengths)
        self.column: NDArray[np.int64] = starts[self.segment_of_rank] + offset
        """Column of each rank, ascending."""
        self.row_of_column: NDArray[np.int32] = np.full(padded.sum(), -1, dtype=np.int32)
        """Row at each column; -1 for padding."""
        self.row_of_column[self.column] = self.order

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the sets and of everything that decides block numbers: equal ones may resume each other."""
        digest = hashlib.sha256(f"{self.tile_columns},{self.block_rows}".encode())
        for part in (self.order, self.sets.indptr, self.sets.indices):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()[:16]

    def tile(self, number: int) -> Tile:
        """Return the tile of that number, from the cache when it is there."""
        with self._tiles_lock:
            if number in self._tiles:
                self._tiles.move_to_end(number)
                return self._tiles[number]
        built = self._build_tile(number)
        # Lanes of 4 bits, seldom of 8 as well, and the postings with their row pointers.
        size = built.n_dense * self.tile_columns + 6 * built.postings.nnz + 4 * self.sets.shape[1]
        kept = max(self.memory_budget // 4 // max(size, 1), 2)
        with self._tiles_lock:
            self._tiles[number] = built
            while len(self._tiles) > kept:
                self._tiles.popitem(last=False)
        return built

    def _build_tile(self, number: int) -> Tile:
        first = number * self.tile_columns
        width = min(self.tile_columns, len(self.row_of_column) - first)
        low, high = np.searchsorted(self.column, [first, first + width])
        part = self.sets[low:high]
        indptr = np.zeros(width + 1, dtype=part.indptr.dtype)
        indptr[self.column[low:high] - first + 1] = np.diff(part.indptr)
        by_column = sp.csc_matrix(
            (part.data, part.indices, np.cumsum(indptr, dtype=part.indptr.dtype)),
            shape=(self.sets.shape[1], width),
        )
        edges = np.searchsorted(self.segment_start, [first, first + width - 1], side="right") - 1
        limits = np.clip(self.segment_start[edges[0] : edges[1] + 2], first, first + width)
        segment_columns = np.diff(limits)
        return Tile(
            first_column=first,
            first_segment=int(edges[0]),
            segment_of_column=np.repeat(np.arange(len(segment_columns), dtype=np.int32), segment_columns),
            segment_columns=segment_columns,
            postings=by_column.tocsr(),
            n_dense=self.dense.shape[1],
            lanes={},
        )


def _split_columns(sets: sp.csr_matrix, n_first: int) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """First `n_first` columns, and the rest with its column numbers kept."""
    is_first = sets.indices < n_first
    return (
        masked(sets, is_first, n_first),
        masked(sets, ~is_first, sets.shape[1]),
    )


def masked(sets: sp.csr_matrix, keep: NDArray[np.bool_], n_columns: int) -> sp.csr_matrix:
    """The chosen entries of a sparse matrix, in place and order, with `n_columns` columns."""
    kept_before = np.concatenate([[0], np.cumsum(keep)])
    indptr = kept_before[sets.indptr].astype(sets.indptr.dtype)
    return sp.csr_matrix((sets.data[keep], sets.indices[keep], indptr), shape=(sets.shape[0], n_columns))


def _check_sets(indptr: NDArray[np.int64], indices: NDArray[Any]) -> None:
    if indptr.ndim != 1 or len(indptr) == 0 or indptr[0] != 0 or indptr[-1] != len(indices):
        raise ValueError("indptr must start at 0 and end at the number of token ids.")
    sizes = np.diff(indptr)
    if (sizes < 0).any():
        raise ValueError(f"indptr falls at row {int(np.argmax(sizes < 0))}. Sets need a size of 0 or more.")
    if (sizes > MAXIMUM_SET_SIZE).any():
        row = int(np.argmax(sizes))
        raise ValueError(f"Row {row} has {int(sizes[row])} tokens, more than {MAXIMUM_SET_SIZE}. Shorten its text.")
    if len(indices) and (indices.dtype.kind not in "iu" or indices.min() < 0):
        raise ValueError("Token ids must be integers of 0 or more.")


def _check_distinct(sets: sp.csr_matrix, order: NDArray[np.int32]) -> None:
    repeats = np.zeros(len(sets.indices), dtype=bool)
    repeats[1:] = sets.indices[1:] == sets.indices[:-1]
    starts = sets.indptr[:-1]
    repeats[starts[starts < len(repeats)]] = False
    if repeats.any():
        rank = int(np.searchsorted(sets.indptr, int(np.argmax(repeats)), side="right")) - 1
        raise ValueError(f"Row {int(order[rank])} has a token twice. Give sets: distinct token ids a row.")
