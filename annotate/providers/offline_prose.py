"""Solutions as plain sentences: formulas are put in words or dropped, diagrams and markup removed."""

from __future__ import annotations

import re

DIAGRAM = re.compile(r"\[asy\].*?\[/asy\]|\\begin\{tikzpicture\}.*?\\end\{tikzpicture\}", re.DOTALL)
FORMULA = re.compile(
    r"\$\$(.*?)\$\$|\$((?:[^$\\]|\\.)*)\$|\\\((.*?)\\\)|\\\[(.*?)\\\]"
    r"|\\begin\{((?:align|equation|gather|multline|eqnarray|array|cases)\*?)\}(.*?)\\end\{\5\}",
    re.DOTALL,
)
_MARKUP = re.compile(r"\[/?[a-z]+\*?\]|<[^<>]{1,80}>|https?://\S+|^#+ .*$|^\s*[-*•]\s+", re.MULTILINE)
_TEXT_COMMAND = re.compile(r"\\(?:text|textbf|textit|emph|mathrm|mbox|underline|boxed)\s*\{([^{}]*)\}")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?|\\.")
_LEFTOVERS = re.compile(r"[{}$\\^_~]|(?!\n)[\x00-\x1f\x7f]")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[A-Z(\"'])|\n\s*\n")

_PLAIN_FORMULAS = (
    (re.compile(r"[A-Za-z]'{0,2}"), r"\g<0>"),
    (re.compile(r"\\?triangle\s*([A-Z])\s*([A-Z])\s*([A-Z])"), r"triangle \1\2\3"),
    (re.compile(r"\\angle\s*([A-Z])\s*([A-Z])\s*([A-Z])"), r"angle \1\2\3"),
    (re.compile(r"\\(?:overline|overarc|widehat)\s*\{\s*([A-Z])\s*([A-Z])\s*\}"), r"\1\2"),
    (re.compile(r"([A-Z])\s*([A-Z])(?:\s*([A-Z]))?(?:\s*([A-Z]))?"), r"\1\2\3\4"),
    (re.compile(r"([a-zA-Z])\(([a-z])\)"), r"\1(\2)"),
    (re.compile(r"\d{1,4}"), r"\g<0>"),
    (re.compile(r"(\d{1,3})\s*\^\s*\{?\\circ\}?"), r"\1 degrees"),
)

_FORMULA_KINDS = (
    (r"\\equiv|\\pmod|\\bmod", "a congruence"),
    (r"\\d?binom|\\choose", "a binomial coefficient"),
    (r"\\int\b", "an integral"),
    (r"\\sum\b", "a sum"),
    (r"\\prod\b", "a product"),
    (r"\\lim\b", "a limit"),
    (r"matrix", "a matrix"),
    (r"\\[lr](?:floor|ceil)", "a floor"),
    (r"\\log|\\ln\b", "a logarithm"),
    (r"\\(?:sin|cos|tan|cot|sec|csc)\b", "a trigonometric relation"),
    (r"\\(?:mid|nmid)\b", "a divisibility"),
    (r"\\(?:leq?|geq?|leqslant|geqslant)\b|[<>]", "an inequality"),
    (r"[0-9a-z)]!", "a factorial"),
    (r"=", "an equation"),
    (r"\\sqrt", "a square root"),
    (r"\\d?t?frac", "a fraction"),
    (r"\^\{?2\b", "a square"),
    (r"\^", "a power"),
    (r"\\(?:vec|mathbf|overrightarrow)", "a vector"),
    (r"^\s*\(.*,.*\)\s*$", "a point"),
    (r"\\\{|\\in\b|\\c[ua]p\b|\\subset", "a set"),
)
_KINDS = tuple((re.compile(pattern), words) for pattern, words in _FORMULA_KINDS)
FORMULA_WORDS = frozenset(words for _, words in _FORMULA_KINDS) | {"an expression"}


def put_in_words(formula: str) -> str:
    """Name a formula in plain words: a symbol, points and small numbers as they are, the rest by its kind."""
    bare = formula.strip().rstrip(".,;:").strip()
    for pattern, plain in _PLAIN_FORMULAS:
        match = pattern.fullmatch(bare)
        if match:
            return match.expand(plain)
    return next((words for pattern, words in _KINDS if pattern.search(bare)), "an expression" if bare else "")


def plain_text(text: str) -> str:
    """Return a text without diagrams, markup and LaTeX; each formula is named in words."""
    text = DIAGRAM.sub(" ", text)
    text = FORMULA.sub(_formula_in_words, text)
    text = _TEXT_COMMAND.sub(r"\1", _MARKUP.sub(" ", text))
    text = _COMMAND.sub(" ", text)
    return _LEFTOVERS.sub(" ", text)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in plain words, white space collapsed, without the final stop."""
    pieces = _SENTENCE_END.split(plain_text(text))
    cleaned = (_tidy(piece) for piece in pieces)
    return [piece for piece in cleaned if piece]


def _formula_in_words(match: re.Match[str]) -> str:
    groups = match.groups()
    inner = next((group for i, group in enumerate(groups) if group is not None and i != 4), "")
    # Authors often leave the stop after a displayed formula out: a capital letter begins the next sentence.
    displayed = match[2] is None and match[3] is None
    follows = match.string[match.end() : match.end() + 40].lstrip()
    ends = inner.rstrip().endswith(".") or (displayed and follows[:1].isupper())
    return f" {put_in_words(inner)}{'.' if ends else ''} "


def _tidy(piece: str) -> str:
    piece = " ".join(piece.split())
    piece = re.sub(r"\s+([,;:.!?)])", r"\1", piece).replace("( ", "(")
    piece = re.sub(r"(?<=\d)\s*[-−–—]\s*(?=\d)", " to ", piece)
    piece = re.sub(r"[=<>≤≥≠≈≡∈∑∏∫√×·÷−|+*/]+", " ", piece)
    for words in FORMULA_WORDS:  # "an equation, an equation and an equation" says it once
        piece = re.sub(rf"({words})(?:,?(?: and| or|,)? {words})+", r"\1", piece)
    return " ".join(piece.split()).strip(" .,;:!?-")
