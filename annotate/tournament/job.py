"""Playing the tournaments: replay what has landed, ask what is missing, land each round."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import numpy as np

from annotate.calls.log import CallLog
from annotate.tournament.asking import Ask, Asker
from annotate.tournament.field import LandedVerdicts
from annotate.tournament.finish import finishing_pairs
from annotate.tournament.state import Results, Standings, Tournament, concatenate
from annotate.tournament.swiss import IntArray
from warehouse.identity import coin
from warehouse.landing import Landing

_ROWS_AT_ONCE = 20_000
_SECONDS_AT_MOST = 120.0
_EXTRA_ROUNDS = 4  # `--finish` stops after this many times the scheduled rounds


@dataclass(frozen=True)
class Options:
    """How a tournament is played.

    Attributes
    ----------
    seed
        Seeds the order in which the two candidates are shown.
    both_orders
        Ask every pair in both orders.
    finish
        Go on after the schedule until every document has its share of valid verdicts in one graph.
    limit
        Ask at most so many verdicts in this run.
    retry_invalid
        Ask the pairs again whose landed verdict is invalid, each in its round.
    """

    seed: int
    both_orders: bool = False
    finish: bool = False
    limit: int | None = None
    retry_invalid: bool = False


@dataclass
class Outcome:
    """What a run did and what is left.

    Attributes
    ----------
    asked, verdicts
        Verdicts asked in this run, and how they came out.
    from_landing
        Verdicts of the schedule that had landed before.
    invalid
        Pairs of the schedule whose verdict is invalid, landed before or now.
    unanswered
        Verdicts that the service did not give in this run.
    unfinished
        Whether the limit, or the service, left rounds unplayed.
    """

    asked: int = 0
    verdicts: dict[str, int] = field(default_factory=dict)
    from_landing: int = 0
    invalid: int = 0
    unanswered: int = 0
    byes: int = 0
    rounds: int = 0
    unfinished: bool = False


class Job:
    """One run of ``saber judge``.

    Parameters
    ----------
    tournament, asker, landed
        The state, the judges and what has landed.
    log
        The call log, opened when the first verdict is missing.
    landing, job_id
        Where verdicts and byes land.
    options
        How to play.
    say
        Called with a line after each round that asked anything.
    on_work
        Called before the first rows land: a run that finds nothing to do leaves no trace.
    """

    def __init__(
        self,
        tournament: Tournament,
        asker: Asker,
        landed: LandedVerdicts,
        log: CallLog,
        landing: Landing,
        job_id: str,
        options: Options,
        say: Callable[[str], None],
        on_work: Callable[[], None] = lambda: None,
    ) -> None:
        self.tournament = tournament
        self.asker = asker
        self.landed = landed
        self.log = log
        self.landing = landing
        self.job_id = job_id
        self.options = options
        self.say = say
        self.on_work = on_work
        self.outcome = Outcome()
        self._new: list[Results] = []
        self._unanswered: set[int] = set()
        self._stack = AsyncExitStack()
        self._is_open = False
        self._total = total_calls(tournament, asker, landed, options)

    async def play(self) -> Outcome:
        """Play all rounds, then the extra ones if asked for."""
        async with self._stack:
            for number in range(1, self.tournament.rounds + 1):
                pairs, idle = self.tournament.pairs_of_round(number)
                await self._round(number, pairs, idle, f"round {number} of {self.tournament.rounds}")
                if self._at_limit():
                    break
            else:
                self.tournament.block(np.array(sorted(self._unanswered), dtype=np.int64))
                if self.options.finish:
                    await self._finish()
        return self.outcome

    def unjudged(self) -> int:
        """Count documents without a valid verdict: those of every round count, extra ones too."""
        return int((self.tournament.standings.present & (self._all_standings().n_valid == 0)).sum())

    def _all_standings(self) -> Standings:
        standings = Standings(self.tournament.standings.present)
        standings.settle(concatenate([self.landed.results, *self._new]))
        return standings

    async def _round(self, number: int, pairs: IntArray, idle: IntArray, name: str) -> None:
        known = self.tournament.landed_of(number, pairs)
        if self.options.retry_invalid:
            known = known.where(~np.isnan(known.share))
        asks = missing(self.tournament, pairs, known, number, self.options)
        left = None if self.options.limit is None else self.options.limit - self.outcome.asked
        if left is not None and len(asks) > left:
            asks, self.outcome.unfinished = asks[:left], True
        new = await self._ask(asks, name)
        results = concatenate([known, new])
        self.tournament.settle(results)
        self.outcome.from_landing += len(known.share)
        self.outcome.invalid += int(np.isnan(results.share).sum())
        self.outcome.rounds = number
        self._land_byes(idle, number)

    async def _ask(self, asks: list[Ask], name: str) -> Results:
        """Have pairs judged and land the verdicts.

        Queries with unanswered pairs are blocked where later rounds follow from earlier verdicts.
        """
        if not asks:
            return Results.of([])
        await self._open()
        results: list[tuple[int, int, int, int, float]] = []
        rows: list[dict[str, object]] = []
        begun = time.monotonic()
        counts: dict[str, int] = {}
        unanswered: set[int] = set()
        try:
            async for decided in self.asker.decide(self.log, asks, self._total):
                rows += decided.rows
                if decided.verdict is None:
                    unanswered.add(decided.ask.query)
                    self.outcome.unanswered += 1
                    continue
                results.append(decided.result)
                counts[decided.verdict.verdict] = counts.get(decided.verdict.verdict, 0) + 1
                if len(rows) >= _ROWS_AT_ONCE or time.monotonic() - begun > _SECONDS_AT_MOST:
                    await self._land(rows)
                    rows, begun = [], time.monotonic()
        finally:
            await self._land(rows)
        if unanswered:
            self._unanswered |= unanswered
            self.outcome.unfinished = True
            if self.tournament.schedule == "swiss":
                self.tournament.block(np.array(sorted(unanswered)))
        for verdict, count in counts.items():
            self.outcome.verdicts[verdict] = self.outcome.verdicts.get(verdict, 0) + count
        self.outcome.asked += len(asks)
        told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
        self.say(f"{name}: {len(asks)} verdicts asked ({told or 'none given'})")
        new = Results.of(results)
        self._new.append(new)
        return new

    async def _open(self) -> None:
        if not self._is_open:
            self._is_open = True
            self.on_work()
            await self._stack.enter_async_context(self.log)

    async def _land(self, rows: list[dict[str, object]]) -> None:
        if rows:
            await self.log.sync()  # a verdict never lands before its raw reply
            self.landing.append("judgments", rows, self.job_id)

    async def _finish(self) -> None:
        target, first = self.tournament.rounds, self.tournament.rounds + 1
        first = max(first, int(self.landed.results.rounds.max(initial=0)) + 1)
        for number in range(first, first + _EXTRA_ROUNDS * max(target, 1)):
            everything = concatenate([self.landed.results, *self._new])
            self.tournament.standings = self._all_standings()
            linked = everything.pairs[~np.isnan(everything.share)]
            pairs = finishing_pairs(self.tournament, target, number, linked)
            if not len(pairs):
                return
            nobody = np.zeros((0, 2), dtype=np.int64)
            await self._round(number, pairs, nobody, f"extra round {number - first + 1}")
            if self._at_limit():
                return
        self.outcome.unfinished = True

    def _at_limit(self) -> bool:
        """Whether a round was cut short by the limit."""
        limit = self.options.limit
        return limit is not None and self.outcome.asked >= limit and self.outcome.unfinished

    def _land_byes(self, idle: IntArray, number: int) -> None:
        entrants, source = self.tournament.entrants, self.asker.provenance
        rows = [
            {
                "benchmark": source.benchmark,
                "query_id": entrants[query].query_id,
                "document_id": entrants[query].document_ids[document],
                "judge": self.asker.judges[query].name,
                "schedule": source.schedule,
                "round": number,
                "variant": source.variant,
            }
            for query, document in idle.tolist()
            if (query, document, number) not in self.landed.byes
        ]
        self.outcome.byes += len(idle)
        if rows:
            self.on_work()
            self.landing.append("byes", rows, self.job_id)


def missing(tournament: Tournament, pairs: IntArray, known: Results, number: int, options: Options) -> list[Ask]:
    """Return what must be asked about pairs (query, lower, higher) beside the verdicts known."""
    query, columns = pairs[:, 0], pairs[:, 1:]
    done = tournament.codes(known.pairs[:, 1:], known.pairs[:, 0])
    forward = np.isin(tournament.codes(columns, query), done)
    backward = np.isin(tournament.codes(columns[:, ::-1], query), done)
    is_done = forward & backward if options.both_orders else forward | backward
    asks = []
    for row in np.flatnonzero(~is_done).tolist():
        number_of, low, high = pairs[row].tolist()
        entrants = tournament.entrants[number_of]
        shown = [(low, high, forward[row]), (high, low, backward[row])]
        if not coin(
            options.seed, "order", entrants.query_id, entrants.document_ids[low], entrants.document_ids[high]
        ):
            shown.reverse()
        wanted = shown if options.both_orders else shown[:1]
        asks += [Ask(number_of, first, second, number) for first, second, landed in wanted if not landed]
    return asks


def total_calls(tournament: Tournament, asker: Asker, landed: LandedVerdicts, options: Options) -> int:
    """Return about how many calls the schedule still needs: exact but for byes of a Swiss tournament."""
    sizes = [len(e.document_ids) for e in tournament.entrants]
    if asker.judges and asker.judges[0].kind == "score":
        calls = sum(sizes) - len(asker.grades)
        return max(0, min(calls, options.limit * 2) if options.limit is not None else calls)
    votes = asker.judges[0].votes if asker.judges else 1
    n_landed = len(landed.results.share)
    if options.retry_invalid:
        n_landed -= int(np.isnan(landed.results.share).sum())
    if tournament.schedule == "exhaustive":
        pairs = sum(n * (n - 1) // 2 for n in sizes)
    else:
        pairs = sum(min(tournament.rounds * (n // 2), n * (n - 1) // 2) for n in sizes)
    verdicts = max(0, pairs * (2 if options.both_orders else 1) - n_landed)
    return votes * (verdicts if options.limit is None else min(verdicts, options.limit))
