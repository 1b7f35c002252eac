"""Uncertainty of ratings: draws from the posterior, and refits on resampled judgments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from annotate.ratings.bradley_terry import Fit, fit, one_thread
from annotate.ratings.comparisons import Comparisons, RealArray
from annotate.ratings.likelihood import blocks, curvature
from annotate.tournament.keys import Uint64Array, mix, round_keys, uniforms


def posterior_draws(comparisons: Comparisons, fitted: Fit, keys: Uint64Array, numbers: Sequence[int]) -> RealArray:
    """Draw strengths from the normal approximation of the posterior, N(θ̂, (H + λI)⁻¹).

    Parameters
    ----------
    comparisons, fitted
        The judgments and their fit with λ > 0.
    keys
        Shape (items,): hash(seed, query, document) of each item; the same keys give the same draws.
    numbers
        Numbers of the draws: a number gives the same draw whichever others are asked for.

    Returns
    -------
    numpy.ndarray
        Shape (draws, items); NaN where θ̂ is.

    Raises
    ------
    ValueError
        For λ = 0, where the posterior is improper.
    """
    if fitted.ridge <= 0:
        raise ValueError("Posterior draws need a ridge above 0: without it the posterior is improper.")
    drawn = np.full((len(numbers), comparisons.n_items), np.nan)
    for block in blocks(comparisons, fitted.graph):
        real = block.items >= 0
        centre = np.where(real, np.nan_to_num(fitted.log_strength[block.items]), 0.0)
        with one_thread():
            root = np.linalg.cholesky(curvature(block, centre, fitted.ridge))
        own_keys = np.where(real, keys[block.items], np.uint64(0))
        noise = np.stack([ndtri(uniforms(round_keys(own_keys, draw))) for draw in numbers], axis=2)
        # H + λI = L Lᵀ, so solving Lᵀx = z turns unit noise into noise of covariance (H + λI)⁻¹.
        with one_thread():
            shifted = centre[..., None] + np.linalg.solve(root.transpose(0, 2, 1), noise)
        drawn[:, block.items[real]] = shifted[real].T
    drawn[:, np.isnan(fitted.log_strength)] = np.nan
    return drawn


def resampled_weights(comparisons: Comparisons, query_keys: Uint64Array, replicate: int) -> RealArray:
    """Draw each query's judgments with replacement, as many as it has.

    Parameters
    ----------
    comparisons
        Judgments of weight 1; a query's judgments in an order of its own (by ids), which the draw follows.
    query_keys
        Shape (queries,): hash(seed, query) of each query.
    replicate
        Number of the replicate.

    Returns
    -------
    numpy.ndarray
        Shape (judgments,): how often each judgment was drawn, times its weight.
    """
    n_judgments = len(comparisons.first)
    query = comparisons.item_query[comparisons.first]
    order = np.argsort(query, kind="stable")
    counts = np.bincount(query, minlength=len(comparisons.query_sizes))
    start = np.cumsum(counts) - counts
    grouped = query[order]
    slot = np.arange(n_judgments) - start[grouped]
    keys = round_keys(mix(query_keys[grouped] ^ mix(slot.astype(np.uint64))), replicate)
    drawn = start[grouped] + np.floor(uniforms(keys) * counts[grouped]).astype(np.int64)
    times = np.zeros(n_judgments)
    times[order] = np.bincount(drawn, minlength=n_judgments)
    return times * comparisons.weight


def replicates(
    comparisons: Comparisons, fitted: Fit, query_keys: Uint64Array, numbers: Iterable[int]
) -> Iterator[RealArray]:
    """Refit on judgments resampled within queries; yield θ of each numbered replicate, shape (items,).

    The ridge stays that of `fitted`. An item none of whose judgments was drawn is NaN, as is, for λ = 0, a
    query whose draw has separable items.
    """
    for replicate in numbers:
        weight = resampled_weights(comparisons, query_keys, replicate)
        drawn = replace(comparisons, weight=weight)
        yield fit(drawn, fitted.ridge, errors=False, start=fitted.log_strength).log_strength
