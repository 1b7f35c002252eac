"""Numbers of pairs by group and fraction common / union, added up from many blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
_COMPACT_AFTER = 1 << 20


@dataclass(frozen=True)
class OverlapHistogram:
    """Ordered pairs (row of the group, any other row) by fraction, ascending by group, union, common.

    Pairs of two empty sets have no similarity and are not counted.

    Attributes
    ----------
    group : int32, shape (n,)
    common, union : int32, shape (n,)
        The similarity is ``common / union``. Equal similarities may have several rows (1/2, 2/4).
    n_pairs : int64, shape (n,)
    """

    group: NDArray[np.int32]
    common: NDArray[np.int32]
    union: NDArray[np.int32]
    n_pairs: Counts


def fraction_keys(group: Counts, union: Counts, common: Counts) -> Counts:
    # A union has at most 131,070 tokens, an intersection 65,535.
    return (group.astype(np.int64) << 34) | (union.astype(np.int64) << 16) | common


class FractionCounts:
    """Numbers of pairs by (group, union, common), merged now and then so that they stay small."""

    def __init__(self) -> None:
        self._parts: list[tuple[Counts, Counts]] = []
        self._length = 0

    def add(self, keys: Counts, numbers: Counts) -> None:
        self._parts.append((keys, numbers))
        self._length += len(keys)
        if self._length > _COMPACT_AFTER:
            self._merge()

    def histogram(self) -> OverlapHistogram:
        self._merge()
        keys, numbers = self._parts[0]
        union = (keys >> 16) & 0x3FFFF
        held = (union > 0) & (numbers != 0)
        keys, numbers, union = keys[held], numbers[held], union[held]
        return OverlapHistogram(
            (keys >> 34).astype(np.int32), (keys & 0xFFFF).astype(np.int32), union.astype(np.int32), numbers
        )

    def _merge(self) -> None:
        empty = np.zeros(0, dtype=np.int64)
        keys = np.concatenate([part[0] for part in self._parts] or [empty])
        numbers = np.concatenate([part[1] for part in self._parts] or [empty])
        order = np.argsort(keys, kind="stable")
        keys, numbers = keys[order], numbers[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        if len(first):
            keys, numbers = keys[first], np.add.reduceat(numbers, first)
        self._parts, self._length = [(keys, numbers)], 0
