"""Tables of numbers as shaded cells with the numbers in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from warehouse.figures.style import COLUMN, PAGE, frame, matplotlib, panels, plain, styled, wrapped

_CELL, _WIDE = 0.25, 0.5
_SMALLEST, _MANY = 4.0, 10


@styled
def matrix(
    table: Any,
    row: str,
    column: str,
    value: str,
    value_label: str,
    *,
    columns: Sequence[Any] | None = None,
    form: str = "{:.2f}",
    limits: tuple[float, float] | None = None,
    colours: str = "Blues",
    row_label: str = "",
    column_label: str = "",
) -> Any:
    """Shade a cell for each pair of `row` and `column`, in the order of the table; cells without a value stay white.

    Parameters
    ----------
    columns
        Order of the columns; those of the table come after.
    form
        Format of the number in a cell.
    limits
        Values of the palest and of the darkest cell; those of the table when absent.
    """
    data = frame(table, row, column, value)
    rows = data[row].unique(maintain_order=True).to_list()
    names = list(dict.fromkeys([*(columns or []), *data[column]]))
    cells = np.full((max(len(rows), 1), max(len(names), 1)), np.nan)
    for one, other, number in data.select(row, column, value).iter_rows():
        cells[rows.index(one), names.index(other)] = np.nan if number is None else number
    width = min(max(COLUMN, 2.2 + _WIDE * len(names)), PAGE)
    figure, (axes,) = panels(1, 1, 1.3 + _CELL * len(rows), width)
    low, high = limits or _ends(cells)
    image = axes.imshow(np.ma.masked_invalid(cells), cmap=colours, vmin=low, vmax=high, aspect="auto")
    letters = max((len(form.format(number)) for number in cells[~np.isnan(cells)]), default=1)
    wide = 72 * (width - 2.2) / max(len(names), 1)  # points of a cell
    _numbers(axes, image, cells, form, min(7.0, wide / (0.65 * letters)))
    many = len(names) > _MANY  # long names side by side need a line each
    labels = [plain(one, 40) if many else wrapped(one) for one in names]
    axes.set_xticks(range(len(names)), labels, rotation=90 if many else 40, ha="right", rotation_mode="anchor")
    for label in axes.get_xticklabels():
        label.set_va("center" if many else "top")
    axes.set_yticks(range(len(rows)), [wrapped(one) for one in rows])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(column_label)
    axes.set_ylabel(row_label)
    bar = figure.colorbar(image, ax=axes, fraction=0.04, pad=0.02)
    bar.set_label(value_label, fontsize=7)
    bar.ax.tick_params(labelsize=6)
    bar.outline.set_visible(False)
    return figure


def _ends(cells: Any) -> tuple[float, float]:
    known = cells[~np.isnan(cells)]
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _numbers(axes: Any, image: Any, cells: Any, form: str, size: float) -> None:
    if size < _SMALLEST:  # the shades alone: numbers stand in the table
        return
    palette = matplotlib().colormaps[image.get_cmap().name]
    for (at, to), number in np.ndenumerate(cells):
        if np.isnan(number):
            continue
        red, green, blue, _ = palette(image.norm(number))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
        colour = "white" if dark else "black"
        axes.text(to, at, plain(form.format(number)), ha="center", va="center", fontsize=size, color=colour)
