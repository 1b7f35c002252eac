"""Lines over rounds, ranks, levels or tenths, one a series."""

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
def curves(
    table: Any,
    x: str,
    y: str,
    series: str,
    x_label: str,
    y_label: str,
    *,
    low: str | None = None,
    high: str | None = None,
    panel: str | None = None,
    reference: str | None = None,
    level: float | None = None,
    level_label: str = "",
    marks: bool = False,
    log_x: bool = False,
    log_y: bool = False,
    y_limits: tuple[float, float] | None = None,
    steps: bool = False,
    height: float = 2.3,
) -> Any:
    """Draw a line for each series, with a band between `low` and `high` where they are given.

    Parameters
    ----------
    table
        One row per series and `x`; the first eight series in the order of the table are coloured, further ones pale.
    reference
        Column with what chance would give, drawn once a panel as a grey dashed line.
    level
        A horizontal line to read against; the legend calls it `level_label`.
    marks
        Mark the points: for few of them.
    steps
        Hold each value until the next point instead of joining them.
    """
    data = frame(table, x, y, series, low, high, panel, reference)
    parts = data.partition_by(panel, maintain_order=True) if panel else [data]
    columns = min(max(len(parts), 1), 3)
    figure, grids = panels(len(parts), columns, height, COLUMN if columns == 1 else PAGE, share_y=True)
    styles = lines(data[series].to_list())
    handles: dict[str, Any] = {}
    for at, (axes, part) in enumerate(zip(grids, parts, strict=True)):
        for name, style in reversed(styles.items()):
            rows = part.filter((pl.col(series) == name) & pl.col(y).is_not_null()).sort(x)
            if not rows.height:
                continue
            few = marks or rows.height == 1
            (drawn,) = axes.plot(rows[x].to_list(), rows[y].to_list(), color=style.colour, linestyle=style.dash,
                                 marker=style.marker if few and style.is_named else "", markersize=3,
                                 drawstyle="steps-post" if steps else "default")  # fmt: skip
            if low and high:
                axes.fill_between(rows[x].to_list(), rows[low].to_list(), rows[high].to_list(), color=style.colour,
                                  alpha=0.18, linewidth=0)  # fmt: skip
            handles[plain(name, 56) if style.is_named else "further series"] = drawn
        _reference(axes, part, x, reference, handles)
        if level is not None:
            drawn = axes.axhline(level, color=GREY, linewidth=0.8, linestyle="--", zorder=0)
            if level_label:  # in the legend: beside the line it lay over the series that cross it
                handles[plain(level_label, 56)] = drawn
        if log_x:
            log_axis(axes)
        axes.set_yscale("log" if log_y else "linear")
        if y_limits is not None:
            axes.set_ylim(*y_limits)
        name_axes(axes, x_label, y_label if at % columns == 0 else "", 36 if columns == 1 else 30)
        grid(axes, "both")
        if panel:
            title(axes, part[panel][0])
    order = [plain(name, 56) for name in styles if plain(name, 56) in handles]
    order += [name for name in handles if name not in order]
    if panel != series or reference or (level is not None and level_label):
        legend_below(figure, [handles[name] for name in order], order)
    return figure


def _reference(axes: Any, part: pl.DataFrame, x: str, reference: str | None, handles: dict[str, Any]) -> None:
    if reference is None:
        return
    rows = part.group_by(x).agg(pl.col(reference).mean()).sort(x).drop_nulls()
    (handles["by chance"],) = axes.plot(rows[x].to_list(), rows[reference].to_list(), color=GREY, linestyle=":")
