"""Check that a statement can be understood by itself and that its solution goes through to the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotate.calls.validate import InvalidReply
from annotate.prompts import Prompt
from annotate.prompts.replies import clean_text, only_object
from annotate.providers.base import Request
from annotate.sourcing.step import Change, Problem, purpose_of

STATEMENT = ("complete", "incomplete", "no problem")
SOLUTION = ("complete", "incomplete", "answer only", "unrelated")

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "statement": {"type": "string", "enum": list(STATEMENT)},
        "solution": {"type": "string", "enum": list(SOLUTION)},
        "missing": {"type": "string"},
    },
    "required": ["statement", "solution", "missing"],
    "additionalProperties": False,
}
"""JSON schema of the reply."""


@dataclass(frozen=True)
class Complete:
    """For problems with a solution; texts stay as they are, what is not complete comes to the review list."""

    name: str = "complete"
    prompt_name: str = "sourcing_complete"
    places: tuple[str, ...] = ("statement", "solution")
    where: str = "coalesce(trim(solution), '') <> ''"

    @property
    def choices(self) -> dict[str, Any]:
        """Nothing to choose."""
        return {}

    def wants(self, problem: Problem) -> bool:
        """Every problem with a solution."""
        return bool((problem["solution"] or "").strip())

    def request(self, problem: Problem, prompt: Prompt) -> Request:
        """Show statement and solution."""
        return Request(
            purpose=purpose_of(self.name),
            prompt_version=prompt.version,
            messages=prompt.messages(statement=problem["statement"] or "", solution=problem["solution"] or ""),
            schema=SCHEMA,
            payload={"problem": problem},
            about={"problem_id": problem["problem_id"]},
        )

    def read(self, problem: Problem, reply: str | None) -> Change:
        """Read both verdicts; a verdict other than complete must say what is missing."""
        found = only_object(reply)
        if set(found) != set(SCHEMA["required"]):
            raise InvalidReply("wrong_keys", "the keys must be statement, solution and missing")
        missing = clean_text(found["missing"], "missing")
        if found["statement"] not in STATEMENT or found["solution"] not in SOLUTION:
            raise InvalidReply("wrong_choice", "a verdict is none of those asked for")
        verdicts = {name: found[name] for name in ("statement", "solution")}
        bad = [f"{name} {verdict}" for name, verdict in verdicts.items() if verdict != "complete"]
        if bad and not missing:
            raise InvalidReply("wrong_keys", "missing is empty although something is not complete")
        return Change({}, {**verdicts, "missing": missing}, tuple((reason, missing) for reason in bad))
