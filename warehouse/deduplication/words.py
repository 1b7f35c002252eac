"""Word lists of deduplication: words whose exchange makes another problem, number words, equal notations."""

from __future__ import annotations

from importlib import resources

# Words that stand for one another in sibling problems ("find the largest", "find the smallest"), in a file of its
# own because it is long and plain.
HARD_WORDS = frozenset(resources.files("warehouse.deduplication").joinpath("hard_words.txt").read_text().split())

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_ORDINALS = "fourth fifth sixth seventh eighth ninth tenth"

NUMBER_WORDS: dict[str, str] = {
    **{word: str(value) for value, word in enumerate(_UNITS.split())},
    **{word: str(value) for word, value in _TENS.items()},
    "second": "2nd",
    "third": "3rd",
    **{word: f"{value}th" for value, word in enumerate(_ORDINALS.split(), start=4)},
    "hundred": "100",
    "thousand": "1000",
    "million": "1000000",
}

# Notations of one thing; an empty form is dropped.
SAME: dict[str, str] = {
    r"\dfrac": r"\frac",
    r"\tfrac": r"\frac",
    r"\cfrac": r"\frac",
    r"\dbinom": r"\binom",
    r"\tbinom": r"\binom",
    r"\le": r"\leq",
    r"\leqslant": r"\leq",
    "≤": r"\leq",
    r"\ge": r"\geq",
    r"\geqslant": r"\geq",
    "≥": r"\geq",
    r"\ne": r"\neq",
    "≠": r"\neq",
    r"\lt": "<",
    r"\gt": ">",
    r"\equal": "=",
    r"\plus": "+",
    r"\minus": "-",
    "−": "-",
    "‐": "-",
    r"\cdot": "*",
    r"\times": "*",
    "×": "*",
    "·": "*",
    "⋅": "*",
    r"\div": "/",
    "÷": "/",
    r"\ldots": "",
    r"\dots": "",
    r"\cdots": "",
    r"\dotsc": "",
    r"\dotsb": "",
    r"\vdots": "",
    r"\colon": "",
    r"\mid": "|",
    r"\vert": "|",
    r"\lvert": "|",
    r"\rvert": "|",
    r"\to": r"\rightarrow",
    "→": r"\rightarrow",
    r"\longrightarrow": r"\rightarrow",
    r"\varepsilon": r"\epsilon",
    r"\varphi": r"\phi",
    r"\emptyset": r"\varnothing",
    r"\land": r"\wedge",
    r"\lor": r"\vee",
    r"\lbrace": "{",
    r"\rbrace": "}",
    r"\lbrack": "[",
    r"\rbrack": "]",
    r"\mathbb": "",
    r"\mathcal": "",
    r"\mathfrak": "",
    r"\bar": r"\overline",
    r"\circ": "°",
    r"\degree": "°",
    r"\prime": "",
    r"\percent": "%",
    r"\arrow": "",
    r"\ell": "l",
    "π": r"\pi",
    "α": r"\alpha",
    "β": r"\beta",
    "γ": r"\gamma",
    "θ": r"\theta",
    "∞": r"\infty",
    "∈": r"\in",
    "√": r"\sqrt",
    "∠": r"\angle",
    "△": r"\triangle",
}
