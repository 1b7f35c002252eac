"""Count how many lanes hold each value, by run of rows and segment of columns, mostly without unpacking them.

Let b0, b1, ... be the lowest bits of a lane. The number of lanes with both b0 and b1 set is the sum over all
words of ``lanes & (lanes >> 1) & 0x1111...``; such sums for every set of bits give the number of lanes of
every small value by inclusion and exclusion. Words of single bits are added over up to 15 rows before any
lane can overflow. Lanes with higher bits are few and are visited one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.jaccard_lanes import Lanes, lanes_with, repeated, unpack

Counts = NDArray[np.int64]

MOST_BITS = 4
"""With more low bits there are more sums of bits than it takes to count the values directly."""
FEW = 1 / 150
"""Lanes are visited one by one while they are less than this share of all: a visit costs that many sums."""


@dataclass(frozen=True)
class CountedLanes:
    """Lanes and how they are cut.

    Attributes
    ----------
    lanes : uint16, shape (rows, words)
    bits : {4, 8, 16}
    run_starts : int64, shape (n_runs,)
        First row of each run.
    run_of_row : int64, shape (rows,)
    segment_columns : int64, shape (n_segments,)
        Columns of each segment, a multiple of 16.
    segment_of_column : int32, shape (columns,)
    """

    lanes: Lanes
    bits: int
    run_starts: Counts
    run_of_row: Counts
    segment_columns: Counts
    segment_of_column: NDArray[np.int32]


def count_values(counted: CountedLanes, n_values: int) -> Counts:
    """Number of lanes of each value.

    Parameters
    ----------
    counted : CountedLanes
    n_values : int
        All lanes are below; the caller may add to the higher ones.

    Returns
    -------
    int64, shape (n_runs, n_segments, n_values)
        Place 0 is left at 0: the caller knows how many pairs there are.
    """
    shape = (len(counted.run_starts), len(counted.segment_columns), n_values)
    words = counted.lanes.view(np.uint64)
    lane_mask = (1 << counted.bits) - 1
    for low_bits in range(2, MOST_BITS + 1):
        high_mask = lane_mask & ~((1 << low_bits) - 1)
        n_words = np.count_nonzero((words & repeated(high_mask, counted.bits)) != 0) if high_mask else 0
        if n_words <= FEW * counted.lanes.size * 16 / counted.bits:
            break
    else:
        return _count_directly(counted, shape)
    counts = np.zeros((*shape[:2], max(n_values, 1 << low_bits)), dtype=np.int64)
    counts[:, :, : 1 << low_bits] = _count_low_bits(counted, low_bits)
    if n_words:
        n_columns = len(counted.segment_of_column)
        positions, values = lanes_with(counted.lanes, counted.bits, high_mask)
        rows = positions // n_columns
        kind = (counted.run_of_row * shape[1])[rows] + counted.segment_of_column[positions - rows * n_columns]
        base = kind * counts.shape[2]
        flat = counts.reshape(-1)
        # The sums of low bits saw these lanes as their low bits alone.
        flat -= np.bincount(base + (values & ((1 << low_bits) - 1)), minlength=len(flat))
        flat += np.bincount(base + values, minlength=len(flat))
    counts[:, :, 0] = 0
    return np.ascontiguousarray(counts[:, :, :n_values])


def _count_low_bits(counted: CountedLanes, low_bits: int) -> Counts:
    """Lanes by their lowest bits, shape (n_runs, n_segments, 2**low_bits); place 0 is not filled."""
    words = counted.lanes.view(np.uint64)
    ones = repeated(1, counted.bits)
    n_sets = 1 << low_bits
    planes: list[NDArray[np.uint64]] = [words]  # by set of bits; the empty set is never summed
    counts = np.zeros((len(counted.run_starts), len(counted.segment_columns), n_sets), dtype=np.int64)
    for bit_set in range(1, n_sets):
        highest = bit_set.bit_length() - 1
        others = bit_set ^ (1 << highest)
        plane = planes[1 << highest] & planes[others] if others else words >> np.uint64(highest) & ones
        planes.append(plane)
        counts[:, :, bit_set] = _sum_ones(plane, counted)
    # So far: lanes that have at least these bits. Take away those that have others as well.
    for bit in range(low_bits):
        without = [bit_set for bit_set in range(n_sets) if not bit_set >> bit & 1]
        counts[:, :, without] -= counts[:, :, [bit_set | (1 << bit) for bit_set in without]]
    return counts


def _sum_ones(plane: NDArray[np.uint64], counted: CountedLanes) -> Counts:
    """Sum lanes of 0 and 1 by run and segment, shape (n_runs, n_segments)."""
    words_per_segment = counted.segment_columns * counted.bits // 64
    segment_starts = np.cumsum(words_per_segment) - words_per_segment
    ends = np.append(counted.run_starts[1:], len(plane))
    ones = repeated(1, counted.bits)
    sums = np.empty((len(ends), len(segment_starts)), dtype=np.int64)
    for run, (start, end) in enumerate(zip(counted.run_starts.tolist(), ends.tolist(), strict=True)):
        folded = _fold(plane[start:end])
        # Lanes of a word sum to at most 16 * 15 = 240: still a byte.
        in_word = np.bitwise_count(folded & ones)
        for place in range(1, 4):
            in_word += np.bitwise_count(folded & (ones << np.uint64(place))) << np.uint8(place)
        sums[run] = np.add.reduceat(in_word.sum(axis=0, dtype=np.int64), segment_starts)
    return sums


def _fold(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Add rows of lanes of 0 and 1 to a 15th of their number, which a lane of 4 bits still holds."""
    height = -(-len(rows) // 15)
    folded = rows[:height].copy()
    for start in range(height, len(rows), height):
        part = rows[start : start + height]
        folded[: len(part)] += part
    return folded


def _count_directly(counted: CountedLanes, shape: tuple[int, int, int]) -> Counts:
    values = unpack(counted.lanes, counted.bits)
    counts = np.empty(shape, dtype=np.int64)
    ends = np.append(counted.run_starts[1:], len(values))
    column_ends = np.cumsum(counted.segment_columns)
    for run, (start, end) in enumerate(zip(counted.run_starts.tolist(), ends.tolist(), strict=True)):
        for segment, last in enumerate(column_ends.tolist()):
            part = values[start:end, last - int(counted.segment_columns[segment]) : last]
            counts[run, segment] = np.bincount(part.ravel(), minlength=shape[2])
    counts[:, :, 0] = 0
    return counts
