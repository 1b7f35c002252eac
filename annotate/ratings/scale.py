"""Ratings: log strengths rescaled within each query."""

from __future__ import annotations

import numpy as np

from annotate.ratings.comparisons import BoolArray, IntArray, RealArray

_EQUAL = 1e-6  # far above the solver's error, far below any difference a verdict makes


def rescale(log_strength: RealArray, query_sizes: IntArray, top: float = 5.0) -> tuple[RealArray, BoolArray]:
    """Map each query's strengths linearly to [0, top]: its weakest item to 0, its strongest to `top`.

    Parameters
    ----------
    log_strength
        Shape (items,): θ, items of a query together; NaN (not estimated) stays NaN and is left out.
    query_sizes
        Shape (queries,): items of each query.
    top
        Rating of the strongest item (SABER-Math: 5).

    Returns
    -------
    tuple
        Ratings of shape (items,), and which queries are degenerate: no two different strengths, so that no
        item can be rated and all its ratings are NaN.
    """
    query = np.repeat(np.arange(len(query_sizes)), query_sizes)
    known = np.isfinite(log_strength)
    lowest = np.full(len(query_sizes), np.inf)
    highest = np.full(len(query_sizes), -np.inf)
    np.minimum.at(lowest, query[known], log_strength[known])
    np.maximum.at(highest, query[known], log_strength[known])
    degenerate = ~(highest - lowest > _EQUAL)
    spread = np.where(degenerate, np.nan, highest - lowest)
    lowest = np.where(degenerate, np.nan, lowest)
    return top * (log_strength - lowest[query]) / spread[query], degenerate
