"""Figures as inline SVG: narrow panels that stand side by side on a desk and below each other on a phone.

Colours are classes of the style sheet, so that figures follow light and dark.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from warehouse.report.markup import Markup, tag

WIDTH = 360
_LABEL, _RIGHT, _ROW = 112, 44, 22


@dataclass(frozen=True)
class Point:
    """One row of an interval plot; intervals may be absent. The wide one also carries the ratings' uncertainty."""

    label: str
    value: float | None
    interval: tuple[float, float] | None = None
    wide: tuple[float, float] | None = None


def intervals(title: str, points: Sequence[Point], low: float, high: float, chance: float | None = None) -> Markup:
    """Return a dot with its intervals for each row, best first as given, on an axis from `low` to `high`."""
    top, height = 6, _ROW * len(points)
    x = _scale(low, high, _LABEL, WIDTH - _RIGHT)
    rows = []
    if chance is not None:
        line = {"x1": _n(x(chance)), "x2": _n(x(chance)), "y1": top, "y2": top + height, "class_": "chance"}
        rows.append(tag("line", tag("title", f"random order: {chance:.3f}"), **line))
    for number, point in enumerate(points):
        y = top + _ROW * number + _ROW / 2
        rows.append(_text(_LABEL - 8, y + 4, _short(point.label, 16), "label end", point.label))
        if point.value is None:
            continue
        told = f"{point.label}: {point.value:.3f}"
        for ends, kind in ((point.wide, "whisker wide"), (point.interval, "whisker")):
            if ends is not None:
                told += f" [{ends[0]:.3f}, {ends[1]:.3f}]"
                rows.append(tag("line", x1=_n(x(ends[0])), x2=_n(x(ends[1])), y1=_n(y), y2=_n(y), class_=kind))
        rows.append(tag("circle", tag("title", told), cx=_n(x(point.value)), cy=_n(y), r="4", class_="dot"))
        rows.append(_text(WIDTH - _RIGHT + 8, y + 4, f"{point.value:.3f}", "value"))
    return _svg(title, top + height + 26, [*_vertical_axis(x, low, high, top, top + height), *rows])


def curves(
    title: str, series: Sequence[tuple[str, Sequence[tuple[float, float]]]], x_label: str, y_label: str
) -> Markup:
    """Return a line for each series over x, y in [0, 1], its name at the legend."""
    left, right, top, bottom, legend = 40, 12, 10, 200, 26
    last = max((x for _, points in series for x, _ in points), default=1)
    x, y = _scale(0, last, left, WIDTH - right), _scale(0, 1, bottom, top)
    parts = []
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(tag("line", x1=left, x2=WIDTH - right, y1=_n(y(tick)), y2=_n(y(tick)), class_="grid"))
        parts.append(_text(left - 6, y(tick) + 4, f"{tick:g}", "tick end"))
    for tick in _ticks(0, last):
        parts.append(_text(x(tick), bottom + 15, f"{tick:g}", "tick middle"))
    # chance: candidates of a class spread evenly over the ranks
    parts.append(tag("line", x1=_n(x(0)), y1=_n(y(0)), x2=_n(x(last)), y2=_n(y(1)), class_="chance"))
    for number, (name, points) in enumerate(series, 1):
        shown = " ".join(f"{_n(x(a))},{_n(y(b))}" for a, b in [(0, 0), *points])
        parts.append(tag("polyline", tag("title", name), points=shown, class_=f"curve s{number}"))
    parts.append(_text((left + WIDTH - right) / 2, bottom + 32, x_label, "tick middle"))
    parts.append(_text(left, top - 1, y_label, "tick"))
    parts += _legend([name for name, _ in series], left, bottom + 32 + legend - 6)
    return _svg(title, bottom + 32 + legend, parts)


def grouped_bars(title: str, names: Sequence[str], rows: Sequence[tuple[str, Sequence[float]]]) -> Markup:
    """Return horizontal bars of shares, a group a row, one bar a name."""
    bar, gap, top = 9, 10, 6
    group = bar * len(names) + gap
    high = max((share for _, shares in rows for share in shares), default=1.0) or 1.0
    x = _scale(0, high, _LABEL, WIDTH - _RIGHT)
    parts = []
    for number, (label, shares) in enumerate(rows):
        y = top + group * number
        parts.append(_text(_LABEL - 8, y + bar * len(names) / 2 + 4, _short(label, 16), "label end", label))
        for position, share in enumerate(shares):
            at = y + bar * position
            width = max(x(share) - x(0), 0)
            told = f"{label}, {names[position]}: {100 * share:.1f} %"
            parts.append(
                tag(
                    "rect",
                    tag("title", told),
                    x=_LABEL,
                    y=_n(at),
                    width=_n(width),
                    height=bar - 1,
                    class_=f"bar s{position + 1}",
                )
            )
            parts.append(_text(x(share) + 5, at + 8, f"{100 * share:.0f} %", "tiny"))
    bottom = top + group * len(rows)
    return _svg(title, bottom + 24, [*parts, *_legend(names, _LABEL, bottom + 14)])


def bars(title: str, rows: Sequence[tuple[str, float | None, str]], high: float, is_series: bool = True) -> Markup:
    """Return one horizontal bar a row (label, value, what to print beside it), from 0 to `high`.

    With `is_series` each row has a colour of its own, that of its name elsewhere on the page.
    """
    top, x = 6, _scale(0, high, _LABEL, WIDTH - _RIGHT)
    parts = []
    for number, (label, value, told) in enumerate(rows):
        y = top + 30 * number
        parts.append(_text(_LABEL - 8, y + 15, _short(label, 16), "label end", label))
        if value is not None:
            width = _n(x(value) - x(0))
            parts.append(
                tag(
                    "rect",
                    tag("title", f"{label}: {told}"),
                    x=_LABEL,
                    y=y,
                    width=width,
                    height=20,
                    class_=f"bar s{number % 4 + 1 if is_series else 1}",
                )
            )
            parts.append(_text(x(value) + 6, y + 15, told, "value"))
    return _svg(title, top + 30 * len(rows) + 4, parts)


def limits(values: Sequence[float]) -> tuple[float, float]:
    """Return an axis from 0 to 1 narrowed to tenths around the values."""
    if not values:
        return 0.0, 1.0
    low, high = math.floor(10 * min(values) - 0.2) / 10, math.ceil(10 * max(values) + 0.2) / 10
    return max(low, 0.0), min(high, 1.0)


def _vertical_axis(x: _Scale, low: float, high: float, top: float, bottom: float) -> list[Markup]:
    parts = []
    for tick in _ticks(low, high):
        parts.append(tag("line", x1=_n(x(tick)), x2=_n(x(tick)), y1=top, y2=_n(bottom), class_="grid"))
        parts.append(_text(x(tick), bottom + 16, f"{tick:g}", "tick middle"))
    return parts


def _ticks(low: float, high: float) -> list[float]:
    span = (high - low) or 1
    step = next((m * 10**e for e in range(-3, 7) for m in (1, 2, 5) if span / (m * 10**e) <= 6), span)
    first = math.ceil(low / step - 1e-9)
    return [round(step * number, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]


class _Scale:
    def __init__(self, low: float, high: float, start: float, stop: float) -> None:
        self._low, self._span, self._start, self._length = low, (high - low) or 1.0, start, stop - start

    def __call__(self, value: float) -> float:
        return self._start + self._length * (value - self._low) / self._span


def _scale(low: float, high: float, start: float, stop: float) -> _Scale:
    return _Scale(low, high, start, stop)


def _legend(names: Sequence[str], left: float, y: float) -> list[Markup]:
    parts, x = [], left
    for number, name in enumerate(names, 1):
        parts.append(tag("rect", x=_n(x), y=_n(y - 8), width=10, height=10, class_=f"bar s{number}"))
        parts.append(_text(x + 14, y + 1, name, "tick"))
        x += 26 + 6.2 * len(name)
    return parts


def _svg(title: str, height: float, parts: Sequence[Markup]) -> Markup:
    return tag(
        "svg",
        tag("title", title),
        list(parts),
        viewbox=f"0 0 {WIDTH} {_n(height)}",
        role="img",
        aria_label=title,
        class_="figure",
    )


def _text(x: float, y: float, text: str, kind: str, whole: str | None = None) -> Markup:
    full = tag("title", whole) if whole is not None and whole != text else None
    return tag("text", full, text, x=_n(x), y=_n(y), class_=kind)


def _short(text: str, most: int) -> str:
    """Cut a label to the room of `most` letters, of which wide signs (m, W, East Asian ones) take more."""
    taken = list(accumulate(_room(sign) for sign in text))
    if not taken or taken[-1] <= most:
        return text
    return text[: sum(room <= most - 1.5 for room in taken)] + "…"


def _room(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "FW":
        return 1.8
    return 1.5 if sign in "mwMW@%—" else 1.15 if sign.isupper() or sign in "nu_#&=+<>~" else 1.0


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
