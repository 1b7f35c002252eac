"""Verdicts for queries of 150 documents each, drawn from the model that the ratings assume."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from annotate.ratings.comparisons import Comparisons
from bench.stage import Workbench

DOCUMENTS = 150
ROUNDS = 20
_PROBLEMS_PER_QUERY = 20
_MOST_QUERIES = 1_000
_SEED = 11

T = TypeVar("T")


def n_queries(workbench: Workbench) -> int:
    """Return 1,000 queries from 20,000 problems on, fewer in proportion below, at least 2."""
    return int(np.clip(workbench.n_problems // _PROBLEMS_PER_QUERY, 2, _MOST_QUERIES))


def strengths(queries: int) -> npt.NDArray[np.float64]:
    """Shape (queries, 150): true log strengths, standard normal."""
    return np.random.default_rng(_SEED).standard_normal((queries, DOCUMENTS))


def shares(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64], seed: int) -> npt.NDArray[np.float64]:
    """Draw the first's share of each win, 1 or 0, with the probability that the two log strengths give."""
    won = np.random.default_rng(seed).random(first.shape) < 1.0 / (1.0 + np.exp(second - first))
    return won.astype(np.float64)


def comparisons(queries: int) -> Comparisons:
    """Draw 20 rounds of random pairs, 1,500 verdicts a query; the pairs of a query stand together.

    A pair may meet again in a later round.
    """
    own = np.broadcast_to(np.arange(DOCUMENTS), (queries, ROUNDS, DOCUMENTS))
    order = np.random.default_rng(_SEED + 1).permuted(own, axis=2)
    items = (order + DOCUMENTS * np.arange(queries)[:, None, None]).reshape(-1, 2)
    theta = strengths(queries).ravel()
    share = shares(theta[items[:, 0]], theta[items[:, 1]], _SEED + 2)
    sizes = np.full(queries, DOCUMENTS)
    return Comparisons(sizes, items[:, 0], items[:, 1], share, np.ones(len(items)))


def timed(work: Callable[[], T]) -> tuple[T, dict[str, float]]:
    """Return what `work` returns, and its seconds apart from imports and the drawing of the data."""
    wall, processor = time.perf_counter(), time.process_time()
    done = work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return done, {"work_wall_s": round(wall, 3), "work_cpu_s": round(processor, 3)}
