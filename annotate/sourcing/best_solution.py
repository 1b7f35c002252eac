"""Choose the best of several solutions of a problem by its number; texts are never typed again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotate.calls.validate import InvalidReply
from annotate.prompts import Prompt
from annotate.prompts.replies import only_object
from annotate.providers.base import Request
from annotate.sourcing.step import Change, Problem, metadata_of, purpose_of
from warehouse.cleaning import clean_text
from warehouse.cleaning.latex import boxed_answer

NO_SOLUTION = "no usable solution"


@dataclass(frozen=True)
class BestSolution:
    """For problems whose metadata hold several solutions; 0 says that none of them solves the problem.

    Then the problem keeps no solution and comes to the review list, as a forum thread without a relevant solution
    is no material for the benchmark.
    """

    name: str = "best-solution"
    prompt_name: str = "sourcing_best_solution"
    places: tuple[str, ...] = ("statement", "solutions", "count")
    where: str = """metadata like '%"solutions"%'"""

    @property
    def choices(self) -> dict[str, Any]:
        """Nothing to choose."""
        return {}

    def wants(self, problem: Problem) -> bool:
        """At least two solutions to choose from."""
        return len(solutions_of(problem)) > 1

    def request(self, problem: Problem, prompt: Prompt) -> Request:
        """Show all solutions, numbered from 1."""
        solutions = solutions_of(problem)
        shown = "\n\n".join(
            f"BEGIN SOLUTION {number}\n{text.strip()}\nEND SOLUTION {number}"
            for number, text in enumerate(solutions, start=1)
        )
        return Request(
            purpose=purpose_of(self.name),
            prompt_version=prompt.version,
            messages=prompt.messages(
                statement=problem["statement"] or "", solutions=shown, count=str(len(solutions))
            ),
            schema=_schema(len(solutions)),
            payload={"problem": problem},
            about={"problem_id": problem["problem_id"], "solutions": len(solutions)},
        )

    def read(self, problem: Problem, reply: str | None) -> Change:
        """Take the solution of the number named."""
        found = only_object(reply)
        if set(found) != {"best"} or isinstance(found["best"], bool) or not isinstance(found["best"], int):
            raise InvalidReply("wrong_keys", 'the reply must be {"best": NUMBER}')
        solutions, best = solutions_of(problem), found["best"]
        if not 0 <= best <= len(solutions):
            raise InvalidReply("wrong_choice", f"there is no solution {best}")
        notes = {"best": best, "of": len(solutions)}
        if best == 0:
            detail = f"none of {len(solutions)} solutions solves the problem"
            return Change({"solution": None}, notes, ((NO_SOLUTION, detail),))
        solution, steps, _ = clean_text(solutions[best - 1], "solution")
        notes["cleaning"] = [f"solution:{name}@{version}" for name, version in steps]
        return Change({"solution": solution, "answer": _answer(problem, solution)}, notes)


def solutions_of(problem: Problem) -> list[str]:
    """The solutions kept in the metadata."""
    found = metadata_of(problem).get("solutions")
    return [text for text in found if isinstance(text, str) and text.strip()] if isinstance(found, list) else []


def _answer(problem: Problem, solution: str) -> str | None:
    """The answer; where it was found in the box of an earlier solution (or nowhere), that of this one."""
    found_in_box = any(step.startswith("answer:extract_answer") for step in metadata_of(problem).get("cleaning", []))
    answer: str | None = problem["answer"]
    return boxed_answer(solution) if answer is None or found_in_box else answer


def _schema(count: int) -> dict[str, Any]:
    best = {"type": "integer", "minimum": 0, "maximum": count}
    return {"type": "object", "properties": {"best": best}, "required": ["best"], "additionalProperties": False}
