"""The threshold curve: at each quantile level, how many problems of a domain have K partners in every class.

A dense pass over row blocks, exact for the similarities it is given; `threshold_curve` is the scan and
`summary_histogram` the distribution whose quantiles it tries. Both take the rows from callables, so they hold one
block at a time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
Rows = Callable[[npt.NDArray[np.int64]], Floats]

ROWS_AT_ONCE = 256


def summary_histogram(
    rows: Rows, membership: npt.NDArray[np.bool_], *, rows_at_once: int = ROWS_AT_ONCE
) -> list[tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]]:
    """Count the pairs (problem of a domain, any other problem) by their exact similarity.

    Parameters
    ----------
    rows : callable
        Problem numbers, shape (n,) -> similarities to all problems, shape (n, N); NaN where there is none.
    membership : bool array, shape (N, n_domains)
        Which problem bears which domain.

    Returns
    -------
    list of (values, counts), one a domain
        Distinct similarities ascending, and the ordered pairs that have each. Pairs without a similarity are left
        out, as is a problem with itself.
    """
    n_domains = membership.shape[1]
    found: list[dict[float, int]] = [{} for _ in range(n_domains)]
    bearing = np.flatnonzero(membership.any(axis=1))
    for start in range(0, len(bearing), rows_at_once):
        chosen = bearing[start : start + rows_at_once]
        similarity = np.asarray(rows(chosen), dtype=np.float64)
        similarity[np.arange(len(chosen)), chosen] = np.nan
        for domain in range(n_domains):
            own = similarity[membership[chosen, domain]].ravel()
            values, counts = np.unique(own[~np.isnan(own)], return_counts=True)
            for value, count in zip(values.tolist(), counts.tolist(), strict=True):
                found[domain][value] = found[domain].get(value, 0) + count
    return [
        (np.array(sorted(counts), dtype=np.float64), np.array([counts[v] for v in sorted(counts)], dtype=np.int64))
        for counts in found
    ]


def threshold_curve(
    topic_rows: Rows,
    summary_rows: Rows,
    membership: npt.NDArray[np.bool_],
    topic_grid: Floats,
    summary_grid: Floats,
    k: int,
    *,
    rows_at_once: int = ROWS_AT_ONCE,
) -> npt.NDArray[np.int64]:
    """Count the eligible problems of every domain at every point of its grid.

    At grid point g a pair is topic-relevant when its topic similarity is at least ``topic_grid[d, g]`` and
    summary-relevant when its summary similarity is at least ``summary_grid[d, g]``. A problem of domain d is eligible
    there when it has at least `k` partners, of any domain, in each of the classes topic-only, summary-only and both
    (SABER-Math, selecting the similarity thresholds).

    Parameters
    ----------
    topic_rows, summary_rows : callable
        Problem numbers, shape (n,) -> similarities to all problems, shape (n, N); NaN never qualifies.
    membership : bool array, shape (N, n_domains)
    topic_grid, summary_grid : float arrays, shape (n_domains, n_points)
        Ascending along a row; NaN rows (a domain without pairs) give zero.
    k : int

    Returns
    -------
    int64 array, shape (n_domains, n_points)
    """
    n_domains, n_points = topic_grid.shape
    eligible = np.zeros((n_domains, n_points), dtype=np.int64)
    bearing = np.flatnonzero(membership.any(axis=1))
    for start in range(0, len(bearing), rows_at_once):
        chosen = bearing[start : start + rows_at_once]
        topic, summary = topic_rows(chosen), summary_rows(chosen)
        for domain in range(n_domains):
            own = np.flatnonzero(membership[chosen, domain])
            if not len(own) or np.isnan(topic_grid[domain]).any() or np.isnan(summary_grid[domain]).any():
                continue
            reached = (
                _points_reached(topic[own], topic_grid[domain]),
                _points_reached(summary[own], summary_grid[domain]),
            )
            for level in reached:
                level[np.arange(len(own)), chosen[own]] = 0
            by_topic, by_summary = (_at_least(level, n_points) for level in reached)
            both = _at_least(np.minimum(*reached), n_points)
            fewest = np.minimum(np.minimum(by_topic - both, by_summary - both), both)
            eligible[domain] += (fewest >= k).sum(axis=0)
    return eligible


def _points_reached(similarity: Floats, grid: Floats) -> npt.NDArray[np.int64]:
    """How many of the ascending grid thresholds each similarity reaches (NaN: none)."""
    reached = np.searchsorted(grid, similarity.ravel(), side="right").reshape(similarity.shape)
    reached[np.isnan(similarity)] = 0
    return reached


def _at_least(level: npt.NDArray[np.int64], n_points: int) -> npt.NDArray[np.int64]:
    """Row-wise count of pairs that reach each grid point, shape (n, n_points)."""
    n, _ = level.shape
    flat = (level + np.arange(n)[:, None] * (n_points + 1)).ravel()
    counts = np.bincount(flat, minlength=n * (n_points + 1)).reshape(n, n_points + 1)
    return counts[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
