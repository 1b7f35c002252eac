"""Checks that a rewritten text still says what it said: formulas set in LaTeX, and translations.

Both return None when all is well, else a sentence that a model (or a person) can act on.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from annotate.sourcing.linear_form import linear_form
from warehouse.cleaning.segments import split

_SHOWN = 40
_UNPAIRED = re.compile(r"(?<!\\)\$")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_WORDS_IN_FORMULA = re.compile(r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|mbox|hbox|mathrm|operatorname\*?)\s*\{[^{}]*\}")
_LAYOUT = frozenset(
    ("left", "right", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "displaystyle", "textstyle",
     "quad", "qquad", "text", "textbf", "textit", "textrm", "mathrm", "mathbf", "mbox", "hbox", "limits", "nolimits",
     "begin", "end", "boxed")
)  # fmt: skip
_NUMBER_WORDS_UP_TO = 20
"""Source texts write small numbers as words that a translation may give as digits ("两个" -> "2")."""


def format_difference(before: str, after: str) -> str | None:
    r"""Say what else than LaTeX delimiters and notation changed between two texts.

    The texts must have one linear form (letters, digits, operators, exponents, grouping), and the words outside
    formulas of ``after`` must stand in ``before`` as they are, in the same order.

    Examples
    --------
    >>> format_difference("Let x^2 <= 4.", r"Let $x^{2} \le 4$.")
    >>> format_difference("Let x^2 <= 4.", r"Let $x^{2} \le 5$.")
    "the text reads '5.' where it was '4.', after 'Letx^2<='"
    """
    words = [piece for is_formula, piece in split(after) if not is_formula]
    for piece in words:
        if _UNPAIRED.search(piece):
            return f"a dollar sign opens or closes no formula near {_shown(piece.strip())}; write \\$ for money"
    first, second = linear_form(before), linear_form(after)
    if first != second:
        at = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
        at = min(len(first), len(second)) if at is None else at
        behind = first[max(0, at - _SHOWN) : at]
        return (
            f"the text reads {_shown(second[at:]) or 'nothing'} where it was {_shown(first[at:]) or 'nothing'}, "
            f"after {behind!r}"
        )
    plain, position = before.replace("\\$", "$"), 0
    for piece in words:
        if not piece.strip():
            continue
        found = _spaced(piece.replace("\\$", "$")).search(plain, position)
        if found is None:
            return f"the words {_shown(piece.strip())} outside formulas are not those of the text"
        position = found.end()
    return None


def translation_difference(before: str, after: str, to_latin: bool = True) -> str | None:
    r"""Say which numbers, LaTeX commands or variables a translation lost or invented.

    Compared are the runs of digits of the whole texts (in any script: ``৩`` is 3), and within formulas the commands
    and the single letters; words in ``\text{}`` are free. Numbers up to 20 may appear anew, since a source may
    spell them as words. Into a language of Latin letters, at most a tenth of the letters outside formulas may be
    of another script.
    """
    for what, count, free in (
        ("the number", _numbers, True),
        ("the command", _commands, False),
        ("the variable", _variables, False),
    ):
        old, new = Counter(count(before)), Counter(count(after))
        lost, added = old - new, new - old
        if lost:
            return f"{what} {_first(lost)} of the text is missing in the translation"
        added = Counter(
            {k: n for k, n in added.items() if not (free and k.isdigit() and int(k) <= _NUMBER_WORDS_UP_TO)}
        )
        if added:
            return f"{what} {_first(added)} of the translation is not in the text"
    words = "".join(piece for is_formula, piece in split(after) if not is_formula)
    letters = [letter for letter in words if letter.isalpha()]
    foreign = [letter for letter in letters if "LATIN" not in unicodedata.name(letter, "") and not _is_greek(letter)]
    if to_latin and letters and len(foreign) > len(letters) / 10:
        return f"the translation still holds words of another script, such as {_shown(''.join(foreign))}"
    return None


def _spaced(piece: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(re.escape(word) for word in piece.split()))


def _numbers(text: str) -> Iterator[str]:
    # Each decimal digit by its value, so that scripts agree; other numerals (½, 三) are no runs of digits.
    digits = "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)
    return (run.lstrip("0") or "0" for run in re.findall(r"[0-9]+", digits))


def _formulas(text: str) -> Iterator[str]:
    return (_WORDS_IN_FORMULA.sub(" ", piece) for is_formula, piece in split(text) if is_formula)


def _commands(text: str) -> Iterator[str]:
    names = (name for formula in _formulas(text) for name in _COMMAND.findall(formula))
    return (f"\\{name}" for name in names if name not in _LAYOUT)


def _variables(text: str) -> Iterator[str]:
    for formula in _formulas(text):
        bare = re.sub(r"\\(?:begin|end)\s*\{[a-z]+\*?\}", " ", formula)
        yield from re.findall(r"[A-Za-z]", _COMMAND.sub(" ", bare))


def _is_greek(letter: str) -> bool:
    return "GREEK" in unicodedata.name(letter, "")


def _first(counted: Counter[str]) -> str:
    return repr(min(counted))


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…") if text else ""
