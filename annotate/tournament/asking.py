"""Having pairs judged: requests to the call log, replies to verdicts, verdicts to landed rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotate.calls.log import CallLog
from annotate.calls.validate import structured
from annotate.judges.base import INVALID, Judge, Problem, Verdict, share_of_first
from annotate.judges.ordinal import OrdinalJudge, compare
from annotate.providers.base import Reply, Request
from annotate.providers.failures import NOT_IN_LOG, Fault, fault
from annotate.tournament.field import Field
from warehouse.identity import pair_hash


@dataclass(frozen=True)
class Ask:
    """A pair to be judged: columns of query, candidate shown first, candidate shown second."""

    query: int
    first: int
    second: int
    round: int


@dataclass(frozen=True)
class Decided:
    """An asked pair with its verdict and the rows to land; ``verdict`` None = the service did not answer."""

    ask: Ask
    verdict: Verdict | None
    rows: tuple[dict[str, Any], ...] = ()

    @property
    def result(self) -> tuple[int, int, int, int, float]:
        """(query, first, second, round, share of the first), NaN for an invalid verdict."""
        share = share_of_first(self.verdict.verdict) if self.verdict else None
        ask = self.ask
        return ask.query, ask.first, ask.second, ask.round, float("nan") if share is None else share


@dataclass(frozen=True)
class Provenance:
    """What every landed verdict says about where it comes from."""

    benchmark: str
    schedule: str
    variant: str
    provider: str
    model: str


class Asker:
    """Asks one judge a query about pairs.

    Parameters
    ----------
    field
        Who competes.
    judges
        The judge of each query.
    provenance
        What lands with every verdict.
    grades
        Grades known already, for ordinal judges; extended by what is asked.
    """

    def __init__(
        self,
        field: Field,
        judges: Sequence[Judge],
        provenance: Provenance,
        grades: dict[tuple[int, int], float] | None = None,
    ) -> None:
        self.field = field
        self.judges = judges
        self.provenance = provenance
        self.grades = {} if grades is None else grades

    def validate(self, request: Request, reply: Reply) -> str | None:
        """Return the kind of failure of a reply without a usable answer, for the call log."""
        # Where no server holds the model to the choices, an answer may stand at the end of a longer reply.
        if (kind := structured(replace(request, choices=None), reply)) is not None:
            return kind
        ballot = self.judges[0].ballot(reply)
        return ballot.reason if ballot.verdict == INVALID else None

    def requests(self, asks: Sequence[Ask]) -> Iterator[Request]:
        """Return what must be asked about pairs, grades that are known left out."""
        if self.judges and self.judges[0].kind == "score":
            for query, document in self._ungraded(asks):
                yield self._grade_request(query, document)
            return
        for ask in asks:
            yield from self.judges[ask.query].requests(*self._problems(ask))

    async def decide(self, log: CallLog, asks: Sequence[Ask], total: int | None = None) -> AsyncIterator[Decided]:
        """Have pairs judged, yielding each as soon as it is decided."""
        decisions = self._by_grades if self.judges and self.judges[0].kind == "score" else self._by_ballots
        async for decided in decisions(log, asks, total):
            yield decided

    async def _by_ballots(self, log: CallLog, asks: Sequence[Ask], total: int | None) -> AsyncIterator[Decided]:
        votes = self.judges[0].votes if self.judges else 1
        waiting: dict[int, dict[int, tuple[str, Reply]]] = {}
        async for index, call_id, reply in log.run(self.requests(asks), total):
            number, vote = divmod(index, votes)
            ballots = waiting.setdefault(number, {})
            ballots[vote] = (call_id, reply)
            if len(ballots) == votes:
                del waiting[number]
                yield self._decided(asks[number], [ballots[k] for k in range(votes)])

    def _decided(self, ask: Ask, ballots: Sequence[tuple[str, Reply]]) -> Decided:
        if any(_unanswered(reply) for _, reply in ballots):
            return Decided(ask, None)
        judge = self.judges[ask.query]
        verdict = judge.verdict([reply for _, reply in ballots])
        if len(ballots) == 1:
            return Decided(ask, verdict, (self._row(ask, 0, verdict, ballots[0][0]),))
        single = [
            self._row(ask, k, judge.ballot(reply), call_id) for k, (call_id, reply) in enumerate(ballots, start=1)
        ]
        return Decided(ask, verdict, (self._row(ask, 0, verdict, None), *single))

    async def _by_grades(self, log: CallLog, asks: Sequence[Ask], total: int | None) -> AsyncIterator[Decided]:
        wanted = self._ungraded(asks)
        rounds = {(ask.query, d): ask.round for ask in reversed(asks) for d in (ask.first, ask.second)}
        grade_rows: dict[tuple[int, int], dict[str, Any]] = {}
        async for index, call_id, reply in log.run(self.requests(asks), total):
            query, document = wanted[index]
            if not _unanswered(reply):
                ballot = self.judges[query].ballot(reply)
                self.grades[query, document] = float("nan") if ballot.score is None else ballot.score
                grade_rows[query, document] = self._grade_row(query, document, rounds, ballot, call_id)
        for ask in asks:
            both = (ask.query, ask.first), (ask.query, ask.second)
            rows = [grade_rows.pop(place) for place in both if place in grade_rows]
            if not all(place in self.grades for place in both):
                yield Decided(ask, None, tuple(rows))
                continue
            first, second = (None if self.grades[p] != self.grades[p] else self.grades[p] for p in both)
            verdict = compare(first, second)
            yield Decided(ask, verdict, (*rows, self._row(ask, 0, verdict, None)))

    def _ungraded(self, asks: Sequence[Ask]) -> list[tuple[int, int]]:
        places = ((ask.query, d) for ask in asks for d in (ask.first, ask.second))
        return [place for place in dict.fromkeys(places) if place not in self.grades]

    def _grade_request(self, query: int, document: int) -> Request:
        judge = self.judges[query]
        assert isinstance(judge, OrdinalJudge)
        entrants = self.field.entrants[query]
        problems = self.field.problems
        return judge.grade_request(problems[entrants.query_id], problems[entrants.document_ids[document]])

    def _problems(self, ask: Ask) -> tuple[Problem, Problem, Problem]:
        entrants, problems = self.field.entrants[ask.query], self.field.problems
        ids = entrants.query_id, entrants.document_ids[ask.first], entrants.document_ids[ask.second]
        return problems[ids[0]], problems[ids[1]], problems[ids[2]]

    def _row(self, ask: Ask, vote: int, verdict: Verdict, call_id: str | None) -> dict[str, Any]:
        query, first, second = self._problems(ask)
        return {
            **self._common(ask.query, query, vote, ask.round, call_id),
            "first_id": first["problem_id"],
            "second_id": second["problem_id"],
            "kind": "pair",
            "verdict": verdict.verdict,
            "score": verdict.score,
            "reason": verdict.reason,
            "content_hash": pair_hash(query["content_hash"], first["content_hash"], second["content_hash"]),
        }

    def _grade_row(
        self, query: int, document: int, rounds: dict[tuple[int, int], int], ballot: Verdict, call_id: str
    ) -> dict[str, Any]:
        entrants, problems = self.field.entrants[query], self.field.problems
        target, graded = problems[entrants.query_id], problems[entrants.document_ids[document]]
        return {
            **self._common(query, target, 0, rounds[query, document], call_id),
            "first_id": graded["problem_id"],
            "second_id": None,
            "kind": "score",
            "verdict": INVALID if ballot.score is None else None,
            "score": ballot.score,
            "reason": ballot.reason,
            "content_hash": pair_hash(target["content_hash"], graded["content_hash"]),
        }

    def _common(self, query: int, target: Problem, vote: int, number: int, call_id: str | None) -> dict[str, Any]:
        judge, source = self.judges[query], self.provenance
        return {
            "benchmark": source.benchmark,
            "query_id": target["problem_id"],
            "vote": vote,
            "judge": judge.name,
            "schedule": source.schedule,
            "round": number,
            "annotator": None,
            "provider": source.provider,
            "model": source.model,
            "prompt_version": judge.prompt_version,
            "call_id": call_id,
            "variant": source.variant,
        }


def _unanswered(reply: Reply) -> bool:
    """Whether a call failed through no fault of its own, so that a later run asks it again."""
    return reply.error == NOT_IN_LOG or fault(reply.error) in (Fault.SERVICE, Fault.FATAL)
