"""The job of a step on landed problems: asks, has a fault mended once, lands new versions and review items."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate.calls.log import CallLog
from annotate.calls.validate import InvalidReply, Validator
from annotate.prompts import Prompt
from annotate.providers.base import Reply, Request
from annotate.sourcing.candidates import latest_sequences
from annotate.sourcing.replies import Objection, corrected
from annotate.sourcing.step import Change, Problem, Step
from annotate.sourcing.versions import new_version
from annotate.work import Asks, work_through
from warehouse.landing import Landing
from warehouse.review import land_items, review_item

_LAND_ROWS = 5_000
_LAND_SECONDS = 60.0


@dataclass
class Outcome:
    """What a step did.

    Attributes
    ----------
    problems
        Problems with a new version.
    changed
        Those of them whose texts or language changed.
    for_review
        Items that came to the review list, failed problems apart.
    mended
        Replies put right when their fault was named.
    failed
        Problems without a usable reply.
    overtaken
        Problems that another job changed meanwhile: left alone, the next run asks about the new text.
    """

    problems: int = 0
    changed: int = 0
    for_review: int = 0
    mended: int = 0
    failed: int = 0
    overtaken: int = 0
    violations: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)

    @property
    def undone(self) -> int:
        """Problems that were asked for and are not done."""
        return self.failed + self.overtaken

    def as_dict(self) -> dict[str, Any]:
        """Return the counts for a job's summary."""
        return {
            **vars(self),
            "violations": dict(sorted(self.violations.items())),
            "failures": dict(sorted(self.failures.items())),
        }


def validator_of(read: Callable[[Any, str | None], Any], subject: str) -> Validator:
    """Make the call log's validator of a step: form always, checks where their fault has been named before.

    Parameters
    ----------
    read
        Reads a reply about a subject and raises where it is no good.
    subject
        Key of the subject in the request's payload.
    """

    def validate(request: Request, reply: Reply) -> str | None:
        try:
            read(request.payload[subject], reply.text)
        except InvalidReply as invalid:
            return invalid.kind
        except Objection as objection:
            return objection.kind if "corrects" in request.about else None
        return None

    return validate


async def ask_with_correction(
    log: CallLog | Asks, request: Request, read: Callable[[str | None], Any], outcome: Any
) -> tuple[list[str], Any]:
    """Ask, and where a check objects ask once more with the fault named.

    Returns
    -------
    call ids, result
        The result of ``read``, or an :class:`Objection` or the kind of failure (str).
    """
    call_id, reply = await log.ask(request)
    calls, found = [call_id], _result(reply, read)
    if isinstance(found, Objection):
        outcome.violations[found.kind] += 1
        call_id, reply = await log.ask(corrected(request, reply.text or "", found, call_id))
        calls.append(call_id)
        # A correction that is no better is a failed call; what is wrong with it is still to be read from its words.
        readable = reply.error is None or reply.text is not None
        again = _result(reply, read) if reply.error is None else reply.error
        if reply.error == found.kind and readable:
            try:
                read(reply.text)
            except Objection as objection:
                again = objection
            except InvalidReply:
                pass
        outcome.mended += not isinstance(again, Objection | str)
        found = again
    return calls, found


def _result(reply: Reply, read: Callable[[str | None], Any]) -> Any:
    if reply.error is not None:
        return reply.error
    try:
        return read(reply.text)
    except InvalidReply as invalid:
        return invalid.kind
    except Objection as objection:
        return objection


class StepJob:
    """Does one step on many problems at a time.

    Attributes
    ----------
    table
        Where what it makes of a problem lands.
    """

    table = "problems"

    def __init__(self, landing: Landing, log: CallLog, step: Step, prompt: Prompt, variant: str, job_id: str) -> None:
        self._landing, self._log, self._step, self._prompt = landing, log, step, prompt
        self._variant, self._job_id = variant, job_id
        self._rows: list[tuple[Problem, dict[str, Any]]] = []
        self._items: list[dict[str, Any]] = []
        self._landed_at = time.monotonic()
        self._landing_lock = asyncio.Lock()
        self.outcome = Outcome()

    async def run(self, problems: Iterable[Mapping[str, Any]], total: int, limit: int | None = None) -> Outcome:
        """Do the step on ``problems``; what is finished lands also when the job is stopped by an error.

        Problems whose calls are quarantined are passed over and do not count towards ``limit``.
        """
        try:
            await work_through(problems, total, self._log, self._do, self._step.name, limit)
        finally:
            await self._land()
        return self.outcome

    async def _do(self, problem: Mapping[str, Any]) -> bool:
        asks = Asks(self._log)
        request = self._step.request(problem, self._prompt)
        calls, found = await ask_with_correction(
            asks, request, lambda text: self._step.read(problem, text), self.outcome
        )
        if isinstance(found, Change):
            self._finish(problem, calls, found)
        else:
            self._fail(problem, calls, found)
        if len(self._rows) >= _LAND_ROWS or time.monotonic() - self._landed_at > _LAND_SECONDS:
            await self._land()
        return asks.is_new or isinstance(found, Change)

    def _finish(self, problem: Problem, calls: list[str], change: Change) -> None:
        row = self._row(problem, calls, change)
        self._rows.append((problem, row))
        for reason, detail in change.review:
            self._items.append(self._item(problem, reason, detail, row["content_hash"], calls[-1]))

    def _row(self, problem: Problem, calls: list[str], change: Change) -> dict[str, Any]:
        return new_version(problem, self._step.name, change, calls, self._variant)

    def _fail(self, problem: Problem, calls: list[str], found: Objection | str) -> None:
        kind = found.kind if isinstance(found, Objection) else found
        self.outcome.failed += 1
        self.outcome.failures[kind] += 1
        if isinstance(found, Objection):
            self._items.append(self._item(problem, kind, str(found), problem["content_hash"], calls[-1]))

    def _item(self, problem: Problem, reason: str, detail: str, seen: str, call_id: str) -> dict[str, Any]:
        return review_item(
            problem["source"],
            problem["problem_id"],
            self._step.name,
            reason,
            detail,
            seen,
            call_id=call_id,
            variant=self._variant,
        )

    async def _land(self) -> None:
        async with self._landing_lock:
            made, self._rows = self._rows, []
            items, self._items = self._items, []
            self._landed_at = time.monotonic()
            if not made and not items:
                return
            await self._log.sync()
            now = latest_sequences(self._landing, [problem["problem_id"] for problem, _ in made])
            current = [(p, row) for p, row in made if now.get(p["problem_id"]) == p["sequence"]]
            overtaken = {p["problem_id"] for p, _ in made} - {p["problem_id"] for p, _ in current}
            failed = {item["document"] for item in items} - {p["problem_id"] for p, _ in made}
            self.outcome.overtaken += len(overtaken)
            self.outcome.problems += len(current)
            self.outcome.changed += sum(any(row.get(f, p[f]) != p[f] for f in _CHANGING) for p, row in current)
            if current:
                self._landing.append(self.table, [row for _, row in current], self._job_id)
            items = [item for item in items if item["document"] not in overtaken]
            self.outcome.for_review += sum(item["document"] not in failed for item in items)
            looked_at = [(p["source"], p["problem_id"], self._step.name) for p, _ in current]
            land_items(self._landing, items, self._job_id, looked_at)


_CHANGING = ("statement", "solution", "answer", "language")
