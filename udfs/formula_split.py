r"""Split the text of a problem into its mathematics and its words, by rules.

Formulas are what stands between ``$``, ``$$``, ``\(``, ``\[`` or in a display environment; text inside them
(``\text{...}``) is words. Outside formulas a token is mathematics when it holds a LaTeX command, a digit, an operator
or a mathematical symbol, or is a single letter that is no word. Dollars that stand for money enclose words: what they
enclose is split like any other text. Code of drawings (``[asy] ... [/asy]``) is neither.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from udfs.formulas import FORMULA, formula_body

_TEXT = re.compile(r"\\(?:text|textrm|textbf|textit|mbox|intertext)\*?\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_WORD = re.compile(r"[^\W\d_]{2,}", re.UNICODE)
_COMMAND = re.compile(r"\\[a-zA-Z]+")
_TWO_WORDS = re.compile(r"(?<![\\^_{a-zA-Z])[^\W\d_]{3,}[,.;]?\s+[^\W\d_]{2,}(?![a-zA-Z{])", re.UNICODE)
_OPERATORS = frozenset("=<>+*/^_|")
_LETTER_WORDS = frozenset("aAIOoyYeEàÀ")  # single letters that are words in some language
_EDGES = "$.,;:!?()[]{}\"'“”‘’«»…"
_TOKEN = re.compile(r"\\[a-zA-Z]+|\d+(?:\.\d+)?|[^\W\d_]+|[^\w\s]", re.UNICODE)


class Parts(NamedTuple):
    """The mathematics and the words of a text, each with single spaces between its pieces."""

    mathematics: str
    words: str


def split_text(text: str) -> Parts:
    """Split a text; order is kept within each part, and either may be empty."""
    mathematics: list[str] = []
    words: list[str] = []
    end = 0
    text = _without_drawings(text)
    for match in FORMULA.finditer(text):
        body = formula_body(match)
        if match["inline"] is not None and _is_prose(body):
            continue  # money: "$5 and pays $7" opens no formula; it is split with the text around it
        _split_prose(text[end : match.start()], mathematics, words)
        _split_formula(body, mathematics, words)
        end = match.end()
    _split_prose(text[end:], mathematics, words)
    return Parts(" ".join(mathematics), " ".join(words))


def count_tokens(text: str) -> int:
    """Count commands, numbers, words and single signs, the measure of how much of a text is mathematics."""
    return sum(1 for _ in _TOKEN.finditer(text))


def _without_drawings(text: str) -> str:
    kept, end = [], 0
    while (begin := text.find("[asy]", end)) >= 0:
        kept.append(text[end:begin])
        close = text.find("[/asy]", begin)
        end = len(text) if close < 0 else close + len("[/asy]")
    return " ".join([*kept, text[end:]])


def _is_prose(body: str) -> bool:
    return _TWO_WORDS.search(_TEXT.sub(" ", body)) is not None and not _COMMAND.search(body)


def _split_formula(body: str, mathematics: list[str], words: list[str]) -> None:
    end = 0
    for match in _TEXT.finditer(body):
        _keep(body[end : match.start()], mathematics)
        if _WORD.search(match[1]):
            _split_prose(match[1], mathematics, words)
        else:
            _keep(match[1], mathematics)
        end = match.end()
    _keep(body[end:], mathematics)


def _split_prose(text: str, mathematics: list[str], words: list[str]) -> None:
    for token in text.split():
        core = token.strip(_EDGES)
        if _is_mathematics(core or token):
            mathematics.append(core or token)
        elif core:
            words.append(token)


def _is_mathematics(token: str) -> bool:
    if len(token) == 1 and token.isalpha():
        return token not in _LETTER_WORDS
    if any(
        character.isdigit() or character in _OPERATORS or unicodedata.category(character) == "Sm"
        for character in token
    ):
        return True
    return _COMMAND.search(token) is not None


def _keep(text: str, parts: list[str]) -> None:
    flat = " ".join(text.split())
    if flat:
        parts.append(flat)
