"""A log-log line plot as SVG, without a plotting library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 900, 520  # the picture grows below where its legend is longer
LEFT, RIGHT, TOP, BOTTOM = 70, 250, 20, 50
LEGEND = 18
COLOURS = (
    "#1f77b4",
    "#d62728",
    "#2ca02c",
    "#9467bd",
    "#ff7f0e",
    "#17becf",
    "#8c564b",
    "#e377c2",
    "#7f7f7f",
    "#bcbd22",
)

_MARKS: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((-4, -4), (4, -4), (4, 4), (-4, 4)),
    ((0, -5), (5, 4), (-5, 4)),
    ((0, -5), (5, 0), (0, 5), (-5, 0)),
)


@dataclass(frozen=True)
class Line:
    """Points (x, y), both positive, ascending by x."""

    name: str
    points: tuple[tuple[float, float], ...]
    dashed: bool = False


def log_log_plot(lines: Sequence[Line], x_title: str, y_title: str) -> str:
    """Draw `lines` on logarithmic axes with a legend on the right; returns the SVG text."""
    points = [point for line in lines for point in line.points] or [(1.0, 1.0)]
    x_axis = _Axis([x for x, _ in points], LEFT, WIDTH - RIGHT)
    y_axis = _Axis([y for _, y in points], HEIGHT - BOTTOM, TOP)
    height = max(HEIGHT, TOP + LEGEND * (len(lines) + 1))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for value in x_axis.ticks():
        at = x_axis.place(value)
        parts.append(_rule(at, TOP, at, HEIGHT - BOTTOM) + _text(at, HEIGHT - BOTTOM + 18, _tick(value), "middle"))
    for value in y_axis.ticks():
        at = y_axis.place(value)
        parts.append(_rule(LEFT, at, WIDTH - RIGHT, at) + _text(LEFT - 8, at + 4, _tick(value), "end"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_title, "middle"))
    parts.append(_text(LEFT - 50, TOP - 6, y_title, "start"))
    for number, line in enumerate(lines):
        parts.append(_line(line, number, x_axis, y_axis, TOP + 14 + LEGEND * number))
    return "\n".join([*parts, "</svg>", ""])


class _Axis:
    """Whole powers of ten that hold all values, on a range of pixels."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.first, self.last = first, last

    def place(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.first + share * (self.last - self.first)

    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]


def _line(line: Line, number: int, x_axis: _Axis, y_axis: _Axis, legend: float) -> str:
    colour, mark = COLOURS[number % len(COLOURS)], _MARKS[number // len(COLOURS) % len(_MARKS)]
    style = f'stroke="{colour}" stroke-width="2" fill="none"' + (' stroke-dasharray="5 4"' if line.dashed else "")
    places = [(x_axis.place(x), y_axis.place(y)) for x, y in line.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    start = WIDTH - RIGHT + 15
    marks = "".join(_mark(x, y, mark, colour) for x, y in [*places, (start + 12, legend)])
    key = f'<line x1="{start}" y1="{legend}" x2="{start + 24}" y2="{legend}" {style}/>'
    return f'<polyline points="{path}" {style}/>{key}{marks}{_text(start + 30, legend + 4, line.name, "start")}'


def _mark(x: float, y: float, corners: Sequence[tuple[float, float]], colour: str) -> str:
    """Draw a dot, or the polygon of the corners, so that lines of one colour are told apart."""
    if not corners:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{colour}"/>'


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ddd"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
