"""Shingles: hashes of runs of tokens, for all statements at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warehouse.deduplication.tokens import Hashes, Offsets

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_BLANK = np.uint64(0xD6E8FEB86659FD93)


def mix(values: Hashes) -> Hashes:
    """Scramble 64-bit values (finaliser of SplitMix64): equal stay equal, the rest looks random."""
    values = values ^ (values >> np.uint64(30))
    values = values * np.uint64(0xBF58476D1CE4E5B9)
    values = values ^ (values >> np.uint64(27))
    values = values * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def shingle(tokens: Hashes, starts: Offsets, size: int) -> tuple[Hashes, Offsets]:
    """Hash every run of ``size`` tokens of every statement.

    A statement of fewer tokens has one shingle, all its tokens; an empty one has one that only empty
    statements share.

    Returns
    -------
    shingles : (S,) uint64
    starts : (N + 1,) int64
        Statement ``i`` owns ``shingles[starts[i]:starts[i + 1]]``; repeats are not removed.
    """
    lengths = np.diff(starts)
    padded = np.maximum(lengths, size)
    padded_starts = np.concatenate(([0], np.cumsum(padded)))
    tape = np.full(padded_starts[-1] + size, _BLANK, np.uint64)
    place = np.arange(len(tokens)) + np.repeat(padded_starts[:-1] - starts[:-1], lengths)
    tape[place] = tokens
    with np.errstate(over="ignore"):
        runs = np.zeros(padded_starts[-1], np.uint64)
        for shift in range(size):
            runs = runs * _MULTIPLIER + tape[shift : shift + len(runs)]
        runs = mix(runs)
    # The last size - 1 runs of a statement reach into the next one.
    counts = padded - size + 1
    keep = np.repeat(padded_starts[:-1], counts) + ranges(counts)
    return runs[keep], np.concatenate(([0], np.cumsum(counts)))


def gather(values: Hashes, starts: Offsets, members: NDArray[np.int64]) -> tuple[Hashes, Offsets]:
    """The values of some statements one behind the other, with their new starts."""
    lengths = starts[members + 1] - starts[members]
    cuts = np.concatenate(([0], np.cumsum(lengths)))
    places = np.arange(cuts[-1]) + np.repeat(starts[members] - cuts[:-1], lengths)
    return values[places], cuts


def ranges(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, …, counts[0] − 1, 0, 1, …, counts[1] − 1, …"""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - counts, counts)


def jaccard(first: Hashes, second: Hashes) -> float:
    """Exact Jaccard similarity |A ∩ B| / |A ∪ B| of two shingle sets, in [0, 1]."""
    left, right = np.unique(first), np.unique(second)
    common = len(np.intersect1d(left, right, assume_unique=True))
    return common / (len(left) + len(right) - common)
