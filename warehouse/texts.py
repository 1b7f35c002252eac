"""Which text of a problem a setting shows: its statement alone, or statement and solution."""

from __future__ import annotations

from udfs.formula_split import split_text
from warehouse.errors import SaberError

SETTINGS: dict[str, tuple[str, str]] = {
    "statement-statement": ("statement", "statement"),
    "statement-full": ("statement", "full"),
    "full-full": ("full", "full"),
}
"""Setting: (form of the query's text, form of a document's text)."""

PART_SETTINGS: dict[str, tuple[str, str]] = {
    "math-only": ("mathematics", "full"),
    "words-only": ("words", "full"),
}
"""Settings that show one part of a query, for ``analysis.math_vs_words``; run only when they are asked for."""

PARTS = ("mathematics", "words")
"""Forms that show one part of a statement."""

RULES = "rules"
"""Value of ``evaluation.formulas`` when no model has put formulas into delimiters before rules split a statement."""

MAIN_SETTING = "statement-full"
"""The paper's main setting: a new problem looks for solved ones."""


def problem_text(form: str, statement: str, solution: str | None) -> str:
    """Return the text of a problem in a form.

    Parameters
    ----------
    form
        ``statement``: the statement without a prefix; ``full``: statement and solution, each under its heading.
        ``mathematics`` and ``words``: the formulas of the statement, and what is left of it (may be empty).
    """
    if form == "statement":
        return statement
    if form == "full":
        return f"Problem: {statement}\n\nSolution: {solution or ''}"
    if form in PARTS:
        return str(getattr(split_text(statement), form))
    raise ValueError(f"unknown form of a text: {form!r}")


def forms(setting: str) -> tuple[str, str]:
    """Return the forms of query and document texts in `setting`; an unknown setting is an error."""
    known = SETTINGS | PART_SETTINGS
    if setting not in known:
        raise SaberError(f"No setting is called {setting!r}. Known: {', '.join(known)}.")
    return known[setting]
