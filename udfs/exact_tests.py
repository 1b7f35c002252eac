"""Exact tests and chance levels from counts: no resampling, no approximation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

RealArray = npt.NDArray[np.float64]


def mcnemar(n_first_only: npt.ArrayLike, n_second_only: npt.ArrayLike) -> RealArray:
    """Two-sided p-value of McNemar's exact test on paired yes-or-no outcomes.

    Under the hypothesis the pairs in which just one of the two says yes split evenly: the p-value is twice the
    smaller binomial tail, at most 1. The same computation is the sign test of paired scores.

    Parameters
    ----------
    n_first_only, n_second_only
        Numbers of pairs in which only the first, or only the second, says yes.

    Raises
    ------
    ValueError
        For negative counts.
    """
    first, second = np.broadcast_arrays(np.asarray(n_first_only), np.asarray(n_second_only))
    if (first < 0).any() or (second < 0).any():
        raise ValueError("counts of discordant pairs must not be negative")
    return np.asarray(np.minimum(1.0, 2.0 * binom.cdf(np.minimum(first, second), first + second, 0.5)))


def chance_of_a_hit(n_documents: npt.ArrayLike, n_relevant: npt.ArrayLike, k: npt.ArrayLike) -> RealArray:
    """Chance that the first k of a random order hold at least one relevant document (hypergeometric).

    1 - C(n - r, k) / C(n, k), with k cut at n. As a product it is 1 - Π (1 - b / (n - i)) for i = 0 .. a - 1, where a
    and b are the smaller and the larger of r and k: exact to rounding in collections of any size.

    Parameters
    ----------
    n_documents, n_relevant, k
        Whole numbers, 0 <= n_relevant <= n_documents.

    Raises
    ------
    ValueError
        When there are more relevant documents than documents, or a count is negative.
    """
    n, r, first = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(n_documents, n_relevant, k))
    if (r > n).any() or (r < 0).any() or (first < 0).any():
        raise ValueError("n_relevant must lie between 0 and n_documents, and k must not be negative")
    first = np.minimum(first, n)
    fewer, more = np.minimum(r, first), np.maximum(r, first)
    log_missed = np.zeros(n.shape)
    for step in range(int(fewer.max(initial=0))):
        share = np.where(step < fewer, more / np.maximum(n - step, 1.0), 0.0)
        with np.errstate(divide="ignore"):  # a certain hit: log 0
            log_missed += np.log1p(-np.minimum(share, 1.0))
    return np.asarray(-np.expm1(log_missed))
