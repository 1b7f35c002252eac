"""Figure functions on small tables: what is drawn, empty tables, and names that look like mark-up."""

import builtins
import io
import warnings
from html import escape

import numpy as np
import polars as pl
import pytest

from warehouse import figures
from warehouse.errors import SaberError
from warehouse.figures import ablation, style

HOSTILE = [
    r"$\frac$",
    "a_b$",
    "$x$",
    "_hidden",
    "<script>&",
    "line\nbreak",
    r"\$",
    "n" * 200,
    "",
    "ω 数学",
    "x" * 27 + "$y$z",
]
TEXT = dict.fromkeys(("label", "series", "panel", "query_id", "class", "domain", "signal", "system"), pl.String)
NUMBER = dict.fromkeys(("x", "y", "low", "high", "wide_low", "wide_high", "value", "threshold"), pl.Float64)
EMPTY = pl.DataFrame(schema={**TEXT, **NUMBER, "n_pairs": pl.Int64, "front": pl.Boolean, "rank": pl.Int32,
                             "share_within": pl.Float64, "chance": pl.Float64})  # fmt: skip
ENDS = {"low": "low", "high": "high"}
DRAWN = {
    "intervals": lambda t: figures.intervals(t, "label", "x", "score", **ENDS, wide_low="wide_low",
                                             wide_high="wide_high", series="series", panel="panel", reference=0.5,
                                             reference_label="$"),
    "one series of intervals": lambda t: figures.intervals(t, "label", "x", "score", **ENDS),
    "curves": lambda t: figures.curves(t, "x", "y", "series", "x", "y", **ENDS, panel="panel", marks=True, level=0.5),
    "logarithmic curves": lambda t: figures.curves(t, "x", "y", "series", "x", "y", log_x=True, log_y=True),
    "matrix": lambda t: figures.matrix(t, "label", "series", "x", "score"),
    "shares": lambda t: figures.shares(t, "label", "series", "x", "share"),
    "counts": lambda t: figures.stacked_counts(t, "label", "series", "x", "problems"),
    "distributions": lambda t: figures.distributions(t, "x", "series", "rank", log_x=True),
    "scatter": lambda t: figures.scatter(t, "x", "y", "label", "x", "y", **ENDS, panel="panel", front="front"),
    "named points": lambda t: figures.scatter(t, "x", "y", "label", "x", "y", names=True, diagonal=True),
    "pairs": lambda t: figures.pair_shares(t, t),
    "ranks": lambda t: figures.cumulative_ranks(t, t, 20),
}  # fmt: skip


def table(names):
    """One row per name and two values, with every column that a figure function reads."""
    n = 2 * len(names)
    x = np.linspace(0.1, 0.9, n)
    text = {name: [one for one in names for _ in range(2)] for name in TEXT}
    numbers = dict.fromkeys(NUMBER, x)
    ends = {"low": x - 0.05, "high": x + 0.05, "wide_low": x - 0.1, "wide_high": x + 0.1}
    ranks = {"rank": pl.Series([1, 2] * len(names), dtype=pl.Int32), "share_within": x, "chance": x}
    return pl.DataFrame({**text, **numbers, **ends, **ranks, "n_pairs": [3] * n, "front": [True] * n})


def svg(figure):
    target = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        style.save(figure, target, format="svg")
    return target.getvalue().decode()


@pytest.mark.parametrize("kind", DRAWN)
def test_an_empty_table_draws_no_data_and_raises_nothing(kind):
    figure = DRAWN[kind](EMPTY)
    assert "<svg" in svg(figure)
    assert not any(len(line.get_xdata()) > 2 for axes in figure.axes for line in axes.lines)


@pytest.mark.parametrize("kind", DRAWN)
def test_names_that_look_like_markup_are_shown_as_they_stand(kind):
    shown = svg(DRAWN[kind](table(HOSTILE[:8])))
    assert "<script>" not in shown
    names = [escape(name, quote=False) for name in (r"$\frac$", "a_b$", "$x$", "_hidden", "<script>&")]
    assert sum(name in shown for name in names) == len(names)


@pytest.mark.parametrize("name", HOSTILE)
def test_inert_text_has_no_formula_however_it_is_cut(name):
    """A name cut or wrapped between the escaping sign and its dollar was a formula again."""
    figure = DRAWN["one series of intervals"](table([name]))
    lines = figure.axes[0].get_yticklabels()[0].get_text().split("\n")
    for text in (style.plain(name), style.plain(name, 5), *lines):
        assert text.count("$") == text.count(r"\$")
        assert not text.startswith("_")


def test_a_dot_and_both_intervals_stand_where_the_table_says():
    data = pl.DataFrame({"label": ["best", "worst", "unknown"], "x": [0.8, 0.2, None], "low": [0.7, 0.1, None],
                         "high": [0.9, 0.3, None]})  # fmt: skip
    (axes,) = figures.intervals(data, "label", "x", "score", **ENDS).axes
    dots = axes.lines[0]
    assert list(dots.get_xdata()) == [0.8, 0.2]
    assert list(dots.get_ydata()) == [0, 1]
    assert [list(line.get_xdata()) for line in axes.lines[1:]] == [[0.7, 0.9], [0.1, 0.3]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["best", "worst", "unknown"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first row on top


def test_the_share_at_or_below_a_value_counts_ties():
    data = pl.DataFrame({"series": ["a"] * 4, "x": [1.0, 2.0, 2.0, 5.0]})
    line = figures.distributions(data, "x", "series", "x").axes[0].lines[0]
    assert list(line.get_xdata()) == [1, 2, 5]
    assert list(line.get_ydata()) == [0.25, 0.75, 1.0]


def test_the_share_of_pairs_at_least_so_alike():
    histogram = pl.DataFrame(
        {"domain": ["d"] * 3, "signal": ["topic"] * 3, "value": [0.0, 0.5, 1.0], "n_pairs": [6, 3, 1]}
    )
    figure = figures.pair_shares(histogram, pl.DataFrame({"signal": ["topic"], "threshold": [0.5]}))
    curve, threshold = figure.axes[0].lines
    assert list(curve.get_ydata()) == pytest.approx([1.0, 0.4, 0.1])
    assert list(threshold.get_xdata()) == [0.5, 0.5]


def test_bars_stand_one_after_the_other():
    data = pl.DataFrame({"label": ["a", "a", "b"], "series": ["p", "q", "q"], "n": [3, 4, 5]})
    (axes,) = figures.stacked_counts(data, "label", "series", "n", "problems").axes
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [(0, 3), (0, 0), (3, 4), (0, 5)]


def test_the_band_of_the_ablation_holds_its_share_and_is_a_point_where_all_queries_agree():
    queries = ["q1", "q1", "q2", "q2", "q3", "q3"]
    ranks = pl.DataFrame({"query_id": queries, "class": ["a", "b"] * 3, "rank": [1, 2, 1, 2, 2, 1]})
    bands = ablation.ablation_bands(ranks, 400).sort("class", "rank")
    first, last = bands.filter(pl.col("class") == "a").iter_rows(named=True)
    assert first["low"] < 2 / 3 < first["high"]
    assert (last["low"], last["high"]) == (1.0, 1.0)
    alike = ablation.ablation_bands(ranks.filter(pl.col("query_id") != "q3"), 50).sort("class", "rank")
    assert alike["low"].to_list() == alike["high"].to_list() == [1.0, 1.0, 0.0, 1.0]


def test_wilson_interval_of_eight_in_ten():
    """The textbook's interval of 8 of 10: 0.4902 to 0.9433."""
    row = figures.with_wilson(pl.DataFrame({"share": [0.8], "n": [10]}), "share", "n").row(0, named=True)
    assert (row["low"], row["high"]) == pytest.approx((0.490162, 0.943318), abs=1e-6)


def test_series_beyond_the_colours_share_one_entry_of_the_legend():
    figure = DRAWN["curves"](table([f"s{number:02}" for number in range(12)]).with_columns(panel=pl.lit("one")))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == [*(f"s{number:02}" for number in range(8)), "further series"]


def test_a_line_to_read_against_is_named_in_the_legend_not_over_the_data():
    figure = figures.curves(
        table(["a", "b"]), "x", "y", "series", "x", "y", level=0.5, level_label="as a perfect system"
    )
    assert not figure.axes[0].texts  # the words lay over the series that cross the line
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b", "as a perfect system"]


def test_settings_of_the_caller_stay():
    import matplotlib

    before = dict(matplotlib.rcParams)
    for draw in DRAWN.values():
        draw(table(["a"]))
    assert dict(matplotlib.rcParams) == before


def test_a_missing_column_is_named():
    with pytest.raises(ValueError, match="no column y"):
        figures.curves(pl.DataFrame({"x": [1], "series": ["a"]}), "x", "y", "series", "x", "y")


def test_the_extra_is_named_where_matplotlib_is_missing(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SaberError, match=r"\[notebooks\]"):
        figures.curves(EMPTY, "x", "y", "series", "x", "y")
