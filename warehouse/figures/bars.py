"""Shares of groups beside each other, and counts on top of each other."""

from __future__ import annotations

from typing import Any

import polars as pl

from warehouse.figures.style import COLUMN, frame, grid, legend_below, lines, name_axes, panels, plain, styled

_ROW = 0.24


@styled
def shares(table: Any, category: str, series: str, value: str, x_label: str) -> Any:
    """Draw a dot a series on the line of each category: shares of several collections compared.

    Parameters
    ----------
    table
        One row per category and series; `value` in [0, 1].
    """
    data = frame(table, category, series, value)
    labels = data[category].unique(maintain_order=True).to_list()
    figure, (axes,) = panels(1, 1, 0.9 + _ROW * max(len(labels), 1))
    handles = []
    styles = lines(data[series].to_list())
    for label in labels:
        known = data.filter(pl.col(category) == label)[value].drop_nulls()
        if len(known):
            axes.plot([known.min(), known.max()], [labels.index(label)] * 2, color="#bbbbbb", linewidth=0.8, zorder=1)
    for name, style in styles.items():
        rows = data.filter((pl.col(series) == name) & pl.col(value).is_not_null())
        places = [labels.index(one) for one in rows[category]]
        handles += axes.plot(rows[value].to_list(), places, linestyle="", marker=style.marker or "o", markersize=4.5,
                             color=style.colour, alpha=0.9)  # fmt: skip
    axes.set_yticks(range(len(labels)), [plain(one, 34) for one in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlim(left=0)
    name_axes(axes, x_label, "", 30)
    grid(axes, "x")
    legend_below(figure, handles, [plain(name, 56) for name in styles])
    return figure


@styled
def stacked_counts(table: Any, category: str, series: str, value: str, x_label: str) -> Any:
    """Draw a bar for each category, its series one after the other."""
    data = frame(table, category, series, value)
    labels = data[category].unique(maintain_order=True).to_list()
    figure, (axes,) = panels(1, 1, 1.2 + _ROW * max(len(labels), 1), COLUMN)
    ends = [0.0] * len(labels)
    handles = []
    styles = lines(data[series].to_list())
    for name, style in styles.items():
        sizes = [0.0] * len(labels)
        for label, size in data.filter(pl.col(series) == name).select(category, value).iter_rows():
            sizes[labels.index(label)] += float(size or 0)
        handles.append(axes.barh(range(len(labels)), sizes, left=ends, color=style.colour, height=0.65))
        ends = [end + size for end, size in zip(ends, sizes, strict=True)]
    axes.set_yticks(range(len(labels)), [plain(one, 24) for one in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    name_axes(axes, x_label, "", 30)
    grid(axes, "x")
    legend_below(figure, handles, [plain(name, 56) for name in styles])
    return figure
