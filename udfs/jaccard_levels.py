"""The summary signal of the threshold curve, straight from counts of common tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.jaccard_blocks import overlap_rows, qualifying_partners
from udfs.jaccard_index import TokenSetIndex
from udfs.similarity_levels import Floats, Levels, LevelsOfSome, levels_reached

SPARSE_PARTNERS = 1 / 25
"""Listing partners is quicker than counting all tokens when less than this share of pairs qualifies."""
_SAMPLE_ROWS = 64
_LARGEST_TABLE = 1 << 20


class TokenSignal:
    """Levels of Jaccard similarities, a `udfs.similarity_levels.Signal`.

    Parameters
    ----------
    index : TokenSetIndex
        Token sets of the N problems.

    Notes
    -----
    A level depends on the two sizes and the overlap alone, so it is looked up, not computed. Where the lowest
    threshold is reached by few pairs, only these are listed.
    """

    def __init__(self, index: TokenSetIndex) -> None:
        self.index = index
        self._size_of_row = np.empty(index.n_rows, dtype=np.int32)
        self._size_of_row[index.order] = index.sizes
        self._sizes, self._size_place = np.unique(self._size_of_row, return_inverse=True)
        spread = np.unique(np.linspace(0, max(index.n_rows - 1, 0), _SAMPLE_ROWS).astype(np.int64))
        sample = spread[: index.n_rows]
        self._sample = np.sort(self._similarities(sample, overlap_rows(index, sample)).ravel())

    def __call__(self, rows: NDArray[np.int64]) -> LevelsOfSome:
        """Prepare some rows: count common tokens, once and only if they are asked for."""
        counted: list[NDArray[Any]] = []

        def levels(places: NDArray[np.int64], thresholds: Floats) -> Levels:
            share = np.mean(self._sample >= thresholds[0]) if len(self._sample) else 0.0
            if share < SPARSE_PARTNERS and thresholds[0] > 0:
                return self._listed(rows[places], thresholds)
            if not counted:
                counted.append(overlap_rows(self.index, rows))
            return self._looked_up(rows[places], counted[0][places], thresholds)

        return levels

    def _listed(self, rows: NDArray[np.int64], thresholds: Floats) -> Levels:
        result = levels_reached(np.zeros((len(rows), self.index.n_rows), dtype=np.float32), thresholds)
        place = np.empty(self.index.n_rows, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        for block in qualifying_partners(self.index, rows, float(thresholds[0]), workers=1):
            result[place[block.i], block.j] = levels_reached(block.common / block.union, thresholds)
        return result

    def _looked_up(self, rows: NDArray[np.int64], common: NDArray[Any], thresholds: Floats) -> Levels:
        largest = int(common.max(initial=0))
        if len(self._sizes) * (largest + 1) > _LARGEST_TABLE:
            return levels_reached(self._similarities(rows, common), thresholds)
        start = self._size_place * (largest + 1)
        tables: dict[int, Levels] = {}
        overlaps = np.arange(largest + 1)
        result = np.empty(common.shape, dtype=levels_reached(np.zeros(0), thresholds).dtype)
        for row, size in enumerate(self._size_of_row[rows].tolist()):
            if size not in tables:
                union = size + self._sizes[:, None] - overlaps
                similarity = np.divide(overlaps, union, out=np.full(union.shape, np.nan), where=union > 0)
                tables[size] = levels_reached(similarity, thresholds).ravel()
            np.take(tables[size], start + common[row], out=result[row])
        return result

    def _similarities(self, rows: NDArray[np.int64], common: NDArray[Any]) -> NDArray[np.float64]:
        union = self._size_of_row[rows][:, None] + self._size_of_row[None, :] - common.astype(np.int32)
        similarity = np.full(common.shape, np.nan)
        np.divide(common, union, out=similarity, where=union > 0)
        return similarity
