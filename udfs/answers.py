"""Final answers: as numbers, without their notation, and by their form."""

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

_HIDDEN = re.compile(r"\\(?:left|right|displaystyle|limits)(?![A-Za-z])|\\[!,;: ()\[\]]|\s")
_STYLED = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_MARKS = re.compile(r"(?<!\\)\$")
_GROUP = r"\{((?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*)\}"  # braces within braces, four deep
_FONT = re.compile(r"\\(?:boxed|fbox|mathbf|mathrm|text|textbf|mbox)" + _GROUP)
_OVER = re.compile(rf"\\frac(?:{_GROUP}{_GROUP}|(\d)(\d))")
_SIMPLE = re.compile(r"(?:\w+|\\[A-Za-z]+)\Z")
_SINGLE = re.compile(r"(?<![A-Za-z}\]])\{(\w|\\[A-Za-z]+)\}")
_WHOLE = re.compile(rf"\A{_GROUP}\Z")

_TYPES = (("integer", re.compile(r"-?[0-9][0-9,]*\Z")), ("decimal", re.compile(r"-?[0-9]*\.[0-9]+\Z")))
_CHOICE = re.compile(r"\(?[A-E]\)?\Z")


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


def answer_key(answer: str | None) -> Fraction | str | None:
    r"""What an answer says, whatever its notation: a number, else its text without boxes, dollars and spacing.

    Two forms of one value that are neither fractions nor decimals (``2/e`` and ``0.7358``) keep two keys.
    """
    if not answer or not answer.strip():
        return None
    text = _unwrapped(_STYLED.sub(r"\\frac", _MARKS.sub("", _HIDDEN.sub("", answer))))
    number = number_of(answer)
    if number is None and "," not in text:  # without its spaces the list "1, 234" looks like a number
        number = number_of(text)
    return text if number is None else number


def answers_differ(first: str | None, second: str | None) -> bool:
    """Whether both problems have an answer and they are not seen to be the same."""
    one, other = answer_key(first), answer_key(second)
    return one is not None and other is not None and one != other


def _unwrapped(text: str) -> str:
    """Drop boxes, fonts and braces that change nothing, and write fractions with a slash."""
    before = None
    while text != before:
        before = text
        text = _FONT.sub(r"\1", text)
        text = _OVER.sub(lambda found: _slash(found[1] or found[3], found[2] or found[4]), text)
        text = _SINGLE.sub(r"\1", text)
        text = _WHOLE.sub(r"\1", text).rstrip(".")
    return text


def _slash(above: str, below: str) -> str:
    return "/".join(part if _SIMPLE.match(part) else f"({part})" for part in (above, below))


def answer_type(answer: str | None) -> str:
    """Name the form of an answer, as the view ``answer_types`` does."""
    text = (answer or "").strip(" ")
    if not text:
        return "none"
    for kind, pattern in _TYPES:
        if pattern.match(text):
            return kind
    if "\\frac" in text and len(answer or "") < 40:
        return "fraction"
    if _CHOICE.match(text):
        return "choice"
    return "expression" if any(sign in text for sign in "\\^=") else "words"
