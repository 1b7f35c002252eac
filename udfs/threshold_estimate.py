"""Thresholds from the data, roughly: the whole procedure on a few thousand problems drawn by hash.

Quantiles of a sample of problems are those of the corpus but for chance, and a problem's partners are fewer by the
sampled share. So the sample wants fewer partners and fewer eligible problems, by that share and at least one of each.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from udfs.bma_dense import bma_rows
from udfs.bma_space import SetSpace
from udfs.jaccard_histogram import RowClasses
from udfs.jaccard_index import TokenSetIndex
from udfs.jaccard_levels import TokenSignal
from udfs.signal_histograms import histogram_blocks
from udfs.similarity_levels import SimilarityRows
from udfs.threshold_curve import choose_thresholds, lower_quantiles, threshold_curve


@dataclass(frozen=True)
class ThresholdEstimate:
    """Rough thresholds, and the processor seconds that finding them on the whole corpus takes.

    Attributes
    ----------
    topic, summary : float or None
        None where no domain of the sample has enough eligible problems.
    histogram_seconds, curve_seconds : float
    """

    topic: float | None
    summary: float | None
    histogram_seconds: float
    curve_seconds: float


def estimate_thresholds(
    space: SetSpace,
    set_of_problem: npt.NDArray[np.integer],
    index: TokenSetIndex,
    classes: RowClasses,
    membership: npt.NDArray[np.bool_],
    shares: npt.NDArray[np.float64],
    minimum_partners: int,
    min_eligible: int,
    n_problems: int,
    workers: int = 2,
) -> ThresholdEstimate:
    """Run histograms and curve on a sample.

    Parameters
    ----------
    space, set_of_problem, index, classes, membership
        Of the sampled problems alone; see :func:`udfs.signal_histograms.histogram_blocks`.
    shares : float64 array
        Quantile levels of the grid.
    minimum_partners, min_eligible : int
        K and the eligible problems a domain needs, for the whole corpus.
    n_problems : int
        Problems of the whole corpus.
    workers : int
    """
    if not len(set_of_problem) or not membership.shape[1]:
        return ThresholdEstimate(None, None, 0.0, 0.0)
    share = len(set_of_problem) / n_problems
    names = [str(domain) for domain in range(membership.shape[1])]
    begun = time.process_time()
    blocks = histogram_blocks(space, set_of_problem, index, classes, membership, names, workers=workers)
    tables = [batch for _, batch in blocks]
    histogram_seconds = time.process_time() - begun
    topic_grid, summary_grid = (np.stack([_quantiles(batch, name, shares) for name in names]) for batch in tables)
    begun = time.process_time()
    eligible = threshold_curve(
        SimilarityRows(lambda rows: bma_rows(space, set_of_problem[rows], workers=1), set_of_problem),
        TokenSignal(index),
        membership,
        topic_grid,
        summary_grid,
        max(1, round(minimum_partners * share)),
        workers=workers,
    )
    curve_seconds = time.process_time() - begun
    chosen = choose_thresholds(eligible, shares, topic_grid, summary_grid, max(1, round(min_eligible * share)))
    # Both are passes over all pairs.
    return ThresholdEstimate(chosen.topic, chosen.summary, histogram_seconds / share**2, curve_seconds / share**2)


def _quantiles(batch: pa.RecordBatch, domain: str, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    rows = batch.filter(pc.equal(batch["domain"], domain))
    return lower_quantiles(rows["value"].to_numpy(), rows["n_pairs"].to_numpy(), shares)
