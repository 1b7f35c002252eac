"""LaTeX: one notation for delimiters, drawings kept apart, leftovers of documents removed, answers in boxes."""

from __future__ import annotations

import re

from warehouse.cleaning.segments import closing_brace

_ASY = re.compile(r"\[asy\].*?\[/asy\]|\\begin\{asy\}.*?\\end\{asy\}|```asy\b.*?```", re.IGNORECASE | re.DOTALL)
# An escaped bracket is one whose backslashes are even in number: "\\[2pt]" breaks a line.
_DISPLAY = re.compile(r"(?<!\\)((?:\\\\)*)\\\[((?:(?!\\[\[\]]).)+?)(?<!\\)\\\]", re.DOTALL)
_INLINE = re.compile(r"(?<!\\)((?:\\\\)*)\\\(((?:(?!\\[()]).)+?)(?<!\\)\\\)", re.DOTALL)
_EQUATION = re.compile(r"\\begin\{(equation\*?|displaymath)\}((?:(?!\\begin\{|\$).)+?)\\end\{\1\}", re.DOTALL)
_MATH = re.compile(r"\\begin\{math\}((?:(?!\\begin\{|\$).)+?)\\end\{math\}", re.DOTALL)
_LEFTOVERS = re.compile(
    r"\\(?:begin|end)\{(?:problem|solution|exercise|question|document|enumerate_?problem)\}(?:\[[^\]\n]*\])?"
    r"|\\(?:noindent|newpage|clearpage|pagebreak|smallskip|medskip|bigskip|hfill|vfill|par)(?![A-Za-z])"
    r"|\\vspace\*?\{[^{}\n]*\}"
)
_FINAL_BREAK = re.compile(r"\s*(?<!\\)(?:\\\\)+\s*\Z")
_BOXED = re.compile(r"\\f?boxed\s*(?=\{)")
_BOXED_BARE = re.compile(r"\\boxed\s+([^\s${}\\]+)")


def figures(text: str) -> list[str]:
    """The drawing programs (Asymptote) of a text."""
    return _ASY.findall(text)


def mark_figures(text: str) -> str:
    """Put ``[figure]`` in the place of every drawing program."""
    return _ASY.sub("[figure]", text)


def unify_delimiters(text: str) -> str:
    r"""Write inline formulas as ``$…$`` and displayed ones as ``$$…$$``.

    A formula that holds a dollar itself (``\text{if $x>0$}``) keeps its brackets: the result would not be
    the same formula.
    """
    if "\\" not in text:
        return text
    text = _DISPLAY.sub(lambda f: f.group() if "$" in f.group(2) else f"{f.group(1)}$${f.group(2)}$$", text)
    text = _INLINE.sub(_inline, text)
    text = _EQUATION.sub(lambda f: f"$${f.group(2)}$$", text)
    return _MATH.sub(lambda f: f"${f.group(1).strip()}$", text)


def remove_leftovers(text: str) -> str:
    r"""Remove document commands that came along (``\end{problem}``, ``\noindent``) and a final ``\\``."""
    if "\\" not in text:
        return text
    while True:
        changed = _FINAL_BREAK.sub("", _LEFTOVERS.sub("", text))
        if changed == text:
            return text
        text = changed


def boxed_answer(text: str) -> str | None:
    r"""Content of the last ``\boxed{…}`` of a solution, with balanced braces; None where there is none."""
    for found in reversed(list(_BOXED.finditer(text))):
        end = closing_brace(text, found.end())
        if end is not None:
            inner = text[found.end() + 1 : end].strip()
            if inner:
                return inner
    bare = _BOXED_BARE.findall(text)
    return bare[-1] if bare else None


def _inline(found: re.Match[str]) -> str:
    inner = found.group(2)
    if "$" in inner or "\n\n" in inner or not inner.strip():
        return found.group()
    return f"{found.group(1)}${inner.strip()}$"
