r"""One linear form for formulas however they are written: ``\frac{x+1}{2}``, ``(x+1)/2`` and ``$(x+1)/2$`` are equal.

It serves to hold a text against the same text with LaTeX delimiters added. Everything that carries meaning stays
(letters, digits, operators, exponents, grouping), everything that is only notation goes (delimiters, spaces,
``\left``, the choice between braces and brackets, ``\le`` or ``≤``).
"""

from __future__ import annotations

import re
import unicodedata

_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[a-zA-Z]+\*?\}")
_DELIMITER = re.compile(r"\\?\$|\\[()\[\]]")
_TEXT_GROUP = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|emph|mbox|hbox|math(?:rm|bf|it|sf|normal)|operatorname\*?)\s*\{([^{}]*)\}"
)
_LAYOUT = re.compile(
    r"\\(?:left|right|big[lrm]?|Big[lrm]?|bigg[lrm]?|Bigg[lrm]?|displaystyle|textstyle|limits|nolimits|q?quad|rm|bf|it)"
    r"(?![A-Za-z])|\\[,;:!> ]|~"
)
_FRACTION = re.compile(r"\\[dtc]?frac(?![A-Za-z])\s*")
_BINOMIAL = re.compile(r"\\[dt]?binom(?![A-Za-z])\s*")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_ONE_THING = re.compile(r"\(\s*(\d+(?:\.\d+)?|[^()\s]?)\s*\)")
_TWICE = re.compile(r"\(\(([^()]*)\)\)")
_SPACE = re.compile(r"\s+")
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ"
_LOWERED = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎"
_RAISED_RUN, _LOWERED_RUN = re.compile(f"[{_RAISED}]+"), re.compile(f"[{_LOWERED}]+")
_FRACTION_SIGN = re.compile("[¼½¾⅐-⅞]")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)\s+(?=\d)")

# What is written in several ways, in the way that is compared. Commands without an entry stand for their name:
# \sin is sin, \alpha is alpha.
_SIGNS = {
    "leq": "<=", "le": "<=", "leqslant": "<=", "geq": ">=", "ge": ">=", "geqslant": ">=", "neq": "!=", "ne": "!=",
    "lt": "<", "gt": ">", "times": "*", "cdot": "*", "ast": "*", "div": "/", "pm": "+-", "mp": "-+",
    "to": "->", "rightarrow": "->", "longrightarrow": "->", "Rightarrow": "=>", "implies": "=>", "iff": "<=>",
    "Leftrightarrow": "<=>", "ldots": "...", "dots": "...", "cdots": "...", "dotsc": "...", "dotsb": "...",
    "infty": "infinity", "circ": "°", "degree": "°", "colon": ":", "mid": "|", "vert": "|", "lvert": "|",
    "rvert": "|", "varphi": "phi", "varepsilon": "epsilon", "vartheta": "theta", "emptyset": "varnothing",
    "lbrace": "{", "rbrace": "}", "prime": "'", "parallel": "||", "land": "wedge", "lor": "vee", "lnot": "neg",
    "dotsm": "...", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉",
}  # fmt: skip
_CHARACTERS = {
    "≤": "<=", "⩽": "<=", "≥": ">=", "⩾": ">=", "≠": "!=", "×": "*", "·": "*", "⋅": "*", "∗": "*", "∙": "*",
    "÷": "/", "⁄": "/", "∕": "/", "±": "+-", "∓": "-+", "−": "-", "‐": "-", "‑": "-", "→": "->", "⟶": "->",
    "⇒": "=>", "⟹": "=>", "⇔": "<=>", "⟺": "<=>", "…": "...", "⋯": "...", "∞": "infinity", "√": "sqrt",
    "∑": "sum", "∏": "prod", "∫": "int", "∈": "in", "∉": "notin", "⊂": "subset", "⊆": "subseteq", "∪": "cup",
    "∩": "cap", "∅": "varnothing", "∀": "forall", "∃": "exists", "∠": "angle", "△": "triangle", "⊥": "perp",
    "∥": "||", "≡": "equiv", "≈": "approx", "∼": "sim", "≅": "cong", "∂": "partial", "′": "'", "’": "'",
    "º": "°", "∧": "wedge", "∨": "vee", "¬": "neg", "ℝ": "mathbbR", "ℕ": "mathbbN", "ℤ": "mathbbZ",
    "ℚ": "mathbbQ", "ℂ": "mathbbC",
}  # fmt: skip


def linear_form(text: str) -> str:
    """Return what a text says, without spaces, in one notation of formulas.

    Two texts of one form differ in layout alone. The form is for comparing, not for reading.
    """
    # Dollar signs go altogether: whether one is money or a delimiter is for the words outside formulas to say.
    text = _DELIMITER.sub(" ", _ENVIRONMENT.sub(" ", unicodedata.normalize("NFC", text)))
    text = _RAISED_RUN.sub(lambda run: f"^({unicodedata.normalize('NFKC', run[0])})", text)
    text = _LOWERED_RUN.sub(lambda run: f"_({unicodedata.normalize('NFKC', run[0])})", text)
    text = _FRACTION_SIGN.sub(_as_command, text)
    text = "".join(_CHARACTERS.get(sign) or _greek(sign) for sign in text)
    text = _LAYOUT.sub(" ", _TEXT_GROUP.sub(r" \1 ", text))
    text = _stacked(_stacked(text, _FRACTION, "/"), _BINOMIAL, "choose")
    text = text.replace("\\{", "(").replace("\\}", ")").replace("\\%", "%").replace("\\&", "&").replace("\\#", "#")
    text = _COMMAND.sub(lambda command: _SIGNS.get(command[1], command[1]), text)
    text = text.replace("{", "(").replace("}", ")").replace("\\", "")
    # "2 3" is not "23", so that one space stays, as a sign that no text has.
    text = _without_single_groups(unicodedata.normalize("NFKC", text))
    return _without_single_groups(_SPACE.sub("", _BETWEEN_DIGITS.sub("␣", text)))


def _as_command(sign: re.Match[str]) -> str:
    above, _, below = unicodedata.normalize("NFKC", sign[0]).partition("⁄")
    return rf"\frac{{{above}}}{{{below}}}"


def _greek(sign: str) -> str:
    r"""The name of a Greek letter, as its command: α and \alpha are alpha, Δ and \Delta are Delta."""
    if not "\u0370" <= sign <= "\u03ff" and sign not in "µ∆":
        return sign
    words = unicodedata.name(sign, "").split()
    if sign in "µ∆":
        return "mu" if sign == "µ" else "Delta"
    if words[:1] != ["GREEK"] or len(words) < 4 or words[2] != "LETTER":
        return sign
    name = {"LAMDA": "LAMBDA", "FINAL": "SIGMA"}.get(words[3], words[3])
    return name.capitalize() if words[1] == "CAPITAL" else name.lower()


def _stacked(text: str, opening: re.Pattern[str], between: str) -> str:
    r"""Write ``\frac{a}{b}`` as ``(a)/(b)`` (or binomials with "choose"), inner ones too."""
    while (found := opening.search(text)) is not None:
        first, end = _argument(text, found.end())
        second, end = _argument(text, end)
        head, written = text[: found.start()], f"({first}){between}({second})"
        # Right behind a number or a bracket it is a factor or a mixed number: 2\\frac{1}{2} is not 21/2.
        beside = head[-1:]
        text = head + (f"({written})" if beside.isalnum() or beside == ")" else written) + text[end:]
    return text


def _argument(text: str, position: int) -> tuple[str, int]:
    """The argument of a command at ``position`` and where it ends: a group, a command or one sign."""
    while position < len(text) and text[position].isspace():
        position += 1
    if position >= len(text):
        return "", position
    if text[position] == "\\":
        command = re.compile(r"\\(?:[A-Za-z]+|.)", re.DOTALL).match(text, position)
        end = command.end() if command else position + 1
        return text[position:end], end
    if text[position] != "{":
        return text[position], position + 1
    depth = 0
    for place in range(position, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            return text[position + 1 : place], place + 1
    return text[position + 1 :], len(text)


def _without_single_groups(text: str) -> str:
    while True:
        changed = _TWICE.sub(r"(\1)", _ONE_THING.sub(r"\1", text))
        if changed == text:
            return text
        text = changed
