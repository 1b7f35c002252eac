"""Choosing the ridge by marginal likelihood over all queries (``ridge = auto``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from annotate.ratings.bradley_terry import minimise, one_thread
from annotate.ratings.comparisons import Comparisons, RealArray, structure
from annotate.ratings.likelihood import blocks, curvature, objective

_LOWEST, _HIGHEST = 1e-3, 1e3


@dataclass(frozen=True)
class RidgeChoice:
    """The ridge of largest marginal likelihood.

    Attributes
    ----------
    ridge
        λ.
    log_evidence
        Natural logarithm of the (Laplace) marginal likelihood of all judgments at λ.
    at_bound
        The maximum lies at an end of the searched range [0.001, 1000]: the judgments say only that the
        ridge is at most, or at least, this.
    """

    ridge: float
    log_evidence: float
    at_bound: bool


def log_evidence(comparisons: Comparisons, ridge: float) -> RealArray:
    """Laplace approximation of each query's log marginal likelihood, shape (queries,).

    The ridge is the precision of a normal prior, θ ~ N(0, I/λ) over the n items of a query. With θ̂ the
    minimum and H the Hessian of −log L there,

        log P(judgments | λ) ≈ log L(θ̂) − (λ/2) Σθ̂² + (n/2) log λ − ½ log det(H + λI).

    An item without a judgment adds nothing.
    """
    total = np.zeros(len(comparisons.query_sizes))
    for block in blocks(comparisons, structure(comparisons)):
        strengths, _ = minimise(block, ridge)
        n_items = (block.items >= 0).sum(axis=1)
        with one_thread():
            _, log_determinant = np.linalg.slogdet(curvature(block, strengths, ridge))
        penalised = objective(block, strengths, ridge, block.weight)
        total[block.queries] = -penalised + 0.5 * n_items * np.log(ridge) - 0.5 * log_determinant
    return total


def choose_ridge(comparisons: Comparisons, on_step: Callable[[float, float], None] | None = None) -> RidgeChoice:
    """Maximise the summed log evidence over λ in [0.001, 1000] by bounded Brent search in log λ.

    Parameters
    ----------
    comparisons
        At least one judgment.
    on_step
        Called with (λ, log evidence) after each evaluation, for a progress display.

    Raises
    ------
    ValueError
        When there is no judgment of positive weight.
    """
    if not (comparisons.weight > 0).any():
        raise ValueError("The ridge cannot be chosen without judgments.")

    def loss(log_ridge: float) -> float:
        value = float(log_evidence(comparisons, float(np.exp(log_ridge))).sum())
        if on_step is not None:
            on_step(float(np.exp(log_ridge)), value)
        return -value

    low, high = float(np.log(_LOWEST)), float(np.log(_HIGHEST))
    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-3})
    at_bound = bool(min(found.x - low, high - found.x) < 0.01)
    return RidgeChoice(float(np.exp(found.x)), float(-found.fun), at_bound)
