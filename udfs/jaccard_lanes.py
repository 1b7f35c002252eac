"""Small counters packed side by side in machine words: how the Jaccard kernel adds many columns at once.

A *lane* is a counter of 4, 8 or 16 bits; lanes fill 16-bit words from the low end, so that column c of a
row sits in word ``c * bits // 16``. Adding two rows of words adds all their lanes, and as long as no lane
exceeds ``2**bits - 1`` nothing carries into a neighbour. Words have 16 bits because SciPy's sparse-by-dense
product multiplies and adds 16-bit integers with the machine's widest integer instructions.

A *biased* lane starts at ``high - t`` instead of 0, where ``high = 2**(bits - 1)`` is the value of its top
bit: the top bit then says whether the count has reached t. Testing it takes one `and` for 64 bits of lanes.

All supported platforms are little-endian; the byte views below rely on it.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Lanes: TypeAlias = NDArray[np.uint16]
Indices: TypeAlias = NDArray[np.int64]

WIDTHS = (4, 8, 16)
"""Lane widths in bits, narrowest (fastest) first."""

COLUMNS_ALIGNED = 16
"""Columns are padded to this multiple: a 64-bit word of lanes of any width never crosses the boundary."""


def high_value(bits: int) -> int:
    """Value of a lane's top bit: 8, 128 or 32,768."""
    return 1 << (bits - 1)


def repeated(value: int, bits: int) -> np.uint64:
    """A 64-bit word with `value` in every lane."""
    return np.uint64(sum(value << shift for shift in range(0, 64, bits)))


def pack(values: NDArray[Any], bits: int) -> Lanes:
    """Put the last axis into lanes.

    Parameters
    ----------
    values : unsigned integers below ``2**bits``, shape (..., columns), columns a multiple of 16
    bits : {4, 8, 16}

    Returns
    -------
    uint16, shape (..., columns * bits // 16)
    """
    if bits == 4:
        small = values.astype(np.uint8, copy=False)
        return np.ascontiguousarray(small[..., 0::2] | (small[..., 1::2] << 4)).view(np.uint16)
    if bits == 8:
        return np.ascontiguousarray(values.astype(np.uint8, copy=False)).view(np.uint16)
    return np.ascontiguousarray(values.astype(np.uint16, copy=False))


def unpack(lanes: Lanes, bits: int) -> NDArray[Any]:
    """Inverse of `pack`: uint8 (uint16 for 16-bit lanes), shape (..., columns)."""
    if bits == 16:
        return lanes
    small = lanes.view(np.uint8)
    if bits == 8:
        return small
    values = np.empty((*small.shape[:-1], 2 * small.shape[-1]), dtype=np.uint8)
    np.bitwise_and(small, 15, out=values[..., 0::2])
    np.right_shift(small, 4, out=values[..., 1::2])
    return values


def lanes_at(lanes: Lanes, bits: int, rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """Counts at (row, column) pairs of a two-dimensional array of lanes; uint8 or uint16, shape of `rows`."""
    if bits == 16:
        return np.asarray(lanes[rows, columns])
    small = lanes.view(np.uint8)
    if bits == 8:
        return np.asarray(small[rows, columns])
    nibble_shift = ((columns & 1) << 2).astype(np.uint8)
    return np.asarray((small[rows, columns >> 1] >> nibble_shift) & np.uint8(15))


def clear_high(lanes: Lanes, bits: int, rows: NDArray[Any], columns: NDArray[Any]) -> None:
    """Clear the top bits of the lanes at distinct (row, column) pairs, in place."""
    if bits == 16:
        lanes[rows, columns] &= np.uint16(0x7FFF)
        return
    small = lanes.view(np.uint8)
    if bits == 8:
        small[rows, columns] &= np.uint8(0x7F)
        return
    # Two nibbles share a byte, and a fancy update writes each byte once: even columns, then odd ones.
    for parity, keep in ((0, 0xF7), (1, 0x7F)):
        chosen = np.flatnonzero((columns & 1) == parity)
        small[rows[chosen], columns[chosen] >> 1] &= np.uint8(keep)


def lanes_with(lanes: Lanes, bits: int, mask: int) -> tuple[Indices, NDArray[Any]]:
    """Find the lanes that share a bit with `mask`.

    Parameters
    ----------
    lanes : uint16, shape (rows, words), words a multiple of ``bits``
    mask : int
        A lane-sized bit mask; ``high_value(bits)`` finds the lanes whose biased count reached its target.

    Returns
    -------
    positions : int64, shape (n,)
        ``row * columns + column`` of each, in no particular order.
    values : uint8 or uint16, shape (n,)
        What the lanes hold.
    """
    words = lanes.view(np.uint64).ravel()
    # Comparing first is quicker: nonzero has a fast path for booleans.
    hits = np.flatnonzero((words & repeated(mask, bits)) != 0)
    parts: NDArray[Any] = words[hits].view(np.uint16 if bits == 16 else np.uint8)
    word_shift = 2 if bits == 16 else 3
    lane_bits = (1 << bits) - 1
    positions, values = [], []
    for shift in (0, 4) if bits == 4 else (0,):
        found = np.flatnonzero(np.bitwise_and(parts, mask << shift) != 0)
        part = (hits[found >> word_shift] << word_shift) + (found & ((1 << word_shift) - 1))
        positions.append(part if bits > 4 else 2 * part + (shift >> 2))
        values.append(np.bitwise_and(parts[found] >> shift, lane_bits))
    return np.concatenate(positions), np.concatenate(values)
