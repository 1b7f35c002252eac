"""How lexical systems cut a text into terms.

``plain``
    Lower-case runs of letters and digits (``unicode_words`` of the token sets): a formula falls to pieces.
``mathematics``
    Outside formulas words as above; inside them, LaTeX commands, numbers and operators are kept whole and
    every other letter is a term of its own, its case kept (``N`` and ``n`` differ, ``xy`` is a product).
    Formulas stand between ``$``, ``$$``, ``\\(``, ``\\[`` or in a display environment; outside them a command
    such as ``\\frac`` is kept whole too. Braces, alignment, spacing and sizing are layout and are dropped;
    spellings of one command (``\\leq``, ``\\le``, ``≤``) meet in one term.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

from udfs.formulas import FORMULA, formula_body
from udfs.tokens import unicode_words
from warehouse.errors import SaberError

_LINE_BREAK = re.compile(r"\\\\(?:\[[^\]\n]{0,20}\])?")
_TEXT_COMMAND = re.compile(r"\\(?:text|textrm|textbf|textit|mbox|mathrm|operatorname)\*?\s*\{([^{}]*)\}")
_BEGIN_OR_END = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}")
_MATHEMATICAL_TERM = re.compile(
    r"\\[a-zA-Z]+"  # command
    r"|\d+(?:\.\d+)?"  # number
    r"|<=|>=|!=|:=|->|=>"  # operators of two characters
    r"|[^\W\d_]"  # a letter, which is a variable
    r"|[-+*/=<>^_!|%']"
)
_PROSE_TERM = re.compile(r"\\[a-zA-Z]+|\d+(?:\.\d+)?|[^\W_]+")

_LAYOUT = frozenset(
    "\\" + name
    for name in (  # noqa: SIM905 - a list of forty quoted words reads worse
        "left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr quad qquad hspace vspace hfill "
        "displaystyle textstyle scriptstyle limits nolimits nonumber notag label tag hline begin end item "
        "mathbf mathit mathsf boldsymbol text textbf textit textrm mbox mathrm operatorname emph underline"
    ).split()
)
_SAME = {
    "\\dfrac": "\\frac",
    "\\tfrac": "\\frac",
    "\\cfrac": "\\frac",
    "\\dbinom": "\\binom",
    "\\tbinom": "\\binom",
    "\\leq": "\\le",
    "\\leqslant": "\\le",
    "<=": "\\le",
    "\\geq": "\\ge",
    "\\geqslant": "\\ge",
    ">=": "\\ge",
    "\\neq": "\\ne",
    "!=": "\\ne",
    "\\to": "\\rightarrow",
    "->": "\\rightarrow",
    "\\implies": "\\Rightarrow",
    "=>": "\\Rightarrow",
    "\\lt": "<",
    "\\gt": ">",
    "\\vert": "|",
    "\\mid": "|",
    "\\ast": "*",
    "\\prime": "'",
    "\\ldots": "\\dots",
    "\\cdots": "\\dots",
    "\\varnothing": "\\emptyset",
    "\\land": "\\wedge",
    "\\lor": "\\vee",
    "π": "\\pi",
    "α": "\\alpha",
    "β": "\\beta",
    "γ": "\\gamma",
    "θ": "\\theta",
}
_SYMBOLS = str.maketrans(
    {
        "≤": " \\le ",
        "≥": " \\ge ",
        "≠": " \\ne ",
        "→": " \\rightarrow ",
        "⇒": " \\Rightarrow ",
        "×": " \\times ",
        "·": " \\cdot ",
        "÷": " \\div ",
        "±": " \\pm ",
        "−": "-",
        "√": " \\sqrt ",
        "∑": " \\sum ",
        "∏": " \\prod ",
        "∫": " \\int ",
        "∞": " \\infty ",
        "∈": " \\in ",
        "∠": " \\angle ",
        "△": " \\triangle ",
        "°": " \\circ ",
        "≡": " \\equiv ",
        "≅": " \\cong ",
        "∪": " \\cup ",
        "∩": " \\cap ",
        "⊂": " \\subset ",
        "⊥": " \\perp ",
        "∥": " \\parallel ",
        "…": " \\dots ",
    }
)


def segments(text: str) -> Iterator[tuple[bool, str]]:
    """Cut a text into formulas and what stands between them.

    Yields
    ------
    is_formula
        Whether the segment stood between the marks of a formula.
    segment
        Its text, without the marks.
    """
    end = 0
    for match in FORMULA.finditer(text):
        yield False, text[end : match.start()]
        yield True, formula_body(match)
        end = match.end()
    yield False, text[end:]


def mathematical_terms(text: str) -> list[str]:
    """Return the terms of the tokeniser ``mathematics`` in reading order, repeats included."""
    # Symbols first: NFKC would turn the ellipsis into three full stops.
    prepared = unicodedata.normalize("NFKC", _LINE_BREAK.sub(" ", text).translate(_SYMBOLS))
    terms: list[str] = []
    for is_formula, segment in segments(prepared):
        terms += _formula(segment) if is_formula else _prose(segment)
    return terms


def _prose(text: str) -> list[str]:
    found = _PROSE_TERM.findall(_BEGIN_OR_END.sub(" ", text))
    lowered = (term if term.startswith("\\") else term.lower() for term in found if term not in _LAYOUT)
    return [_SAME.get(term, term) for term in lowered]


def _formula(text: str) -> list[str]:
    terms: list[str] = []
    end = 0
    plain = _BEGIN_OR_END.sub(" ", text)
    for match in _TEXT_COMMAND.finditer(plain):
        terms += _symbols(plain[end : match.start()]) + _prose(match[1])
        end = match.end()
    return terms + _symbols(plain[end:])


def _symbols(text: str) -> list[str]:
    return [_SAME.get(term, term) for term in _MATHEMATICAL_TERM.findall(text) if term not in _LAYOUT]


TOKENISERS: dict[str, Callable[[str], list[str]]] = {"plain": unicode_words, "mathematics": mathematical_terms}


def tokeniser_named(name: str) -> Callable[[str], list[str]]:
    """Return a tokeniser; an unknown name is an error."""
    if name not in TOKENISERS:
        raise SaberError(f"No tokeniser is called {name!r}. Known: {', '.join(TOKENISERS)}.")
    return TOKENISERS[name]
