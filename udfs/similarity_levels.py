"""Similarities as numbers of thresholds reached: what the threshold curve counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Levels: TypeAlias = NDArray[np.unsignedinteger[Any]]
LevelsOfSome: TypeAlias = Callable[[NDArray[np.int64], Floats], Levels]

SPARSE = 1 / 8
"""Below this share of non-zero levels it is quicker to pick them out."""
_BUCKETS = 1 << 14
_ROUNDING = 1 / 64
"""Share of a bucket by which a value's place may be off; 2**-52 of 1 is less, down to the narrowest span."""
_NARROW = 1e-9
_CHUNK = 1 << 16


class Signal(Protocol):
    """A similarity of problems, as the curve asks for it."""

    def __call__(self, rows: NDArray[np.int64]) -> LevelsOfSome:
        """Prepare some rows.

        The result maps (places within `rows`, ascending thresholds) to the number of thresholds that the
        similarity of these rows with each of the N problems reaches: unsigned, shape (n, N), 0 where there is
        no similarity. Nobody looks at a row's level with itself. The array is the caller's to change.
        """
        ...


@dataclass(frozen=True)
class SimilarityRows:
    """A `Signal` from rows of similarities.

    Attributes
    ----------
    rows : callable
        Problem numbers, shape (n,) -> similarities, float, shape (n, M); NaN where there is none.
    columns : int array, shape (N,), optional
        Column of each problem, where problems share columns (M distinct topic sets); by default M = N.
    """

    rows: Callable[[NDArray[np.int64]], Floats]
    columns: NDArray[Any] | None = None

    def __call__(self, rows: NDArray[np.int64]) -> LevelsOfSome:
        similarity = self.rows(rows)

        def levels(places: NDArray[np.int64], thresholds: Floats) -> Levels:
            if self.columns is None:
                return levels_reached(similarity[places], thresholds)
            search = LevelSearch(thresholds)
            result = np.empty((len(places), len(self.columns)), dtype=search.kind)
            for place, out in zip(places.tolist(), result, strict=True):  # row by row: in the cache
                np.take(search(similarity[place]), self.columns, out=out, mode="clip")
            return result

        return levels


def levels_reached(similarity: Floats, thresholds: Floats) -> Levels:
    """How many of the ascending thresholds each similarity reaches.

    Parameters
    ----------
    similarity : float, any shape
        Finite, or NaN, which reaches none.
    thresholds : float64, shape (n_levels,)
        Ascending; equal neighbours are fine.

    Returns
    -------
    uint8 (uint16 above 255 levels), the shape of `similarity`
    """
    return LevelSearch(thresholds)(similarity)


class LevelSearch:
    """`levels_reached` for one list of thresholds, by a table of buckets of equal width."""

    def __init__(self, thresholds: Floats) -> None:
        thresholds = np.asarray(thresholds, dtype=np.float64)
        self.kind: type[np.unsignedinteger[Any]] = np.uint8 if len(thresholds) < 256 else np.uint16
        self._is_empty = not len(thresholds)
        if self._is_empty:
            return
        self._distinct = np.unique(thresholds)
        self._below = np.append(self._distinct, np.inf)
        self._count = np.searchsorted(thresholds, np.append(-np.inf, self._distinct), side="right")
        self._low = self._distinct[0]
        span = self._distinct[-1] - self._low
        # Thresholds closer than this share bucket 0 and are looked at one by one.
        self._scale = _BUCKETS / span if span > _NARROW else np.float64(0.0)
        # The edges lie a little low: a value that rounding put into the next bucket must not find a threshold
        # above itself counted there.
        width = span / _BUCKETS
        edges = self._low + (np.arange(_BUCKETS + 2) - _ROUNDING) * width
        edges[0] = self._low
        self._table = np.searchsorted(self._distinct, edges, side="right")

    def __call__(self, similarity: Floats) -> Levels:
        """How many thresholds each similarity reaches."""
        reached = np.zeros(similarity.shape, dtype=self.kind)
        if self._is_empty:
            return reached
        values, found = similarity.reshape(-1), reached.reshape(-1)
        for start in range(0, len(values), _CHUNK):  # what stays in the cache is several times as fast
            self._write(values[start : start + _CHUNK], found[start : start + _CHUNK])
        return reached

    def _write(self, values: Floats, out: Levels) -> None:
        """Write the levels of the values into `out`, which is zero."""
        # Comparing in the similarities' own type is quicker; the limit is rounded down, and hits are tested again.
        limit = values.dtype.type(self._low)
        if limit > self._low:
            limit = np.nextafter(limit, values.dtype.type(-np.inf))
        hits = np.flatnonzero(values >= limit)
        reached = values[hits]
        if limit < self._low:
            exact = reached >= self._low
            hits, reached = hits[exact], reached[exact]
        if len(hits) < len(values):
            out[hits] = self._levels(reached)
        else:
            out[:] = self._levels(reached)

    def _levels(self, values: Floats) -> NDArray[np.intp]:
        """Levels of values that reach the lowest threshold."""
        bucket = np.minimum((values - self._low) * self._scale, _BUCKETS + 1).astype(np.intp)
        found = self._table.take(bucket)
        open_places = np.flatnonzero(self._below.take(found) <= values)
        while len(open_places):
            found[open_places] += 1
            open_places = open_places[self._below[found[open_places]] <= values[open_places]]
        return np.asarray(self._count.take(found))
