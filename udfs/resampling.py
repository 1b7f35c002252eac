"""Bootstrap over queries: seeded draws, percentile intervals, paired comparisons, ranks.

Systems that answer the same queries are resampled with the same draws, so their differences are paired. A draw
depends on the seed and the names given alone: PCG64's raw stream is fixed by its definition, unlike what NumPy's
generators make of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RealArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_DRAWS_AT_ONCE = 4_000_000
_DECIMALS = 12  # products of matrices differ beyond this between machines and numbers of threads


@dataclass(frozen=True)
class Interval:
    """Ends of an interval, one a column of what was resampled."""

    low: RealArray
    high: RealArray


def seed_of(seed: int, *names: str) -> int:
    """Return a whole number of 128 bits that belongs to `seed` and `names`."""
    text = "\x1f".join([str(seed), *names])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def resampled_counts(n_queries: int, n_replicates: int, seed: int, *names: str) -> Iterator[RealArray]:
    """Draw queries with replacement, as many as there are, and count how often each came.

    Parameters
    ----------
    n_queries
        Size of the group; every replicate draws as many.
    n_replicates
        Number of replicates.
    seed, *names
        What the draw depends on.

    Yields
    ------
    numpy.ndarray
        Counts of some replicates, shape (replicates, queries); rows sum to `n_queries`. Fewer replicates are the
        beginning of more.

    Raises
    ------
    ValueError
        For an empty group.
    """
    if n_queries < 1:
        raise ValueError("a group without queries cannot be resampled")
    stream = np.random.PCG64(seed_of(seed, *names))
    at_once = max(1, _DRAWS_AT_ONCE // n_queries)
    for first in range(0, n_replicates, at_once):
        size = min(at_once, n_replicates - first)
        yield _counts(stream, size, n_queries)


def _counts(stream: np.random.PCG64, n_replicates: int, n_queries: int) -> RealArray:
    half = -(-n_queries // 2)  # a raw number of 64 bits gives two draws
    raw = stream.random_raw(n_replicates * half).reshape(n_replicates, half)
    words = np.concatenate([raw >> np.uint64(32), raw & np.uint64(0xFFFFFFFF)], axis=1)[:, :n_queries]
    drawn = ((words * np.uint64(n_queries)) >> np.uint64(32)).astype(np.int64)
    drawn += np.arange(n_replicates, dtype=np.int64)[:, None] * n_queries
    counts = np.bincount(drawn.ravel(), minlength=n_replicates * n_queries)
    return counts.reshape(n_replicates, n_queries).astype(np.float64)


def bootstrap_means(values: RealArray, n_replicates: int, seed: int, *names: str) -> RealArray:
    """Means of resampled queries.

    Parameters
    ----------
    values
        Shape (queries, systems): a score of every system on every query, no NaN.
    n_replicates, seed, *names
        See :func:`resampled_counts`.

    Returns
    -------
    numpy.ndarray
        Shape (replicates, systems), rounded to 12 decimals so that equal systems tie.
    """
    parts = [
        np.round(counts @ values / len(values), _DECIMALS)
        for counts in resampled_counts(len(values), n_replicates, seed, *names)
    ]
    return np.concatenate(parts) if parts else np.empty((0, values.shape[1]))


def percentile_interval(replicates: RealArray, level: float = 0.95) -> Interval:
    """Central interval of the replicates of each column, between order statistics linearly (Efron's percentiles).

    Parameters
    ----------
    replicates
        Shape (replicates, columns).
    level
        Coverage aimed at, between 0 and 1.
    """
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(replicates, [tail, 1.0 - tail], axis=0)
    return Interval(low, high)


def ranks(scores: RealArray) -> IntArray:
    """Rank of every system within each row: 1 + how many score more, so equal scores share the better rank.

    Parameters
    ----------
    scores
        Shape (rows, systems).
    """
    ordered = np.sort(-scores, axis=1)
    found = [np.searchsorted(row, -own, side="left") for row, own in zip(ordered, scores, strict=True)]
    return np.asarray(found, dtype=np.int64).reshape(scores.shape) + 1


def rank_interval(replicates: RealArray, level: float = 0.95) -> Interval:
    """Smallest and largest rank of each system, the outermost (1 - level) / 2 of the replicates cut off.

    Ends are ranks that occur: the interval holds at least `level` of the replicates.
    """
    tail = (1.0 - level) / 2.0
    found = ranks(replicates)
    low = np.quantile(found, tail, axis=0, method="lower")
    high = np.quantile(found, 1.0 - tail, axis=0, method="higher")
    return Interval(low.astype(np.float64), high.astype(np.float64))


def replicates_for(n_pairs: int, least: int = 1000, most: int = 100_000) -> int:
    """Replicates that let the smallest p-value stay below 0.05 after Holm's correction over `n_pairs` pairs.

    A p-value of a bootstrap cannot fall below 2 / (replicates + 1); 100 replicates a pair leave it 0.02 at most.
    """
    return min(max(least, 100 * n_pairs), most)


def paired_p_values(
    values: RealArray, first: IntArray, second: IntArray, n_replicates: int, seed: int, *names: str
) -> RealArray:
    """Two-sided p-values of the paired bootstrap for pairs of systems.

    Twice the share of replicates in which the difference of means lies on the other side of 0 (or at 0), the
    observed sample counted as one replicate, at most 1.

    Parameters
    ----------
    values
        Shape (queries, systems).
    first, second
        Shape (pairs,): columns of the systems compared.

    Returns
    -------
    numpy.ndarray
        Shape (pairs,), at least 2 / (replicates + 1).
    """
    below, above = np.zeros(len(first)), np.zeros(len(first))
    for counts in resampled_counts(len(values), n_replicates, seed, *names):
        # One row a system, so that a pair compares two contiguous rows.
        means = np.round(values.T @ counts.T / len(values), _DECIMALS)
        for at, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            below[at] += np.count_nonzero(means[i] <= means[j])
            above[at] += np.count_nonzero(means[i] >= means[j])
    return np.asarray(np.minimum(1.0, 2.0 * (1.0 + np.minimum(below, above)) / (n_replicates + 1.0)))


def holm(p_values: Sequence[float] | RealArray) -> RealArray:
    """Holm's step-down adjusted p-values of one family.

    The i-th smallest of m is multiplied by m - i + 1, made monotone and cut at 1 (Holm 1979).
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    scaled = given[order] * np.arange(len(given), 0, -1)
    adjusted = np.empty(len(given))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(scaled)) if len(given) else scaled
    return adjusted
