"""Tables of the report: plain ones, and the leaderboard, which a reader sorts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.report.facts import OVERALL, Facts
from warehouse.report.markup import Markup, tag

_LONGEST_NAME = 120
_LONG = 28  # longer texts get room of their own before they wrap


@dataclass(frozen=True)
class Cell:
    """One cell: what is shown, and the value it sorts by (the text itself when absent)."""

    shown: Any
    value: float | None = None
    kind: str | None = None
    title: str | None = None


def section(name: str, title: str, *content: Any) -> Markup:
    """Return a section with its heading."""
    return tag("section", tag("h2", title), *content, id=name)


def panel(title: str, figure: Markup) -> Markup:
    """Return a figure with its caption."""
    return tag("figure", tag("figcaption", title), figure)


def table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], numeric: frozenset[int] = frozenset(), kind: str = ""
) -> Markup:
    """Return a table in a frame of its own that scrolls sideways when it must."""
    head = tag(
        "tr",
        [tag("th", name, scope="col", class_="number" if n in numeric else None) for n, name in enumerate(columns)],
    )
    body = [
        tag(
            "tr",
            [
                tag("td", _shown(cell), class_="number" if n in numeric else _width(cell))
                for n, cell in enumerate(row)
            ],
        )
        for row in rows
    ]
    return _framed(tag("table", tag("thead", head), tag("tbody", body), class_=kind or None))


def leaderboard(rows: Sequence[Mapping[str, Any]], facts: Facts, name: str) -> Markup:
    """Return the sortable leaderboard of one benchmark and scope."""
    domains = facts.domains
    has_ranks = any(row.get("rank") is not None for row in rows)
    has_latency = any(row.get("mean_latency_s") is not None for row in rows)
    columns = [
        ("System", "text"), ("nDCG@10", "number"), ("Setting", "text"), *([("Rank", "number")] if has_ranks else []),
        *((domain, "number") for domain, _ in domains), ("linear gain", "number"),
        *([("s / query", "number")] if has_latency else []), ("Missing", "number"), ("Ties", "number"),
    ]  # fmt: skip
    head = tag("tr", [_header(title, kind) for title, kind in columns])
    best = {
        (row["setting"], column): max(
            (r[column] for r in rows if r["setting"] == row["setting"] and r[column] is not None), default=None
        )
        for row in rows
        for column in (OVERALL, *(column for _, column in domains))
    }
    body = [
        tag(
            "tr",
            [_cell(cell) for cell in _row(row, facts, best, has_ranks, has_latency)],
            data_setting=row["setting"],
        )
        for row in rows
    ]
    caption = tag("caption", f"Leaderboard of {name}", class_="hidden")
    return _framed(tag("table", caption, tag("thead", head), tag("tbody", body), class_="board", data_sortable=True))


def _row(
    row: Mapping[str, Any],
    facts: Facts,
    best: Mapping[tuple[str, str], float | None],
    has_ranks: bool,
    has_latency: bool,
) -> list[Cell]:
    cells = [
        Cell(_system(row), kind="system", title=row["run_id"]),
        _score(row, facts, OVERALL, OVERALL, best, with_interval=True),
        Cell(row["setting"], kind="setting"),
    ]
    if has_ranks:
        rank, low, high = row.get("rank"), row.get("rank_low"), row.get("rank_high")
        span = f" {low}–{high}" if low is not None else ""
        cells.append(Cell([_text(rank), tag("span", span, class_="interval")], rank, "number"))
    cells += [_score(row, facts, column, domain, best) for domain, column in facts.domains]
    cells.append(Cell(_real(row["ndcg_lin_10"]), row["ndcg_lin_10"], "number"))
    if has_latency:
        seconds = row.get("mean_latency_s")
        cells.append(Cell("" if seconds is None else f"{seconds:.2g}", seconds, "number"))
    told = f"{row['n_degenerate']} queries without an ideal gain" if row["n_degenerate"] else None
    return [
        *cells,
        Cell(row["n_missing"], row["n_missing"], "number", told),
        Cell(row["n_tied_at_cutoff"], row["n_tied_at_cutoff"], "number"),
    ]


def _system(row: Mapping[str, Any]) -> list[Any]:
    told = row.get("distinction")
    return [
        tag("bdi", _named(row["system"])),
        tag("span", " ", tag("bdi", told), class_="interval") if told else None,
    ]


def _named(system: Any) -> str:
    """Return a name that fits a few lines; the whole one stands in the cell's title, with the run's id."""
    name = str(system)
    return (name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…") if name.strip() else "(blank)"


def _score(
    row: Mapping[str, Any],
    facts: Facts,
    column: str,
    domain: str,
    best: Mapping[tuple[str, str], float | None],
    with_interval: bool = False,
) -> Cell:
    value = row[column]
    interval = facts.intervals.get((row["run_id"], domain))
    told = None if interval is None else f"95 % interval {interval[0]:.3f} to {interval[1]:.3f}"
    shown: Any = _real(value)
    if value is not None and value == best[row["setting"], column]:
        shown = tag("strong", shown)
    if with_interval and interval is not None:
        shown = [shown, tag("span", f" {interval[0]:.3f}–{interval[1]:.3f}", class_="interval")]
    return Cell(shown, value, "number", told)


def heat(rows: Sequence[Mapping[str, Any]], facts: Facts) -> Markup:
    """Return scores by system and domain, shaded from the lowest to the highest."""
    columns = [column for _, column in facts.domains]
    values = [row[column] for row in rows for column in columns if row[column] is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    head = tag(
        "tr", [tag("th", title, scope="col") for title in ("System", *(domain for domain, _ in facts.domains))]
    )
    body = [
        tag(
            "tr",
            tag("th", _system(row), scope="row"),
            [
                tag("td", _real(row[column]), class_=f"number heat {_shade(row[column], low, high)}")
                for column in columns
            ],
        )
        for row in rows
    ]
    return _framed(tag("table", tag("thead", head), tag("tbody", body), class_="heatmap"))


def _shade(value: float | None, low: float, high: float) -> str:
    if value is None:
        return "h0"
    return f"h{1 + min(int(8 * (value - low) / ((high - low) or 1)), 7)}"


def _header(title: str, kind: str) -> Markup:
    # Rows come by setting and score, which is no order of one column.
    button = tag("button", title, type="button")
    number = "number" if kind == "number" else None
    return tag("th", button, scope="col", class_=number, data_kind=kind, aria_sort="none")


def _cell(cell: Cell) -> Markup:
    value = None if cell.value is None else repr(float(cell.value))
    return tag("td", cell.shown, class_=cell.kind, title=cell.title, data_value=value)


def _framed(content: Markup) -> Markup:
    return tag("div", content, class_="frame", tabindex="0", role="region", aria_label="table, scrolls sideways")


def _shown(cell: Any) -> Any:
    if isinstance(cell, Markup | list):
        return cell
    return _text(cell)


def _width(cell: Any) -> str | None:
    return "long" if isinstance(cell, str) and len(cell) > _LONG else None


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return str(value)


def _real(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
