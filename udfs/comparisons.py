"""Paired comparisons of runs: which pairs are comparable, and everything that is said of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from udfs.exact_tests import mcnemar
from udfs.resampling import bootstrap_means, holm, paired_p_values, percentile_interval, replicates_for

RealArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two columns of a score matrix; the first has the higher mean (of equal ones, the earlier column).

    Attributes
    ----------
    compared
        ``systems``: two runs of one setting. ``settings``: two runs of one system.
    family
        Pairs among which p-values are corrected: a setting and scope, or a scope.
    """

    first: int
    second: int
    compared: str
    family: str


def comparable_pairs(runs: Sequence[tuple[str, str, str, str]], means: RealArray) -> list[Pair]:
    """Pair runs of one scope that differ in system alone or in setting alone.

    Parameters
    ----------
    runs
        (system, setting, scope, idf) of each column. Two runs of one setting are two systems, whether it is the
        name, the parameters or the source of lexical statistics that differs.
    means
        Mean score of each column.
    """
    pairs = []
    for i, (system, setting, scope, idf) in enumerate(runs):
        for j in range(i + 1, len(runs)):
            other_system, other_setting, other_scope, other_idf = runs[j]
            if scope != other_scope:
                continue
            better, worse = (j, i) if means[j] > means[i] else (i, j)
            if setting == other_setting:
                pairs.append(Pair(better, worse, "systems", f"{setting} {scope}"))
            elif (system, idf) == (other_system, other_idf):
                pairs.append(Pair(better, worse, "settings", str(scope)))
    return sorted(pairs, key=lambda pair: (pair.compared, pair.family, pair.first, pair.second))


def compare(
    values: RealArray, pairs: Sequence[Pair], n_replicates: int, seed: int, *names: str
) -> dict[str, npt.NDArray[np.generic]]:
    """Compare the two runs of each pair, query by query.

    Parameters
    ----------
    values
        Shape (queries, runs), no NaN.
    pairs
        Columns to compare.
    n_replicates
        Replicates of the interval, and at least so many of the p-value: it takes 100 a pair of the largest family,
        at most 100,000, so that Holm's correction can leave it small.
    seed, *names
        What the draws depend on.

    Returns
    -------
    dict
        Arrays of shape (pairs,): difference of means with its 95 % interval (low, high), queries on which the first
        is better, worse or equal, p_value of the paired bootstrap, p_holm, p_sign_test (exact) and n_replicates
        (of the p-value).
    """
    first = np.array([pair.first for pair in pairs], dtype=np.int64)
    second = np.array([pair.second for pair in pairs], dtype=np.int64)
    means = bootstrap_means(values, n_replicates, seed, *names)
    interval = percentile_interval(means[:, first] - means[:, second])
    # Scores are rounded to 12 decimals, so equality is meant.
    n_better = (values[:, first] > values[:, second]).sum(axis=0)
    n_worse = (values[:, first] < values[:, second]).sum(axis=0)
    families = [f"{pair.compared} {pair.family}" for pair in pairs]
    largest = max((families.count(family) for family in set(families)), default=0)
    drawn = replicates_for(largest, n_replicates)
    p_value = paired_p_values(values, first, second, drawn, seed, *names)
    return {
        "difference": (values.mean(axis=0)[first] - values.mean(axis=0)[second]).round(12),
        "low": interval.low.round(12),
        "high": interval.high.round(12),
        "n_better": n_better,
        "n_worse": n_worse,
        "n_equal": len(values) - n_better - n_worse,
        "p_value": p_value,
        "p_holm": _by_family(p_value, families),
        "p_sign_test": mcnemar(n_better, n_worse),
        "n_replicates": np.full(len(pairs), drawn),
    }


def _by_family(p_values: RealArray, families: Sequence[str]) -> RealArray:
    adjusted = np.empty(len(p_values))
    for family in set(families):
        members = np.array([name == family for name in families])
        adjusted[members] = holm(p_values[members])
    return adjusted
