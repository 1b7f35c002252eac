"""How values spread: shares of rows at most a value, and shares of pairs at least a similarity."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from warehouse.figures.curves import curves
from warehouse.figures.style import GREY, frame, styled


@styled
def distributions(
    table: Any, value: str, series: str, x_label: str, *, log_x: bool = False, height: float = 2.3
) -> Any:
    """Draw the share of each series' rows that lie at or below a value; no bins are chosen.

    Parameters
    ----------
    table
        One row per value. With `log_x`, the scale is linear from 0 to 1 and logarithmic above.
    """
    data = frame(table, value, series).filter(pl.col(value).is_not_null())
    steps = [
        pl.DataFrame({"x": np.sort(part[value].to_numpy()), "share": np.arange(1, part.height + 1) / part.height})
        .group_by("x")
        .agg(pl.col("share").max())
        .with_columns(pl.lit(part[series][0]).alias("series"))
        for part in data.partition_by(series, maintain_order=True)
        if part.height
    ]
    empty = pl.DataFrame(schema={"x": pl.Float64, "share": pl.Float64, "series": pl.String})
    figure = curves(pl.concat(steps) if steps else empty, "x", "share", "series", x_label, "share at or below",
                    y_limits=(0, 1.02), steps=True, height=height)  # fmt: skip
    if log_x:
        for axes in figure.axes:
            axes.set_xscale("symlog", linthresh=1)
            axes.set_xlim(left=0)
    return figure


@styled
def pair_shares(histogram: Any, thresholds: Any) -> Any:
    """Draw the share of pairs at least as similar as a value, one panel a signal, with the thresholds in force.

    Parameters
    ----------
    histogram
        domain, signal, value, n_pairs: as ``signals.signal_histogram``.
    thresholds
        signal, threshold: as ``signals.signal_thresholds``.
    """
    data = frame(histogram, "domain", "signal", "value", "n_pairs").sort("signal", "domain", "value")
    by = ["signal", "domain"]
    reached = data.with_columns(
        (pl.col("n_pairs").cum_sum(reverse=True).over(by) / pl.col("n_pairs").sum().over(by)).alias("share")
    )
    rounded = reached.group_by(*by, pl.col("value").round(3), maintain_order=True).agg(pl.col("share").max())
    figure = curves(rounded, "value", "share", "domain", "similarity", "share of pairs at or above", panel="signal",
                    log_y=True)  # fmt: skip
    limits = dict(frame(thresholds, "signal", "threshold").select("signal", "threshold").iter_rows())
    for axes, signal in zip(figure.axes, rounded["signal"].unique(maintain_order=True), strict=False):
        threshold = limits.get(signal)
        if threshold is not None:
            axes.axvline(threshold, color=GREY, linestyle="--", linewidth=0.8)
            place = {
                "xy": (threshold, 0.03),
                "xycoords": ("data", "axes fraction"),
                "fontsize": 6,
                "color": "#555555",
            }
            axes.annotate(f"threshold {threshold:.3f}", ha="right", va="bottom", rotation=90, **place)
    return figure
