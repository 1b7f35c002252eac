"""Which text of a problem a setting shows: its statement alone, or statement and solution."""

from __future__ import annotations

from warehouse.errors import SaberError

SETTINGS: dict[str, tuple[str, str]] = {
    "statement-statement": ("statement", "statement"),
    "statement-full": ("statement", "full"),
    "full-full": ("full", "full"),
}
"""Setting: (form of the query's text, form of a document's text)."""

MAIN_SETTING = "statement-full"
"""The paper's main setting: a new problem looks for solved ones."""


def problem_text(form: str, statement: str, solution: str | None) -> str:
    """Return the text of a problem in a form.

    Parameters
    ----------
    form
        ``statement``: the statement without a prefix; ``full``: statement and solution, each under its heading.
    """
    if form == "statement":
        return statement
    if form == "full":
        return f"Problem: {statement}\n\nSolution: {solution or ''}"
    raise ValueError(f"unknown form of a text: {form!r}")


def forms(setting: str) -> tuple[str, str]:
    """Return the forms of query and document texts in `setting`; an unknown setting is an error."""
    if setting not in SETTINGS:
        raise SaberError(f"No setting is called {setting!r}. Known: {', '.join(SETTINGS)}.")
    return SETTINGS[setting]
