"""Thresholds from the data: at each quantile level, how many problems have K partners in every class.

At level p a pair is topic-relevant when its topic similarity is at least Q_topic(p) and summary-relevant when
its summary similarity is at least Q_summary(p), the domain's lower quantiles. A problem of the domain is
eligible there when it has K partners, in any domain, in each of the classes topic-only, summary-only and both
(SABER-Math, selecting the similarity thresholds).

Let a be the number of levels whose Q_topic a pair reaches, b the same for the summary. It is topic-relevant at
level g iff a > g, in class both iff min(a, b) > g, so three histograms a problem (of a, of b, of min(a, b)) give
the counts at all levels in one pass. Pairs below the lowest level have a = 0 or b = 0 and are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from udfs.ordered_map import ordered_map
from udfs.similarity_levels import SPARSE, Floats, Levels, Signal

Counts: TypeAlias = NDArray[np.int64]

_CHUNK = 1 << 20
"""Levels counted at a time: few enough to stay in the cache."""


def threshold_curve(
    topic: Signal,
    summary: Signal,
    membership: NDArray[np.bool_],
    topic_thresholds: Floats,
    summary_thresholds: Floats,
    minimum_partners: int,
    *,
    text_of_problem: NDArray[Any] | None = None,
    memory_budget: int = 1 << 30,
    workers: int = 2,
    progress: Callable[[int, int], None] | None = None,
) -> Counts:
    """Count the eligible problems of every domain at every level.

    Parameters
    ----------
    topic, summary : Signal
    membership : bool array, shape (N, n_domains)
        Which problem bears which domain; several or none.
    topic_thresholds, summary_thresholds : float64, shape (n_domains, n_levels)
        Lower quantiles, ascending along a row. A row with NaN (a domain without pairs) gives zeros.
    minimum_partners : int
        K, at least 1.
    text_of_problem : int, shape (N,), optional
        Problems with the same number have the same text and are no partners of each other.
    memory_budget : int
        Bytes, decides how many rows are worked on at a time.
    workers : int
        Threads.
    progress : callable, optional
        Called with (rows done, rows in all).

    Returns
    -------
    int64, shape (n_domains, n_levels)

    Raises
    ------
    ValueError
        For K below 1, thresholds that fall, or shapes that do not fit.
    """
    membership = np.asarray(membership, dtype=bool)
    n, n_domains = membership.shape
    _check(n_domains, topic_thresholds, summary_thresholds, minimum_partners)
    known = ~(np.isnan(topic_thresholds).any(axis=1) | np.isnan(summary_thresholds).any(axis=1))
    eligible = np.zeros(topic_thresholds.shape, dtype=np.int64)
    # Rows of the same domains next to each other: their levels are found together.
    asked = np.flatnonzero((membership & known).any(axis=1))
    asked = asked[np.lexsort(membership[asked].T)] if n_domains else asked
    texts = np.arange(n) if text_of_problem is None else np.asarray(text_of_problem)
    copies = _Copies(texts)
    # Levels of both signals and their minimum, and up to 16 bytes a pair of similarities and their search.
    at_once = max(1, min(512, memory_budget // (24 * max(n, 1)) // workers))

    def work(start: int) -> tuple[int, Counts]:
        rows = asked[start : start + at_once]
        topic_levels, summary_levels = topic(rows), summary(rows)
        part = np.zeros_like(eligible)
        for domain in np.flatnonzero(known & membership[rows].any(axis=0)).tolist():
            places = np.flatnonzero(membership[rows, domain])
            a = topic_levels(places, topic_thresholds[domain])
            b = summary_levels(places, summary_thresholds[domain])
            for levels in (a, b):
                copies.clear(levels, rows[places])
            part[domain] = _eligible(a, b, topic_thresholds.shape[1], minimum_partners)
        return len(rows), part

    done = 0
    for n_rows, part in ordered_map(work, range(0, len(asked), at_once), workers):
        eligible += part
        done += n_rows
        if progress is not None:
            progress(done, len(asked))
    return eligible


def _eligible(a: Levels, b: Levels, n_levels: int, minimum_partners: int) -> Counts:
    """How many rows have enough partners in each class, shape (n_levels,)."""
    eligible = np.zeros(n_levels, dtype=np.int64)
    at_once = max(1, _CHUNK // max(a.shape[1], 1))
    for start in range(0, len(a), at_once):
        topic, summary = a[start : start + at_once], b[start : start + at_once]
        by_topic, by_summary = _count_above(topic, n_levels), _count_above(summary, n_levels)
        both = _count_above(np.minimum(topic, summary), n_levels)
        fewest = np.minimum(np.minimum(by_topic - both, by_summary - both), both)
        eligible += (fewest >= minimum_partners).sum(axis=0, dtype=np.int64)
    return eligible


def _count_above(levels: Levels, n_levels: int) -> Counts:
    """Entries of each row above 0, 1, ..., n_levels - 1; shape (n, n_levels)."""
    n, width = levels.shape
    held = levels.reshape(-1) != 0
    if np.count_nonzero(held) < SPARSE * levels.size:
        place = np.flatnonzero(held)
        keys = place // max(width, 1) * (n_levels + 1) + levels.reshape(-1)[place]
        counts = np.bincount(keys, minlength=n * (n_levels + 1)).reshape(n, n_levels + 1)
    else:
        counts = np.stack([np.bincount(row, minlength=n_levels + 1) for row in levels])
    return np.asarray(counts[:, :0:-1].cumsum(axis=1)[:, ::-1])


class _Copies:
    """Problems with equal texts."""

    def __init__(self, texts: NDArray[Any]) -> None:
        _, self._text = np.unique(texts, return_inverse=True)
        self._order = np.argsort(self._text, kind="stable")
        self._ends = np.cumsum(np.bincount(self._text))

    def clear(self, levels: Levels, rows: NDArray[np.int64]) -> None:
        """Set the level of each row with itself and its copies to 0, in place."""
        stop = self._ends[self._text[rows]]
        start = np.where(self._text[rows] > 0, self._ends[self._text[rows] - 1], 0)
        counts = stop - start
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        levels[np.repeat(np.arange(len(rows)), counts), self._order[np.repeat(start, counts) + within]] = 0


def lower_quantiles(values: Floats, counts: NDArray[Any], shares: Floats) -> NDArray[np.float64]:
    """Lower quantiles of a weighted sample.

    The lower quantile at share p is the smallest value v of the sample for which the values up to and
    including v make up at least the share p: ``min {v : n(values <= v) >= p * n}``. At p = 0 it is the
    smallest value, at p = 1 the largest, and always a value of the sample, never something in between.

    Parameters
    ----------
    values : float64, shape (n,)
        In any order, repeats allowed.
    counts : int, shape (n,)
        How often each occurs, 0 or more.
    shares : float64, shape (m,)
        In [0, 1].

    Returns
    -------
    float64, shape (m,)
        NaN throughout for a sample without values.

    Raises
    ------
    ValueError
        For shares outside of [0, 1] or negative counts.
    """
    values, counts = np.asarray(values, dtype=np.float64), np.asarray(counts, dtype=np.int64)
    shares = np.asarray(shares, dtype=np.float64)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("A quantile's share is outside of [0, 1].")
    if (counts < 0).any():
        raise ValueError("A value occurs a negative number of times.")
    order = np.argsort(values, kind="stable")
    order = order[counts[order] > 0]
    up_to = np.cumsum(counts[order])
    if not len(up_to):
        return np.full(len(shares), np.nan)
    place = np.searchsorted(up_to, shares * up_to[-1], side="left")
    return np.asarray(values[order][np.minimum(place, len(order) - 1)])


@dataclass(frozen=True)
class ChosenThresholds:
    """Thresholds by domain and overall.

    Attributes
    ----------
    level : tuple of int or None
        Position of each domain's level in the grid; None where no level has enough problems.
    topic, summary : float or None
        Smallest threshold over the domains that have one.
    """

    level: tuple[int | None, ...]
    topic: float | None
    summary: float | None


def choose_thresholds(
    eligible: Counts,
    shares: Sequence[float] | Floats,
    topic_thresholds: Floats,
    summary_thresholds: Floats,
    min_eligible: int,
) -> ChosenThresholds:
    """Pick every domain's largest level with enough eligible problems.

    Counts are not monotone in p (a higher threshold moves pairs from both to the single classes), so every level
    is looked at.

    Parameters
    ----------
    eligible : int64, shape (n_domains, n_levels)
        From `threshold_curve`.
    shares : float64, shape (n_levels,)
        p of each level, in any order.
    topic_thresholds, summary_thresholds : float64, shape (n_domains, n_levels)
    min_eligible : int
    """
    shares = np.asarray(shares, dtype=np.float64)
    levels: list[int | None] = []
    for counts in eligible:
        enough = np.flatnonzero(counts >= min_eligible)
        levels.append(int(enough[np.argmax(shares[enough])]) if len(enough) else None)
    chosen = [(domain, level) for domain, level in enumerate(levels) if level is not None]
    return ChosenThresholds(
        tuple(levels),
        min((float(topic_thresholds[place]) for place in chosen), default=None),
        min((float(summary_thresholds[place]) for place in chosen), default=None),
    )


def _check(n_domains: int, topic: Floats, summary: Floats, minimum_partners: int) -> None:
    if minimum_partners < 1:
        raise ValueError(f"{minimum_partners} partners a class are too few. Ask for at least 1.")
    if topic.shape != summary.shape or topic.ndim != 2 or len(topic) != n_domains:
        raise ValueError(f"Thresholds have shapes {topic.shape} and {summary.shape}, not ({n_domains}, levels) both.")
    if (np.diff(topic, axis=1) < 0).any() or (np.diff(summary, axis=1) < 0).any():
        raise ValueError("Thresholds fall along the levels. Sort the levels by p.")
