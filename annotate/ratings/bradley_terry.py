"""Ridge Bradley-Terry: strengths, standard errors and ratings of the items of many queries.

Model (SABER-Math, Bradley-Terry estimation): P(i before j) = 1 / (1 + exp(θ_j − θ_i)) with log strengths θ,
one independent model a query. Estimated by minimising

    −log L(θ) + (λ/2) Σ θ²,   a tie counting half a win to each side,

λ being scikit-learn's 1/C without intercept and twice choix's alpha. The minimum sums to 0 in every
connected component of the comparison graph. Newton's method runs on blocks of queries padded to one size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from annotate.ratings.comparisons import BoolArray, Comparisons, IntArray, RealArray, Structure, structure
from annotate.ratings.likelihood import (
    Block,
    blocks,
    curvature,
    flat_part,
    gradient,
    information,
    objective,
    without,
)

_MAX_STEPS = 100
_TOLERANCE = 1e-10
_WELL_CONDITIONED = 0.05  # from this ridge on conjugate gradients need a dozen products, not a factorisation


@dataclass(frozen=True)
class Fit:
    """Strengths of all items of all queries.

    Attributes
    ----------
    log_strength
        Shape (items,): θ, natural logarithm of the strength, summing to 0 over each component. NaN for an
        item without a judgment, and at λ = 0 for every item of a query with separable items, whose
        maximum-likelihood estimate does not exist.
    std_error
        Shape (items,): square root of the diagonal of (H + λI)⁻¹, H the Hessian of −log L; for λ = 0 of
        H's pseudo-inverse (sum-zero in each component). NaN where θ is.
    ridge
        λ.
    graph
        Components and separable items.
    n_comparisons
        Shape (items,): judgments of each item.
    converged
        Shape (queries,): the gradient's largest entry fell below 1e-10 times the largest weight of an
        item (at least 1).
    """

    log_strength: RealArray
    std_error: RealArray
    ridge: float
    graph: Structure
    n_comparisons: IntArray
    converged: BoolArray


def fit(comparisons: Comparisons, ridge: float = 1.0, errors: bool = True, start: RealArray | None = None) -> Fit:
    """Fit every query.

    Parameters
    ----------
    comparisons
        The judgments.
    ridge
        λ, at least 0; 0 is maximum likelihood.
    errors
        Also compute standard errors (NaN otherwise); they take about half of the time.
    start
        Shape (items,): first guess, NaN counting as 0; it saves time, never changes the answer.

    Raises
    ------
    ValueError
        When `ridge` is negative or not finite.
    """
    if not (np.isfinite(ridge) and ridge >= 0):
        raise ValueError(f"The ridge must be a finite number of at least 0, not {ridge}.")
    graph = structure(comparisons)
    counts = comparisons.counts()
    theta = np.full(comparisons.n_items, np.nan)
    error = np.full(comparisons.n_items, np.nan)
    converged = np.ones(len(comparisons.query_sizes), dtype=bool)
    estimable = np.ones(len(comparisons.query_sizes), dtype=bool)
    if ridge == 0:
        # Separable items would run away to infinity: leave the whole query out instead of a number
        # that says only when the iteration was stopped.
        estimable[comparisons.item_query[graph.separable]] = False
    for block in blocks(comparisons, graph):
        block = without(block, ~estimable[block.queries])
        real = block.items >= 0
        guess = None if start is None else np.where(real, np.nan_to_num(start[block.items]), 0.0)
        strengths, done = minimise(block, ridge, guess)
        theta[block.items[real]] = strengths[real]
        converged[block.queries] = done
        if errors:
            covariance = _inverse(curvature(block, strengths, ridge))
            variance = np.diagonal(covariance, axis1=1, axis2=2)[real]
            error[block.items[real]] = np.sqrt(np.maximum(variance - flat_part(block, ridge)[real], 0.0))
    unknown = (counts == 0) | ~estimable[comparisons.item_query]
    theta[unknown] = error[unknown] = np.nan
    return Fit(theta, error, float(ridge), graph, counts, converged & estimable)


def minimise(
    block: Block, ridge: float, start: RealArray | None = None, weight: RealArray | None = None
) -> tuple[RealArray, BoolArray]:
    """Minimise one block's objective by Newton's method with step halving.

    Parameters
    ----------
    block
        The queries.
    ridge
        λ ≥ 0; for λ = 0 the block must hold no separable items of positive weight.
    start
        Shape (queries, items): first guess, zeros by default.
    weight
        Shape (judgments,): weights in place of the block's own (resampling).

    Returns
    -------
    tuple
        θ of shape (queries, items), 0 in padding, and whether each query has converged.
    """
    weight = block.weight if weight is None else weight
    theta = np.zeros(block.shape) if start is None else start.copy()
    played = np.bincount(block.first, weight, theta.size) + np.bincount(block.second, weight, theta.size)
    scale = np.maximum(1.0, played.reshape(block.shape).max(axis=1, initial=0.0))
    value = objective(block, theta, ridge, weight)
    for _ in range(_MAX_STEPS):
        slope = gradient(block, theta, ridge, weight)
        moving = np.abs(slope).max(axis=1, initial=0.0) > _TOLERANCE * scale
        if not moving.any():
            break
        slope[~moving] = 0.0
        step = _newton_step(block, theta, ridge, weight, slope)
        size = np.ones(block.shape[0])
        for _ in range(40):
            trial = theta - size[:, None] * step
            trial_value = objective(block, trial, ridge, weight)
            worse = trial_value > value + 1e-12 * (1.0 + np.abs(value))
            if not worse.any():
                break
            size[worse] *= 0.5
        theta, value = trial, trial_value
    final = np.abs(gradient(block, theta, ridge, weight)).max(axis=1, initial=0.0)
    return theta, final <= _TOLERANCE * scale


def _newton_step(block: Block, theta: RealArray, ridge: float, weight: RealArray, slope: RealArray) -> RealArray:
    """Solve (H + λI) step = slope, to four digits by conjugate gradients where that is fast."""
    if ridge < _WELL_CONDITIONED:
        with one_thread():
            exact = np.linalg.solve(curvature(block, theta, ridge, weight), slope[..., None])
        return np.asarray(exact[..., 0])
    bending = information(block, theta, weight)
    size = theta.size
    diagonal = np.bincount(block.first, bending, size) + np.bincount(block.second, bending, size)
    scale = 1.0 / (diagonal.reshape(block.shape) + ridge)  # Jacobi preconditioner
    step = np.zeros(block.shape)
    residual = slope.copy()
    scaled = scale * residual
    direction: RealArray = scaled
    power = (residual * scaled).sum(axis=1)
    goal = 1e-8 * power
    for _ in range(block.shape[1]):
        flat = direction.ravel()
        flow = bending * (flat[block.first] - flat[block.second])
        pushed = np.bincount(block.first, flow, size) - np.bincount(block.second, flow, size)
        image = pushed.reshape(block.shape) + ridge * direction
        along = (direction * image).sum(axis=1)
        length = np.where(power > goal, power / np.where(along > 0, along, 1.0), 0.0)[:, None]
        step += length * direction
        residual -= length * image
        scaled = scale * residual
        former, power = power, (residual * scaled).sum(axis=1)
        if (power <= goal).all():
            break
        direction = scaled + (power / np.where(former > 0, former, 1.0))[:, None] * direction
    return step


def one_thread() -> threadpool_limits:
    """Keep BLAS to one thread: matrices this small lose more to handing over than they gain."""
    return threadpool_limits(limits=1, user_api="blas")


def _inverse(matrix: RealArray) -> RealArray:
    with one_thread():
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
