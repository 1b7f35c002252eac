"""The topic job: traverses the ontology for every problem that has no topics yet, and lands whole traversals."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate.calls.log import CallLog
from annotate.calls.validate import InvalidReply
from annotate.providers.base import Reply, Request
from annotate.topics.requests import parse_scores
from annotate.topics.traversal import CallFailed, Rules, Traversal, to_rows, traverse
from annotate.topics.tree import TopicTree
from annotate.work import Asks, work_through
from warehouse.landing import Landing

TABLE = "topic_scores"
_LAND_ROWS = 200_000
_LAND_SECONDS = 60.0


@dataclass
class Outcome:
    """What a topic job did: finished and failed problems, assigned topics, failures by kind."""

    problems: int = 0
    failed: int = 0
    topics: int = 0
    without_topic: int = 0
    visits: int = 0
    rows: int = 0
    failures: Counter[str] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts for a job's summary."""
        return {**vars(self), "failures": dict(sorted(self.failures.items()))}


def validate(request: Request, reply: Reply) -> str | None:
    """Check a reply's scores against the number of labels asked about (a validator of the call log)."""
    assert request.schema is not None or request.payload
    n_candidates = len(request.schema["required"] if request.schema else request.payload["candidates"])
    try:
        parse_scores(reply.text, n_candidates)
    except InvalidReply as invalid:
        return invalid.kind
    return None


class TopicJob:
    """Traverses problems, many at a time, and lands finished traversals in whole."""

    def __init__(
        self, landing: Landing, log: CallLog, tree: TopicTree, rules: Rules, stamp: Mapping[str, str], job_id: str
    ) -> None:
        self._landing, self._log, self._tree, self._rules = landing, log, tree, rules
        self._stamp = {**stamp, "traversal_id": job_id}
        self._job_id = job_id
        self._finished: list[Traversal] = []
        self._waiting_rows = 0
        self._landed_at = time.monotonic()
        self._landing_lock = asyncio.Lock()
        self.outcome = Outcome()

    async def run(self, problems: Iterable[Mapping[str, Any]], total: int, limit: int | None = None) -> Outcome:
        """Traverse ``problems``; those whose calls fail are counted and left for the next run.

        Problems whose calls are quarantined are passed over and do not count towards ``limit``.
        What is finished lands also when the job is stopped by an error.
        """
        try:
            await work_through(problems, total, self._log, self._do, "topics", limit)
        finally:
            await self._land()
        return self.outcome

    async def _do(self, problem: Mapping[str, Any]) -> bool:
        asks = Asks(self._log)
        try:
            traversal = await traverse(problem, self._tree, asks.ask, self._rules)
        except CallFailed as failure:
            self.outcome.failed += 1
            self.outcome.failures[str(failure)] += 1
            return asks.is_new
        self._finish(traversal)
        if self._waiting_rows >= _LAND_ROWS or time.monotonic() - self._landed_at > _LAND_SECONDS:
            await self._land()
        return True

    def _finish(self, traversal: Traversal) -> None:
        rows = sum(len(v.children) + (v.outcome.node_raw is not None) for v in traversal.visits)
        self._finished.append(traversal)
        self._waiting_rows += rows
        outcome = self.outcome
        outcome.problems += 1
        outcome.topics += len(traversal.assigned)
        outcome.without_topic += not traversal.assigned
        outcome.visits += len(traversal.visits)
        outcome.rows += rows

    async def _land(self) -> None:
        async with self._landing_lock:
            finished, self._finished, self._waiting_rows = self._finished, [], 0
            self._landed_at = time.monotonic()
            if finished:
                await self._log.sync()
                self._landing.append(TABLE, to_rows(finished, self._tree, self._stamp), self._job_id)
