"""What all figures share: size in print, colours told apart by colour-blind readers, text that is never mark-up."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from warehouse.errors import SaberError

COLUMN = 3.4
"""Width of a column of print, inches."""
PAGE = 7.0
"""Width of a page of two columns, inches."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F")
"""Okabe and Ito's colours, the yellow that vanishes on white replaced; lines differ in marker and dash as well."""
GREY = "#8a8a8a"
PALE = "#d0d0d0"
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
_DASHES = ("-", "--", "-.", ":", "-", "--", "-.", ":")
_LONGEST = 30
_STYLE: dict[str, Any] = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "text.usetex": False,
}


@dataclass(frozen=True)
class Line:
    """How the line of one series is drawn."""

    colour: str
    marker: str
    dash: str
    is_named: bool


def matplotlib() -> Any:
    """Return the matplotlib package with figures loaded, without pyplot and its global state.

    Raises
    ------
    SaberError
        When it is not installed; the message names the extra.
    """
    try:
        import matplotlib as found
        import matplotlib.figure
        import matplotlib.ticker
    except ImportError as error:
        raise SaberError("Figures need matplotlib. Install the extra: pip install -e '.[notebooks]'") from error
    return found


def frame(table: Any, *columns: str | None) -> pl.DataFrame:
    """Return a table as a data frame; ValueError names the columns that it lacks."""
    data = table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)
    missing = [name for name in columns if name is not None and name not in data.columns]
    if missing:
        raise ValueError(f"the table has no column {', '.join(missing)}")
    return data


def panels(
    number: int, columns: int, panel_height: float, width: float | None = None, share_y: bool = False
) -> tuple[Any, list[Any]]:
    """Return a figure and its `number` axes in rows of `columns`; a single panel is a column of print wide."""
    rows = -(-max(number, 1) // columns)
    wide = width or (COLUMN if columns == 1 else PAGE)
    size = (wide, panel_height * rows)
    figure = matplotlib().figure.Figure(figsize=size, layout="constrained", dpi=150)
    grid = figure.subplots(rows, columns, squeeze=False, sharey=share_y).ravel().tolist()
    for axes in grid[number:]:
        axes.remove()
    return figure, grid[:number]


def plain(text: Any, longest: int = _LONGEST) -> str:
    """Return text that matplotlib shows as it stands: `$` starts no formula, `_` hides no legend entry.

    Characters that do not print become spaces and long text is cut.
    """
    return _inert(_clean(text, longest))


def wrapped(text: Any) -> str:
    """Return a name for the side of a figure, as :func:`plain` does, on two lines where it is long."""
    return "\n".join(_inert(line) for line in textwrap.wrap(_clean(text, 54), 28)) or " "


def _clean(text: Any, longest: int) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in str(text))
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _inert(text: str) -> str:
    # After the cut: a cut between the two signs would free the dollar again.
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def lines(names: Sequence[Any]) -> dict[Any, Line]:
    """Return how each series is drawn; those beyond the colours are pale and share one place in the legend."""
    found = {}
    for at, name in enumerate(dict.fromkeys(names)):
        named = at < len(COLOURS)
        colour = COLOURS[at] if named else PALE
        found[name] = Line(colour, _MARKERS[at % 8] if named else "", _DASHES[at % 8] if named else "-", named)
    return found


def legend_below(figure: Any, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Put one legend for all panels below them, in as many columns as fit; the figure grows by its lines."""
    if not handles:
        return
    width, height = figure.get_size_inches()
    entry = 0.45 + 0.052 * max(len(label) for label in labels)  # inches: line and gaps, then letters of 7 points
    columns = max(1, min(len(labels), int(width / entry)))
    figure.set_size_inches(width, height + 0.15 * -(-len(labels) // columns))
    figure.legend(list(handles), list(labels), loc="outside lower center", ncols=columns, columnspacing=1.2)


def name_axes(axes: Any, x_label: str, y_label: str, letters: int = 36) -> None:
    """Name both axes, on two lines where the panel is too short: `letters` are what stands below it on one line."""
    x_label = x_label.replace(" − ", "\N{NO-BREAK SPACE}−\N{NO-BREAK SPACE}")  # a minus begins no line
    axes.set_xlabel(textwrap.fill(x_label, letters, break_long_words=False))
    axes.set_ylabel(textwrap.fill(y_label, 30, break_long_words=False))


def log_axis(axes: Any) -> None:
    """Make the abscissa logarithmic, with powers of ten alone where it spans several."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    ticker = matplotlib().ticker
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0,) if high / low > 20 else (1.0, 2.0, 5.0)))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())


def save(figure: Any, target: Any, **options: Any) -> None:
    """Write a figure: text stays text in SVG and PDF."""
    with matplotlib().rc_context(_STYLE):
        figure.savefig(target, **options)


def styled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give all that a figure function draws the style of print; settings of the caller stay as they are."""

    @functools.wraps(function)
    def drawn(*arguments: Any, **options: Any) -> Any:
        with matplotlib().rc_context(_STYLE):
            return function(*arguments, **options)

    return drawn


def title(axes: Any, text: Any) -> None:
    """Give a panel its name, left above it."""
    axes.set_title(plain(text, 60), loc="left", fontsize=8)


def grid(axes: Any, axis: str) -> None:
    """Draw faint lines to read values by, below the data."""
    axes.grid(axis=axis, linewidth=0.4, color="#e4e4e4")
    axes.set_axisbelow(True)
