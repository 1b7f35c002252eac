"""Points with names: quality against latency, and one measure against another."""

from __future__ import annotations

from typing import Any

import polars as pl

from warehouse.figures.style import (
    COLUMN,
    GREY,
    PAGE,
    frame,
    grid,
    legend_below,
    lines,
    log_axis,
    name_axes,
    panels,
    plain,
    styled,
    title,
)


@styled
def scatter(
    table: Any,
    x: str,
    y: str,
    label: str,
    x_label: str,
    y_label: str,
    *,
    low: str | None = None,
    high: str | None = None,
    panel: str | None = None,
    front: str | None = None,
    log_x: bool = False,
    diagonal: bool = False,
    names: bool = False,
) -> Any:
    """Draw a point for each row, with its interval in `y` where given.

    Parameters
    ----------
    label
        What the points are coloured by and named in the legend.
    front
        Column of booleans: points on the front are joined by a step line.
    diagonal
        Draw the line on which both are equal.
    names
        Write each point's name beside it instead of a legend.
    """
    data = frame(table, x, y, label, low, high, panel, front).filter(pl.col(x).is_not_null(), pl.col(y).is_not_null())
    parts = data.partition_by(panel, maintain_order=True) if panel else [data]
    columns = min(max(len(parts), 1), 3)
    figure, grids = panels(len(parts), columns, 2.3, COLUMN if columns == 1 else PAGE, share_y=not diagonal)
    handles: dict[str, Any] = {}
    styles = lines(data[label].to_list())
    for at, (axes, part) in enumerate(zip(grids, parts, strict=True)):
        for name, style in styles.items():
            rows = part.filter(pl.col(label) == name)
            if not rows.height:
                continue
            if low and high:
                ends = rows.drop_nulls([low, high])
                axes.vlines(ends[x].to_list(), ends[low].to_list(), ends[high].to_list(), color=style.colour,
                            linewidth=0.8)  # fmt: skip
            (drawn,) = axes.plot(rows[x].to_list(), rows[y].to_list(), linestyle="", marker=style.marker or "o",
                                 color=style.colour, markersize=4, alpha=0.85)  # fmt: skip
            handles[plain(name, 56) if style.is_named else "further systems"] = drawn
            if names:
                for point in rows.select(x, y).iter_rows():
                    axes.annotate(plain(name, 18), point, xytext=(4, 3), textcoords="offset points", fontsize=6)
        if log_x:
            log_axis(axes)
        if names:
            axes.margins(0.2)
        if front:
            best = part.filter(pl.col(front)).sort(x)
            axes.step(best[x].to_list(), best[y].to_list(), where="post", color=GREY, linewidth=0.8, zorder=0)
        if diagonal:
            axes.axline((0, 0), slope=1, color=GREY, linewidth=0.8, linestyle="--", zorder=0)
        name_axes(axes, x_label, y_label if at % columns == 0 else "", 36 if columns == 1 else 30)
        grid(axes, "both")
        if panel:
            title(axes, part[panel][0])
    if not names:
        legend_below(figure, list(handles.values()), list(handles))
    return figure
