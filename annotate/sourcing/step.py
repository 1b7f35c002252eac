"""What a step on landed problems is: which problems it is for, what it asks, what it makes of the reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from annotate.prompts import Prompt
from annotate.providers.base import Request

Problem = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """What a reply makes of a problem.

    Attributes
    ----------
    fields
        New values of statement, solution, answer or language; the others stay.
    notes
        What is noted in the metadata under the step's name.
    review
        (reason, detail) of what a person should look at.
    """

    fields: Mapping[str, str | None] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    review: tuple[tuple[str, str], ...] = ()


class Step(Protocol):
    """A step that asks one question about a problem and lands the answer as a new version of it.

    Attributes
    ----------
    name
        As on the command line: ``translate``, ...
    prompt_name
        Name of its prompt in the settings.
    places
        Places of that prompt.
    where
        Trusted SQL over the columns of ``problems``: problems the step may be for (a cheap first sieve).
    """

    @property
    def name(self) -> str: ...

    @property
    def prompt_name(self) -> str: ...

    @property
    def places(self) -> tuple[str, ...]: ...

    @property
    def where(self) -> str: ...

    @property
    def choices(self) -> Mapping[str, Any]:
        """What the step was told on the command line, as far as its results depend on it."""
        ...

    def wants(self, problem: Problem) -> bool:
        """Whether there is something to ask about this problem."""
        ...

    def request(self, problem: Problem, prompt: Prompt) -> Request:
        """Ask about one problem."""
        ...

    def read(self, problem: Problem, reply: str | None) -> Change:
        """Read a reply: a pure function of the problem and the words.

        Raises
        ------
        InvalidReply
            When the form is wrong: the same question is asked again.
        Objection
            When a check fails: the fault is named to the model once.
        """
        ...


def metadata_of(problem: Problem) -> dict[str, Any]:
    """The metadata of a problem as a dictionary."""
    found = json.loads(problem["metadata"] or "{}")
    return found if isinstance(found, dict) else {}


def texts_of(problem: Problem, *names: str) -> dict[str, str]:
    """Those of the named texts that the problem has."""
    return {name: problem[name] for name in names if (problem[name] or "").strip()}


def purpose_of(step_name: str) -> str:
    """The purpose under which a step's calls land."""
    return f"source {step_name}"
