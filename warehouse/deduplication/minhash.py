"""MinHash signatures and locality-sensitive hashing, vectorised over all statements.

The minimum of a random hash over a set falls on a common element of two sets with probability equal to their
Jaccard similarity (Broder 1997). Signatures of ``bands`` × ``rows`` minima make two statements candidates when
all rows of some band agree: with similarity s that happens with probability 1 − (1 − s^rows)^bands.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from warehouse.deduplication.shingles import mix
from warehouse.deduplication.tokens import Hashes, Offsets

Signatures = NDArray[np.uint32]
Pairs = NDArray[np.int64]

BANDS, ROWS = 20, 5  # 0.9996 at similarity 0.8, 0.06 at 0.3
_CHUNK = 1 << 17  # shingles at a time: two arrays of this length stay in the cache


def candidate_probability(similarity: float, bands: int = BANDS, rows: int = ROWS) -> float:
    """Probability that two sets of this Jaccard similarity become candidates."""
    return float(1 - (1 - similarity**rows) ** bands)


def signatures(
    shingles: Hashes, starts: Offsets, count: int = BANDS * ROWS, seed: int = 1, workers: int = 2
) -> Signatures:
    """Compute MinHash signatures.

    Parameters
    ----------
    shingles : (S,) uint64
        Well mixed hashes.
    starts : (N + 1,) int64
        Set ``i`` is ``shingles[starts[i]:starts[i + 1]]``, never empty; repeats do no harm.
    count : int
        Number of hash functions (multiply-shift with odd multipliers).
    workers : int
        Threads; the result does not depend on it.

    Returns
    -------
    (N, count) uint32
    """
    multipliers = mix(np.arange(1, count + 1, dtype=np.uint64) * np.uint64(2 * seed + 1)) | np.uint64(1)
    result = np.empty((len(starts) - 1, count), np.uint32)

    def fill(bounds: tuple[int, int]) -> None:
        first, last = bounds
        begin = starts[first]
        part, cuts = shingles[begin : starts[last]], starts[first:last] - begin
        for place, multiplier in enumerate(multipliers):
            # The high bits of a product are the well mixed ones.
            hashed = ((part * multiplier) >> np.uint64(32)).astype(np.uint32)
            result[first:last, place] = np.minimum.reduceat(hashed, cuts)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(fill, _chunks(starts)))
    return result


def candidates(
    signed: Signatures, bands: int = BANDS, rows: int = ROWS, key: Hashes | None = None, widest: int = 64
) -> Pairs:
    """Pair the statements that agree on a whole band.

    Parameters
    ----------
    key : (N,) uint64, optional
        Only statements of the same key are paired: what must be equal anyway need not be compared.
    widest : int
        A bucket of m statements has m(m − 1)/2 pairs. In a wider one every statement is paired with its
        neighbours and the first one alone: true copies meet in other bands too, and copies of copies are
        joined by their component.

    Returns
    -------
    (P, 2) int64
        Pairs i < j, each once, in order.
    """
    found = [
        _pairs_of_band(_packed(signed[:, band * rows : (band + 1) * rows], band, key), widest)
        for band in range(bands)
    ]
    merged = np.concatenate(found) if found else np.empty(0, np.uint64)
    merged = np.unique(merged)
    return np.stack([merged >> np.uint64(32), merged & np.uint64(0xFFFFFFFF)], axis=1).astype(np.int64)


def _packed(band_rows: Signatures, band: int, key: Hashes | None) -> Hashes:
    packed = np.zeros(len(band_rows), np.uint64) if key is None else mix(key + np.uint64(band))
    for column in range(band_rows.shape[1]):
        packed = mix(packed ^ band_rows[:, column].astype(np.uint64))
    return packed


def _pairs_of_band(packed: Hashes, widest: int) -> Hashes:
    """Pairs of equal values, i in the high and j in the low 32 bits."""
    order = np.argsort(packed, kind="stable").astype(np.uint64)
    ranked = packed[order]
    begins = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    sizes = np.diff(np.concatenate((begins, [len(ranked)])))
    size_of, begin_of = np.repeat(sizes, sizes), np.repeat(begins, sizes)
    wide = size_of > widest
    star = np.flatnonzero(wide & (begin_of != np.arange(len(order))))
    found = [_joined(order[begin_of[star]], order[star])]
    # Sorted stably, equal values stand together: members of a bucket are at most size - 1 places apart.
    for apart in range(1, int(sizes.max(initial=1))):
        close = (size_of[:-apart] > apart) & (ranked[apart:] == ranked[:-apart])
        if apart > 1:
            close &= ~wide[:-apart]
        places = np.flatnonzero(close)
        if not len(places) and apart >= widest:
            break
        found.append(_joined(order[places], order[places + apart]))
    return np.concatenate(found)


def _joined(first: Hashes, second: Hashes) -> Hashes:
    return (np.minimum(first, second) << np.uint64(32)) | np.maximum(first, second)


def similarities(shingles: Hashes, starts: Offsets, pairs: Pairs, chunk: int = 1 << 15) -> NDArray[np.float64]:
    """Exact Jaccard similarities of pairs of shingle sets.

    Returns
    -------
    (P,) float64
        In [0, 1].
    """
    result = np.empty(len(pairs))
    for begin in range(0, len(pairs), chunk):
        part = pairs[begin : begin + chunk]
        result[begin : begin + chunk] = _similarities(shingles, starts, part)
    return result


def _similarities(shingles: Hashes, starts: Offsets, pairs: Pairs) -> NDArray[np.float64]:
    rows = np.arange(len(pairs))
    values, owners, sides = [], [], []
    for side in (0, 1):
        members = pairs[:, side]
        lengths = starts[members + 1] - starts[members]
        ends = np.cumsum(lengths)
        places = np.repeat(starts[members] - (ends - lengths), lengths) + np.arange(int(ends[-1]))
        values.append(shingles[places])
        owners.append(np.repeat(rows, lengths))
        sides.append(np.full(len(places), side, np.int8))
    value, owner, side_of = np.concatenate(values), np.concatenate(owners), np.concatenate(sides)
    order = np.lexsort((side_of, value, owner))
    value, owner, side_of = value[order], owner[order], side_of[order]
    same = (value[1:] == value[:-1]) & (owner[1:] == owner[:-1])
    fresh = np.concatenate(([True], ~same))  # first of its value within the pair
    crossing = same & (side_of[1:] != side_of[:-1])  # sides are sorted: at most one crossing a value
    union = np.bincount(owner[fresh], minlength=len(pairs))
    common = np.bincount(owner[1:][crossing], minlength=len(pairs))
    return common / union


def _chunks(starts: Offsets) -> Iterator[tuple[int, int]]:
    """Cut the statements into ranges of about ``_CHUNK`` shingles, at least one statement each."""
    first, total = 0, len(starts) - 1
    while first < total:
        last = int(np.searchsorted(starts, starts[first] + _CHUNK, side="right")) - 1
        last = min(max(last, first + 1), total)
        yield first, last
        first = last
