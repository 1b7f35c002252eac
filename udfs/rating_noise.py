"""What the uncertainty of ratings does to scores: nDCG under ratings refitted on resampled judgments."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

RealArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

NO_DOCUMENT = -1


def graded_ndcg(ratings: RealArray, rankings: IntArray, gain: str = "exp") -> RealArray:
    """nDCG of several rankings under several sets of ratings of one query's documents.

    Parameters
    ----------
    ratings
        Shape (replicates, documents); NaN (not rated in the replicate) gains nothing.
    rankings
        Shape (runs, k): documents in the order of each run, ``NO_DOCUMENT`` where the run has none or an unrated
        one.
    gain
        ``exp`` (2^rel - 1) or ``lin`` (rel).

    Returns
    -------
    numpy.ndarray
        Shape (replicates, runs); NaN in replicates without an ideal gain.
    """
    n_replicates, k = len(ratings), rankings.shape[1]
    known = np.nan_to_num(ratings)
    gains = np.exp2(known) - 1.0 if gain == "exp" else known
    padded = np.concatenate([gains, np.zeros((n_replicates, 1))], axis=1)  # column -1 is NO_DOCUMENT
    discounts = 1.0 / np.log2(np.arange(2, k + 2))
    best = -np.sort(-gains, axis=1)[:, :k]
    ideal = best @ discounts[: best.shape[1]]
    gained = (padded[:, rankings] * discounts).sum(axis=2)
    return np.asarray(np.divide(gained, ideal[:, None], out=np.full(gained.shape, np.nan), where=ideal[:, None] > 0))


@dataclass
class NoisyMeans:
    """Means over a group of queries, one a replicate: each draws queries with replacement, and a refit for each.

    Queries are added one at a time, so that scores of all queries need not be held at once.

    Parameters
    ----------
    counts
        Shape (replicates, queries): how often each replicate drew each query.
    n_refits
        Number of refits of each query's ratings. Refits of different queries have nothing to do with each other, so
        a replicate may take any one of each query: there can be more replicates than refits.
    n_runs
        Number of runs.
    """

    counts: RealArray
    n_refits: int
    n_runs: int
    _sum: RealArray = field(init=False)
    _weight: RealArray = field(init=False)
    _plain_sum: RealArray = field(init=False)
    _plain_weight: RealArray = field(init=False)

    def __post_init__(self) -> None:
        n_replicates = len(self.counts)
        self._sum, self._weight = np.zeros((n_replicates, self.n_runs)), np.zeros((n_replicates, 1))
        self._plain_sum, self._plain_weight = np.zeros((self.n_refits, self.n_runs)), np.zeros((self.n_refits, 1))

    def add(self, row: int, scores: RealArray) -> None:
        """Add the scores of the query of a row, shape (refits, runs); refits without a score are left out."""
        known = np.asarray(np.isfinite(scores).all(axis=1, keepdims=True))
        scores = np.where(known, scores, 0.0)
        replicate = np.arange(len(self.counts))
        # Replicates that would repeat a refit are shifted by another step for every query.
        chosen = (replicate + replicate // self.n_refits * row) % self.n_refits
        weight = self.counts[:, row, None] * known[chosen]
        self._sum += weight * scores[chosen]
        self._weight += weight
        self._plain_sum += scores
        self._plain_weight += known

    def resampled(self) -> RealArray:
        """Means over resampled queries, each under a refit of its ratings, shape (replicates, runs)."""
        return _divided(self._sum, self._weight)

    def ratings_alone(self) -> RealArray:
        """Means over all queries under each refit of the ratings, shape (refits, runs)."""
        return _divided(self._plain_sum, self._plain_weight)


def _divided(total: RealArray, weight: RealArray) -> RealArray:
    return np.asarray(np.divide(total, weight, out=np.full(total.shape, np.nan), where=weight > 0))


def centred_interval(replicates: RealArray, scores: RealArray, level: float = 0.95) -> tuple[RealArray, RealArray]:
    """Percentiles of the replicates, moved so that the replicates' mean lies at the score.

    Refits on resampled judgments are noisier than the fit itself, and noise lowers every run's nDCG: the replicates
    lie below the score as a whole. Their spread is what they tell.

    Parameters
    ----------
    replicates
        Shape (replicates, runs).
    scores
        Shape (runs,).

    Returns
    -------
    tuple
        Lower and upper ends, shape (runs,), within [0, 1].
    """
    tail = (1.0 - level) / 2.0
    low, high = np.nanquantile(replicates, [tail, 1.0 - tail], axis=0)
    shift = scores - np.nanmean(replicates, axis=0)
    return np.clip(low + shift, 0.0, 1.0), np.clip(high + shift, 0.0, 1.0)
