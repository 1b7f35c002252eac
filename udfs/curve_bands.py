"""The threshold curve from the highest quantiles down, a band of levels at a time.

The thresholds of a domain are its largest level with enough eligible problems, so levels below that one decide
nothing. They also cost most: half of all pairs reach a median. Small corpora have the whole curve, large ones the
bands that are needed to know the thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.progress import counting
from udfs.similarity_levels import Signal
from udfs.threshold_curve import threshold_curve

SCHEMA = pa.schema(
    [
        ("domain", pa.string()),
        ("p", pa.float64()),
        ("topic_threshold", pa.float64()),
        ("summary_threshold", pa.float64()),
        ("n_eligible", pa.int64()),
    ]
)
LOWEST_OF_FIRST_BAND = 0.99
"""One pair in a hundred reaches the levels from here on, at half the cost of all levels."""

Floats = npt.NDArray[np.float64]


def bands(shares: Floats, whole: bool) -> list[npt.NDArray[np.int64]]:
    """Positions of the levels of each band, the higher band first; the `whole` curve is one."""
    first = shares >= LOWEST_OF_FIRST_BAND
    found = [np.arange(len(shares))] if whole else [np.flatnonzero(first), np.flatnonzero(~first)]
    return [band for band in found if len(band)]


def curve_blocks(
    topic: Signal,
    summary: Signal,
    membership: npt.NDArray[np.bool_],
    domains: Sequence[str],
    shares: Floats,
    topic_thresholds: Floats,
    summary_thresholds: Floats,
    minimum_partners: int,
    *,
    min_eligible: int | None,
    earlier: Sequence[pa.RecordBatch] = (),
    start_block: int = 0,
    **options: Any,
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Count eligible problems band by band.

    Parameters
    ----------
    topic, summary, membership, topic_thresholds, summary_thresholds, minimum_partners, options
        See :func:`udfs.threshold_curve.threshold_curve`.
    domains : sequence of str
        Names of the columns of `membership`.
    shares : float64 array, shape (n_levels,)
        p of each level, ascending.
    min_eligible : int or None
        A domain that has a level with so many eligible problems is left out of lower bands; None leaves out none.
    earlier : sequence of RecordBatch
        Bands before `start_block`, which may be filled until the first band is asked for.
    start_block : int

    Yields
    ------
    (band, batch of SCHEMA)
        ``n_eligible`` is NULL where a domain was left out.
    """
    found = np.zeros(len(domains), dtype=bool)
    for batch in earlier if min_eligible is not None else ():
        enough = np.nan_to_num(batch["n_eligible"].to_numpy(zero_copy_only=False).astype(np.float64)) >= min_eligible
        found |= np.isin(np.array(domains), np.array(batch["domain"].to_pylist())[enough])
    for number, band in enumerate(bands(shares, min_eligible is None)):
        if number < start_block:
            continue
        asked = topic_thresholds[:, band].copy()
        asked[found] = np.nan
        n_pairs = int((membership & ~found).any(axis=1).sum()) * len(membership)
        show = counting(f"threshold curve, p from {shares[band[0]]:.3f}", n_pairs)
        eligible = threshold_curve(
            topic, summary, membership, asked, summary_thresholds[:, band], minimum_partners, progress=show, **options
        )
        yield number, _rows(domains, shares, topic_thresholds, summary_thresholds, band, eligible, found)
        if min_eligible is not None:
            found = found | (eligible >= min_eligible).any(axis=1)


def _rows(
    domains: Sequence[str],
    shares: Floats,
    topic_thresholds: Floats,
    summary_thresholds: Floats,
    band: npt.NDArray[np.int64],
    eligible: npt.NDArray[np.int64],
    left_out: npt.NDArray[np.bool_],
) -> pa.RecordBatch:
    n_levels = len(band)
    columns = [
        pa.array(np.repeat(np.array(domains, dtype=object), n_levels), pa.string()),
        pa.array(np.tile(shares[band], len(domains))),
        pa.array(topic_thresholds[:, band].ravel()),
        pa.array(summary_thresholds[:, band].ravel()),
        pa.array(eligible.ravel(), mask=np.repeat(left_out, n_levels)),
    ]
    return pa.record_batch(columns, schema=SCHEMA)
