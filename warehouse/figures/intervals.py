"""Dots with intervals: leaderboards, differences and preferences."""

from __future__ import annotations

from typing import Any

import polars as pl

from warehouse.figures.style import (
    COLOURS,
    COLUMN,
    GREY,
    PAGE,
    frame,
    grid,
    legend_below,
    lines,
    matplotlib,
    name_axes,
    panels,
    plain,
    styled,
    title,
    wrapped,
)

_ROW, _LONG_ROW = 0.19, 0.28
_AROUND = 0.75


@styled
def intervals(
    table: Any,
    label: str,
    value: str,
    x_label: str,
    *,
    low: str | None = None,
    high: str | None = None,
    wide_low: str | None = None,
    wide_high: str | None = None,
    series: str | None = None,
    panel: str | None = None,
    reference: float | None = None,
    reference_label: str = "",
    limits: tuple[float, float] | None = None,
) -> Any:
    """Draw a dot for each row with its interval, in the order of the table, first row on top.

    Parameters
    ----------
    table
        One row per dot. With `series`, rows of one `label` share a line of the figure and differ in colour.
    low, high
        Ends of the interval, drawn thick.
    wide_low, wide_high
        Ends of a second, wider interval, drawn thin with caps.
    reference
        Where a dashed line stands: chance, or no difference.

    Returns
    -------
    matplotlib.figure.Figure
        Empty panels are not drawn; rows without a value keep their line, without a dot.
    """
    data = frame(table, label, value, low, high, wide_low, wide_high, series, panel)
    parts = data.partition_by(panel, maintain_order=True) if panel else [data]
    most = max((part[label].n_unique() for part in parts), default=1)
    names = data[series].unique(maintain_order=True).to_list() if series else [None]
    row = (_LONG_ROW if any("\n" in wrapped(one) for one in data[label]) else _ROW) * (
        1.0 if series is None else max(1.0, 0.5 * len(names))
    )
    columns = min(len(parts), 2)
    figure, grids = panels(len(parts), max(columns, 1), _AROUND + row * max(most, 1), COLUMN if columns < 2 else PAGE)
    styles = lines(names)
    ends = {"thick": (low, high), "thin": (wide_low, wide_high)}
    for axes, part in zip(grids, parts, strict=True):
        labels = part[label].unique(maintain_order=True).to_list()
        for at, name in enumerate(names):
            rows = part if series is None else part.filter(pl.col(series).eq_missing(pl.lit(name)))
            offset = (at - (len(names) - 1) / 2) * 0.6 / max(len(names), 1)
            _dots(axes, rows, [labels.index(one) + offset for one in rows[label]], value, ends, styles[name])
        axes.set_yticks(range(len(labels)), [wrapped(one) for one in labels])
        axes.set_ylim(len(labels) - 0.4, -0.6)
        name_axes(axes, x_label, "", 28)
        if _counts(data[value]):
            axes.xaxis.set_major_locator(matplotlib().ticker.MaxNLocator(integer=True, nbins=6))
        else:
            axes.xaxis.set_major_locator(matplotlib().ticker.MaxNLocator(nbins=5))
        if limits is not None:
            axes.set_xlim(*limits)
        if reference is not None:
            axes.axvline(reference, color=GREY, linewidth=0.8, linestyle="--", zorder=0)
            if reference_label:
                place = {
                    "xy": (reference, 1),
                    "xycoords": ("data", "axes fraction"),
                    "fontsize": 6,
                    "color": "#555555",
                }
                axes.annotate(plain(reference_label), ha="center", va="bottom", **place)
        grid(axes, "x")
        if panel:
            title(axes, part[panel][0])
    if series:
        handles = [axes_handle(grids[0], styles[name]) for name in names] if grids else []
        legend_below(figure, handles, [plain(name, 56) for name in names])
    return figure


def axes_handle(axes: Any, style: Any) -> Any:
    """Return a line that stands for a series in a legend."""
    return axes.plot([], [], color=style.colour, marker=style.marker or "o", linestyle="", markersize=4)[0]


def _counts(values: pl.Series) -> bool:
    known = values.drop_nulls().cast(pl.Float64)
    return bool((known == known.round(0)).all()) and bool((known >= 1).all())  # ranks: no half places


def _dots(axes: Any, rows: pl.DataFrame, places: list[float], value: str, ends: Any, style: Any) -> None:
    colour = style.colour if style else COLOURS[0]
    shown = [place for place, one in zip(places, rows[value], strict=True) if one is not None]
    axes.plot(rows[value].drop_nulls().to_list(), shown, linestyle="", marker=style.marker or "o", color=colour,
              markersize=3.6, zorder=3)  # fmt: skip
    for kind, (first, last) in ends.items():
        if first is None or last is None:
            continue
        for place, lower, upper in zip(places, rows[first], rows[last], strict=True):
            if lower is None or upper is None:
                continue
            axes.plot([lower, upper], [place, place], color=colour, linewidth=2.2 if kind == "thick" else 0.7,
                      alpha=0.55 if kind == "thick" else 1.0, marker="|" if kind == "thin" else "", markersize=4,
                      zorder=2)  # fmt: skip


def with_wilson(table: Any, share: str, number: str) -> pl.DataFrame:
    """Return the table with `low` and `high`: Wilson's 95 % interval of a share of `number` independent cases.

    Cases of one query are not independent, so for verdicts it is a lower bound of the width.
    """
    z = 1.959963984540054
    rate, n = pl.col(share), pl.col(number)
    middle, half = (rate + z**2 / (2 * n)) / (1 + z**2 / n), (rate * (1 - rate) / n + z**2 / (4 * n**2)).sqrt()
    reach = half * z / (1 + z**2 / n)
    return frame(table, share, number).with_columns((middle - reach).alias("low"), (middle + reach).alias("high"))
