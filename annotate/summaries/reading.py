"""Reading a summary reply: the five keys of the paper's schema, and the rules of a core idea.

Form (JSON, keys, types) and rules (length, no equations, flag and idea agree) are told apart: a reply of wrong
form is asked for again in the same words, a broken rule is named to the model once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from annotate.calls.validate import InvalidReply
from annotate.prompts.replies import clean_text, only_object, unit_number

MAX_WORDS = 30
MAX_SUPPORTING = 3

_EQUATION = re.compile(
    r"[=<>≤≥≠≈≡∈∑∏∫√^\\$]"
    r"|\d\s*[+*/×·÷−-]\s*\d"  # a computation: 3 + 4
    r"|\b[a-zA-Z]\s*[+*/×·÷−]\s*[a-zA-Z0-9]\b"  # x + y, but not "trial-and-error"
    r"|\b[a-zA-Z]_\{?[a-zA-Z0-9]"
)
_RATIO = re.compile(r"\b\d{1,3}[-–]\d{1,3}[-–]\d{1,3}\b")
"""Names such as the 30-60-90 triangle are no computation."""


@dataclass(frozen=True)
class Summary:
    """A summary of one solution; ``core_idea`` is None exactly where ``no_core_idea`` is set."""

    core_idea: str | None
    supporting_ideas: tuple[str, ...]
    keywords: tuple[str, ...]
    no_core_idea: bool
    confidence: float


class RuleBroken(ValueError):  # noqa: N818 - a verdict on a reply, not a fault of the program
    """A well-formed summary that breaks a rule; ``kind`` names it, the text tells the model what to mend."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "noCoreIdea": {"type": "boolean"},
        "coreIdea": {"type": ["string", "null"], "maxLength": 400},
        "supportingIdeas": {
            "type": "array",
            "items": {"type": "string", "maxLength": 160},
            "maxItems": MAX_SUPPORTING,
        },
        "keywords": {"type": "array", "items": {"type": "string", "maxLength": 60}, "maxItems": 12},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["noCoreIdea", "coreIdea", "supportingIdeas", "keywords", "confidence"],
    "additionalProperties": False,
}
"""JSON schema of the reply, for structured output.

The bounds are far above what the rules allow: they end the strings and lists of a model that repeats itself,
which would otherwise run into the limit of output tokens. A core idea cut at its bound has too many words.
Replies are read without them, since not every server enforces them.
"""


def read_summary(text: str | None) -> Summary:
    """Read a reply of the right form that keeps the rules.

    Raises
    ------
    InvalidReply
        When the form is wrong: JSON, keys, types, ranges, control characters where LaTeX was eaten.
    RuleBroken
        ``too_long``, ``equations``, ``empty_core_idea`` or ``flag_with_idea``.
    """
    summary = read_form(text)
    check_rules(summary)
    return summary


def read_form(text: str | None) -> Summary:
    """Read a reply of the right form, whatever its core idea says.

    Raises
    ------
    InvalidReply
        When the form is wrong.
    """
    found = only_object(text)
    if set(found) != set(SCHEMA["required"]):
        odd = ", ".join(sorted(map(repr, set(found) ^ set(SCHEMA["required"]))))
        raise InvalidReply("wrong_keys", f"keys missing or unknown: {odd}")
    flag, idea = found["noCoreIdea"], found["coreIdea"]
    if not isinstance(flag, bool):
        raise InvalidReply("wrong_keys", "noCoreIdea must be true or false")
    core_idea = None if idea is None else clean_text(idea, "coreIdea")
    supporting = _phrases(found["supportingIdeas"], "supportingIdeas")
    if len(supporting) > MAX_SUPPORTING:
        raise InvalidReply("wrong_length", f"supportingIdeas holds more than {MAX_SUPPORTING} phrases")
    keywords = _phrases(found["keywords"], "keywords")
    confidence = unit_number(found["confidence"], "confidence")
    return Summary(core_idea or None, supporting, keywords, flag, confidence)


def check_rules(summary: Summary) -> None:
    """Check the rules of a core idea.

    Raises
    ------
    RuleBroken
        For the first rule that is broken.
    """
    idea = summary.core_idea
    if idea is None:
        if not summary.no_core_idea:
            raise RuleBroken("empty_core_idea", "coreIdea is empty although noCoreIdea is false")
        return
    if summary.no_core_idea:
        raise RuleBroken("flag_with_idea", "noCoreIdea is true although coreIdea has a text")
    words = len(idea.split())
    if words > MAX_WORDS:
        raise RuleBroken("too_long", f"coreIdea has {words} words, at most {MAX_WORDS} are allowed")
    if _EQUATION.search(_RATIO.sub(" ", idea)):
        raise RuleBroken("equations", "coreIdea holds an equation, a formula or LaTeX; say it in plain words")


def _phrases(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidReply("wrong_keys", f"{name} must be a list of strings")
    cleaned = (clean_text(item, f"an item of {name}") for item in value)
    return tuple(item for item in cleaned if item)
