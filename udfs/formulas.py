r"""Where the formulas of a text stand: between ``$``, ``$$``, ``\(``, ``\[`` or in a display environment."""

from __future__ import annotations

import re

_ENVIRONMENTS = (
    "align|aligned|alignat|array|cases|eqnarray|equation|flalign|gather|gathered|math|displaymath|multline|split|"
    "smallmatrix|[bBpvV]?matrix"
)
_BODIES = ("display", "inline", "round", "square", "environment")

FORMULA = re.compile(
    r"(?<!\\)\$\$(?P<display>.{1,5000}?)(?<!\\)\$\$"
    r"|(?<!\\)\$(?P<inline>(?:\\.|[^$\\\n]|\n(?!\s*\n)){1,5000}?)\$"
    r"|\\\((?P<round>.{1,5000}?)\\\)"
    r"|\\\[(?P<square>.{1,5000}?)\\\]"
    rf"|\\begin\{{(?P<name>(?:{_ENVIRONMENTS})\*?)\}}(?P<environment>.{{1,20000}}?)\\end\{{(?P=name)\}}",
    re.DOTALL,
)
"""A formula with its marks; the group ``inline`` tells single dollars.

An escaped dollar is money and an unclosed one opens no formula. A blank line ends a formula, as in TeX. The bounds
on length keep a text of nothing but openings from taking quadratic time.
"""


def formula_body(match: re.Match[str]) -> str:
    """Return what stands between the marks of a match of :data:`FORMULA`; never empty."""
    return next(match[name] for name in _BODIES if match[name] is not None)
