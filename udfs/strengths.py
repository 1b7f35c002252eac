"""Bradley-Terry strengths of one query's documents, for analyses; ratings that land are fitted by ``saber rate``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import expit

RealArray = npt.NDArray[np.float64]

_STEPS, _TOLERANCE = 100, 1e-10


def fit_strengths(wins: RealArray, ridge: float = 1.0) -> RealArray:
    """Minimise -log L + (ridge / 2) Σθ² by Newton's method.

    Parameters
    ----------
    wins
        Shape (documents, documents): shares of wins of the row's document over the column's (a tie is half a win to
        each side), 0 on the diagonal.
    ridge
        λ > 0; the published setting is 1.

    Returns
    -------
    numpy.ndarray
        θ, shape (documents,), summing to 0; documents without a comparison are 0.

    Raises
    ------
    ValueError
        For a ridge that is not above 0.
    """
    if ridge <= 0:
        raise ValueError("the ridge must be above 0: without it strengths need not be finite")
    played = wins + wins.T
    won = wins.sum(axis=1)
    theta = np.zeros(len(wins))
    for _ in range(_STEPS):
        chance = expit(theta[:, None] - theta[None, :])
        slope = (played * chance).sum(axis=1) - won + ridge * theta
        if np.abs(slope).max(initial=0.0) < _TOLERANCE * max(1.0, float(played.sum(axis=1).max(initial=0.0))):
            break
        bending = played * chance * (1.0 - chance)
        curvature = np.diag(bending.sum(axis=1) + ridge) - bending
        # The logistic loss is self-concordant enough for whole steps once they are short.
        step = np.linalg.solve(curvature, slope)
        theta = theta - step / max(1.0, float(np.abs(step).max()) / 2.0)
    return np.asarray(theta - theta.mean())


def inversions(scores: RealArray, reference: RealArray) -> float:
    """Count the pairs that two lists of scores order differently.

    A pair that one of them ties and the other does not counts half; one that both tie does not count.

    Parameters
    ----------
    scores, reference
        Shape (documents,). Differences below 1e-9 are ties.
    """
    first, second = np.triu_indices(len(scores), k=1)
    one, other = (_signs(values[first] - values[second]) for values in (scores, reference))
    return float(np.abs(one - other).sum() / 2.0)


def _signs(differences: RealArray) -> RealArray:
    return np.sign(np.where(np.abs(differences) < 1e-9, 0.0, differences))
