"""Tell formulas from words: most steps must leave one of the two alone."""

from __future__ import annotations

import re
from collections.abc import Callable

# Display before inline, environments first, so that "$$" is never read as two empty formulas. A single
# dollar opens a formula only where a closing one follows in the same paragraph.
_FORMULA = re.compile(
    r"\\begin\{(?P<env>equation|align|alignat|gather|multline|eqnarray|displaymath|math|array|cases|tabular)(?P<star>\*?)\}"
    r".*?\\end\{(?P=env)(?P=star)\}"
    r"|(?<!\\)\$\$.+?(?<!\\)\$\$"
    r"|(?<!\\)\\\[.+?(?<!\\)\\\]"
    r"|(?<!\\)\\\(.+?(?<!\\)\\\)"
    r"|(?<![\\$])\$(?!\$)(?:[^$\\\n]|\\.|\n(?!\s*\n))+?(?<!\\)\$(?!\$)",
    re.DOTALL,
)


def split(text: str) -> list[tuple[bool, str]]:
    """Cut a text into (is a formula, piece); the pieces joined give the text back."""
    pieces, end = [], 0
    for found in _FORMULA.finditer(text):
        if found.start() > end:
            pieces.append((False, text[end : found.start()]))
        pieces.append((True, found.group()))
        end = found.end()
    if end < len(text):
        pieces.append((False, text[end:]))
    return pieces


def outside_formulas(text: str, change: Callable[[str], str]) -> str:
    """Apply ``change`` to the words of a text and leave its formulas as they are."""
    return "".join(piece if is_formula else change(piece) for is_formula, piece in split(text))


def closing_brace(text: str, opening: int) -> int | None:
    """Index of the brace that closes the one at ``opening``; None when it is never closed."""
    depth, position = 0, opening
    while position < len(text):
        sign = text[position]
        if sign == "\\":
            position += 2
            continue
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return position
        position += 1
    return None
