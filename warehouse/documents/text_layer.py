"""The text layer of a PDF page as lines, with raised and lowered characters marked."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

# In heights of the line's usual characters.
_SAME_LINE = 0.6  # a baseline further off begins another line
_BACK = 1.5  # a character further to the left begins another line
_SMALL = 0.88  # exponents are set at about 0.7 of the size
_RAISED, _LOWERED = 0.12, 0.06
_GAP = 0.25  # so much room between two characters is a space
_PARAGRAPH = 1.7  # baselines further apart have an empty line between them


class Glyph(NamedTuple):
    """One character: where its baseline begins and ends (points, y upwards) and how high its font is."""

    sign: str
    x: float
    y: float
    right: float
    height: float


def page_text(document: Any, number: int) -> str | None:
    """Return the text of page ``number`` (from 0) of a pypdfium2 document; None where it has none."""
    page = document[number]
    try:
        textpage = page.get_textpage()
        try:
            text = as_text(_glyphs(textpage))
        finally:
            textpage.close()
    finally:
        page.close()
    return text or None


def as_text(glyphs: Sequence[Glyph]) -> str:
    """Gather glyphs, in reading order, into lines.

    Examples
    --------
    >>> x, two, plus = Glyph("x", 0, 0, 6, 12), Glyph("2", 6, 5, 10, 8), Glyph("+", 14, 0, 20, 12)
    >>> as_text([x, two, plus, Glyph("y", 0, -14, 6, 12)])
    'x^{2} +\\ny'
    """
    shown: list[str] = []
    last_base, last_height = None, 0.0
    for line in _lines(glyphs):
        base, height = _base(line)
        if last_base is not None and abs(last_base - base) > _PARAGRAPH * max(height, last_height):
            shown.append("")
        shown.append(_marked(line, base, height).rstrip())
        last_base, last_height = base, height
    return "\n".join(shown).strip("\n")


def _glyphs(textpage: Any) -> list[Glyph]:
    import pypdfium2.raw as pdfium

    found: list[Glyph] = []
    x, y, box = ctypes.c_double(), ctypes.c_double(), pdfium.FS_RECTF()
    for place in range(textpage.count_chars()):
        sign = chr(pdfium.FPDFText_GetUnicode(textpage, place))
        if pdfium.FPDFText_IsHyphen(textpage, place) == 1:
            sign = "-"  # pdfium hides hyphens at line ends
        generated = pdfium.FPDFText_IsGenerated(textpage, place) == 1
        if sign in "\r\n\x00\ufffe\uffff" or (generated and sign != " ") or not (sign.isprintable() or sign == " "):
            continue
        pdfium.FPDFText_GetCharOrigin(textpage, place, x, y)
        pdfium.FPDFText_GetLooseCharBox(textpage, place, box)
        height = box.top - box.bottom
        if generated and found:
            height = found[-1].height  # a space that was put in has no size
        found.append(Glyph(sign, x.value, y.value, max(x.value, box.right), height))
    return found


def _lines(glyphs: Sequence[Glyph]) -> Iterator[list[Glyph]]:
    line: list[Glyph] = []
    tallest = None
    for glyph in glyphs:
        if line and tallest is not None:
            height = max(tallest.height, glyph.height)
            if abs(glyph.y - tallest.y) > _SAME_LINE * height or glyph.x < line[-1].x - _BACK * height:
                yield line
                line, tallest = [], None
        line.append(glyph)
        if tallest is None or glyph.height >= _SMALL * tallest.height:
            tallest = glyph
    if line:
        yield line


def _base(line: Sequence[Glyph]) -> tuple[float, float]:
    """Baseline and height of most characters of a line, the higher ones where several are as many."""
    sizes = Counter((round(glyph.height, 1), round(glyph.y, 1)) for glyph in line if glyph.sign != " ")
    if not sizes:
        return line[0].y, line[0].height
    height, base = max(sizes, key=lambda size: (sizes[size], size[0]))
    tallest = max(sizes)
    # "x" with a long exponent: the exponent is the majority, but the base line is the larger letter's.
    if tallest[0] * _SMALL > height:
        height, base = tallest
    return base, height


def _marked(line: Sequence[Glyph], base: float, height: float) -> str:
    pieces: list[tuple[str, str]] = []
    before: Glyph | None = None
    for glyph in line:
        level = ""
        if glyph.height < _SMALL * height:
            shift = (glyph.y - base) / height
            level = "^" if shift > _RAISED else "_" if shift < -_LOWERED else ""
        if glyph.sign == " ":
            level = pieces[-1][0] if pieces else ""
        elif before is not None and before.sign != " " and glyph.x - before.right > _GAP * height:
            pieces.append(("", " "))
        before = glyph
        if pieces and pieces[-1][0] == level:
            pieces[-1] = (level, pieces[-1][1] + glyph.sign)
        else:
            pieces.append((level, glyph.sign))
    return "".join(_piece(level, text) for level, text in pieces)


def _piece(level: str, text: str) -> str:
    if not level or not text.strip():
        return text
    inner = text.rstrip()
    return f"{level}{{{inner}}}{text[len(inner) :]}"
