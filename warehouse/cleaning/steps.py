"""The cleaning steps in order, each with a name and a version that rows carry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warehouse.cleaning import bbcode, characters, credits, html, latex
from warehouse.identity import variant_hash

STATEMENT, SOLUTION, ANSWER = "statement", "solution", "answer"
TEXTS = (STATEMENT, SOLUTION)
ALL = (STATEMENT, SOLUTION, ANSWER)


@dataclass(frozen=True)
class Step:
    """One change to a text.

    Attributes
    ----------
    name, version
        Raise the version when the step gives other texts than before.
    change : callable
        A pure function; applied twice it changes nothing more.
    fields : tuple of str
        The fields it applies to.
    keeps : callable, optional
        What it takes out of the text and the metadata keep, under ``keeps_as``.
    """

    name: str
    version: int
    change: Callable[[str], str]
    fields: tuple[str, ...] = TEXTS
    keeps: Callable[[str], list[str]] | None = None
    keeps_as: str = ""


def _credits(text: str) -> list[str]:
    found = credits.credit(text)
    return [found] if found else []


STEPS: tuple[Step, ...] = (
    # Carriage returns may be what is left of "\rho": before line ends are made one.
    Step("restore_lost_backslashes", 1, characters.restore_lost_backslashes, ALL),
    Step("normalise_line_ends", 1, characters.normalise_line_ends, ALL),
    Step("remove_control_characters", 1, characters.remove_control_characters, ALL),
    Step("remove_invisible_characters", 1, characters.remove_invisible_characters, ALL),
    Step("compose_unicode", 1, characters.compose_unicode, ALL),
    # Drawing programs are full of "<" and "[": before tags and BBCode.
    Step("mark_figures", 1, latex.mark_figures, TEXTS, latex.figures, "figures"),
    Step("decode_entities", 1, html.decode_entities, ALL),
    Step("strip_tags", 1, html.strip_tags),
    Step("drop_hidden_blocks", 1, bbcode.drop_hidden_blocks, (STATEMENT,), bbcode.hidden_blocks, "hidden"),
    Step("open_hidden_blocks", 1, bbcode.open_hidden_blocks, (SOLUTION,)),
    Step("strip_credits", 1, credits.strip_credits, (STATEMENT,), _credits, "credits"),
    Step("plain_bbcode", 1, bbcode.plain_bbcode),
    Step("drop_dangling_marks", 1, bbcode.drop_dangling_marks),
    Step("remove_leftovers", 1, latex.remove_leftovers, ALL),
    Step("unify_delimiters", 1, latex.unify_delimiters),
    Step("strip_instructions", 1, credits.strip_instructions, (STATEMENT,)),
    Step("strip_problem_number", 1, credits.strip_problem_number, (STATEMENT,)),
    Step("tidy_white_space", 1, characters.tidy_white_space, ALL),
)

# Steps on the record, after the texts.
FORGET_NOTHING = ("forget_nothing", 1)
EXTRACT_ANSWER = ("extract_answer", 1)


def cleaning_version() -> str:
    """Hash of the steps and their versions: texts cleaned under another one are another text."""
    named = {step.name: step.version for step in STEPS} | dict((FORGET_NOTHING, EXTRACT_ANSWER))
    return variant_hash(named)
