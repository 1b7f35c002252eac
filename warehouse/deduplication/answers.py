"""Final answers as numbers: two problems whose answers are different numbers are different problems."""

from __future__ import annotations

import re
from fractions import Fraction

_NOISE = re.compile(
    r"\\(?:left|right|text|mathrm|mbox|displaystyle|boxed)(?![A-Za-z])|\\[!,;:% ]|\\\$|\\%|[${}\s]"
    r"|(?<=\d),(?=(?:\\!)?\d{3}(?!\d))"
)
_FRACTION = re.compile(r"(-?)\\[dtc]?frac(?:(\d)(\d)|\{(-?\d+)\}\{(-?\d+)\})\Z")
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?\Z")
_RATIO = re.compile(r"(-?\d+)/(\d+)\Z")
_FINAL = re.compile(r"\A[a-zA-Z]\w?=")


def number_of(answer: str | None) -> Fraction | None:
    r"""Read an answer as a number: ``1,072``, ``$\frac{3}{4}$``, ``0.75``, ``x = 3``; None for anything else."""
    if not answer or len(answer) > 60:
        return None
    # The braces of a fraction are needed, all others are noise.
    tight = re.sub(r"[\s$]|\\[!,;: ]|\\left|\\right", "", answer)
    fraction = _FRACTION.match(tight)
    if fraction:
        sign, short_top, short_bottom, top, bottom = fraction.groups()
        above, below = int(short_top or top), int(short_bottom or bottom)
        return (-1 if sign else 1) * Fraction(above, below) if below else None
    plain = _FINAL.sub("", _NOISE.sub("", answer)).rstrip(".").replace("\u2212", "-")
    if _PLAIN.match(plain):
        return Fraction(plain)
    ratio = _RATIO.match(plain)
    if ratio and int(ratio[2]):
        return Fraction(int(ratio[1]), int(ratio[2]))
    return None


def in_conflict(first: Fraction | None, second: Fraction | None) -> bool:
    """Whether both are numbers and differ."""
    return first is not None and second is not None and first != second
