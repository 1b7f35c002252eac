"""The pairwise judge and its majority vote: which of two candidates is closer to the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotate.judges.asking import Asking, shown
from annotate.judges.base import FIRST, INVALID, SECOND, TIE, Problem, Verdict
from annotate.judges.boxed import NoAnswer, last_boxed_number
from annotate.providers.base import Reply, Request

PLACES = (
    "target_statement",
    "target_solution",
    "first_statement",
    "first_solution",
    "second_statement",
    "second_solution",
)
ANSWERS = (r"\boxed{1}", r"\boxed{2}")


@dataclass(frozen=True)
class PairwiseJudge:
    """One comparison of a pair (SABER-Math, pairwise judge), or the majority of several.

    With more than one ballot a margin of at most one is a tie (SABER-Math: five ballots, so 3 : 2 is one).
    Invalid ballots are left out of the margin; the pair is invalid when no more than half are left.
    """

    name: str
    asking: Asking
    votes: int = 1
    kind: str = "pair"

    @property
    def prompt_version(self) -> str:
        return self.asking.version

    def requests(self, query: Problem, first: Problem, second: Problem) -> list[Request]:
        """Return one request a ballot: the same words, another sample."""
        texts = {**shown("target", query), **shown("first", first), **shown("second", second)}
        problems = {"query": query, "first": first, "second": second}
        return [self.asking.request(self.name, problems, texts, ANSWERS, sample=k) for k in range(self.votes)]

    def ballot(self, reply: Reply) -> Verdict:
        """Read one comparison."""
        try:
            number = last_boxed_number(reply, 1, 2)
        except NoAnswer as why:
            return Verdict(INVALID, reason=str(why))
        return Verdict(FIRST if number == 1 else SECOND)

    def verdict(self, replies: Sequence[Reply]) -> Verdict:
        """Decide by the ballots."""
        ballots = [self.ballot(reply) for reply in replies]
        if len(ballots) == 1:
            return ballots[0]
        return majority([ballot.verdict for ballot in ballots])


def majority(ballots: Sequence[str]) -> Verdict:
    """Decide by the margin of the valid ballots."""
    first, second, invalid = (ballots.count(kind) for kind in (FIRST, SECOND, INVALID))
    tally = f"{first}:{second}" + (f", {invalid} invalid" if invalid else "")
    if 2 * invalid >= len(ballots):
        return Verdict(INVALID, reason=tally)
    if abs(first - second) <= 1:
        return Verdict(TIE, reason=tally)
    return Verdict(FIRST if first > second else SECOND, reason=tally)
