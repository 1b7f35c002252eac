"""The summary job: asks about every solution without a summary, has a broken rule mended once, lands the rest."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate.calls.log import CallLog
from annotate.calls.validate import InvalidReply
from annotate.prompts import Prompt
from annotate.providers.base import Reply, Request
from annotate.summaries.reading import RuleBroken, Summary, read_form, read_summary
from annotate.summaries.requests import corrected, summary_request
from annotate.work import Asks, work_through
from warehouse.landing import Landing

TABLE = "summaries"
_LAND_ROWS = 20_000
_LAND_SECONDS = 60.0


@dataclass
class Outcome:
    """What a summary job did.

    ``violations`` counts first replies that broke a rule, by rule; ``mended`` those put right when asked again.
    """

    problems: int = 0
    failed: int = 0
    no_core_idea: int = 0
    mended: int = 0
    violations: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts for a job's summary."""
        return {
            **vars(self),
            "violations": dict(sorted(self.violations.items())),
            "failures": dict(sorted(self.failures.items())),
        }


def validate(request: Request, reply: Reply) -> str | None:
    """Check a reply (a validator of the call log): form always, rules where they have been named before.

    A first reply that breaks a rule stays a usable call: the next question quotes it.
    """
    try:
        if "corrects" in request.about:
            read_summary(reply.text)
        else:
            read_form(reply.text)
    except (InvalidReply, RuleBroken) as broken:
        return broken.kind
    return None


class SummaryJob:
    """Asks for summaries, many at a time, and lands them in batches."""

    def __init__(
        self, landing: Landing, log: CallLog, prompt: Prompt | None, stamp: Mapping[str, str], job_id: str
    ) -> None:
        self._landing, self._log, self._prompt, self._stamp = landing, log, prompt, dict(stamp)
        self._job_id = job_id
        self._rows: list[dict[str, Any]] = []
        self._landed_at = time.monotonic()
        self._landing_lock = asyncio.Lock()
        self.outcome = Outcome()

    async def run(self, problems: Iterable[Mapping[str, Any]], total: int, limit: int | None = None) -> Outcome:
        """Summarise ``problems``; those whose calls fail are counted and left for the next run.

        Problems whose calls are quarantined are passed over and do not count towards ``limit``.
        What is finished lands also when the job is stopped by an error.
        """
        try:
            await work_through(problems, total, self._log, self._do, "summaries", limit)
        finally:
            await self._land()
        return self.outcome

    async def _do(self, problem: Mapping[str, Any]) -> bool:
        asks = Asks(self._log)
        call_id, found = await self._summarise(problem, asks)
        if not isinstance(found, Summary):
            self.outcome.failed += 1
            self.outcome.failures[found] += 1
            return asks.is_new
        self._finish(problem, call_id, found)
        if len(self._rows) >= _LAND_ROWS or time.monotonic() - self._landed_at > _LAND_SECONDS:
            await self._land()
        return True

    async def _summarise(self, problem: Mapping[str, Any], asks: Asks) -> tuple[str, Summary | str]:
        """Return the call and its summary, or the kind of failure."""
        request = summary_request(problem, self._prompt)
        call_id, reply = await asks.ask(request)
        found = _read(reply)
        if isinstance(found, RuleBroken):
            self.outcome.violations[found.kind] += 1
            call_id, reply = await asks.ask(corrected(request, reply.text or "", found, call_id))
            found = _read(reply)
            self.outcome.mended += isinstance(found, Summary)
        return call_id, found.kind if isinstance(found, RuleBroken) else found

    def _finish(self, problem: Mapping[str, Any], call_id: str, summary: Summary) -> None:
        self.outcome.problems += 1
        self.outcome.no_core_idea += summary.no_core_idea
        self._rows.append(
            {
                "problem_id": problem["problem_id"],
                "core_idea": summary.core_idea,
                "supporting_ideas": list(summary.supporting_ideas),
                "keywords": list(summary.keywords),
                "no_core_idea": summary.no_core_idea,
                "confidence": summary.confidence,
                "call_id": call_id,
                "content_hash": problem["content_hash"],
                **self._stamp,
            }
        )

    async def _land(self) -> None:
        async with self._landing_lock:
            rows, self._rows = self._rows, []
            self._landed_at = time.monotonic()
            if rows:
                await self._log.sync()
                self._landing.append(TABLE, rows, self._job_id)


def _read(reply: Reply) -> Summary | RuleBroken | str:
    if reply.error is not None:
        return reply.error
    try:
        return read_summary(reply.text)
    except InvalidReply as invalid:
        return invalid.kind
    except RuleBroken as broken:
        return broken
