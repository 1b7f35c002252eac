"""The ordinal judge: each candidate gets a grade, and grades compared give the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotate.judges.asking import Asking, shown
from annotate.judges.base import FIRST, INVALID, SECOND, TIE, Problem, Verdict
from annotate.judges.boxed import NoAnswer, last_boxed_number
from annotate.providers.base import Reply, Request

PLACES = ("target_statement", "target_solution", "candidate_statement", "candidate_solution")
HIGHEST = 100
ANSWERS = tuple(rf"\boxed{{{grade}}}" for grade in range(HIGHEST + 1))


@dataclass(frozen=True)
class OrdinalJudge:
    """Grades from 0 to 100 for single candidates (SABER-Math, ordinal judge); equal grades are a tie."""

    name: str
    asking: Asking
    votes: int = 2
    kind: str = "score"

    @property
    def prompt_version(self) -> str:
        return self.asking.version

    def grade_request(self, query: Problem, document: Problem) -> Request:
        """Ask for the grade of one candidate."""
        texts = {**shown("target", query), **shown("candidate", document)}
        return self.asking.request(self.name, {"query": query, "document": document}, texts, ANSWERS)

    def requests(self, query: Problem, first: Problem, second: Problem) -> list[Request]:
        """Return the requests for both grades."""
        return [self.grade_request(query, first), self.grade_request(query, second)]

    def ballot(self, reply: Reply) -> Verdict:
        """Read one grade; its ``verdict`` says only whether there is one."""
        try:
            return Verdict("score", score=float(last_boxed_number(reply, 0, HIGHEST)))
        except NoAnswer as why:
            return Verdict(INVALID, reason=str(why))

    def verdict(self, replies: Sequence[Reply]) -> Verdict:
        """Compare the two grades."""
        first, second = (self.ballot(reply) for reply in replies)
        return compare(first.score, second.score)


def compare(first: float | None, second: float | None) -> Verdict:
    """Give the verdict of two grades; invalid while either is missing."""
    if first is None or second is None:
        return Verdict(INVALID, reason="no grade")
    if first == second:
        return Verdict(TIE, reason=f"{first:g}:{second:g}")
    return Verdict(FIRST if first > second else SECOND, reason=f"{first:g}:{second:g}")
