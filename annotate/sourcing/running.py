"""Running a sourcing job: the call log around it, and the provider closed behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from annotate.calls.log import CallLog
from annotate.calls.validate import Validator
from annotate.sourcing.setup import Asking

Item = TypeVar("Item")
Result = TypeVar("Result")


def run(
    asking: Asking, job_id: str, validate: Validator, start: Callable[[CallLog], Awaitable[Result]]
) -> tuple[Result, dict[str, Any]]:
    """Run what `start` begins on an open call log; return its result and the counts of the calls."""
    return asyncio.run(_run(asking, job_id, validate, start))


def first(items: Iterable[Item], limit: int | None) -> Iterator[Item]:
    """Yield at most `limit` items, all where there is no limit."""
    return islice(items, limit)


async def _run(
    asking: Asking, job_id: str, validate: Validator, start: Callable[[CallLog], Awaitable[Result]]
) -> tuple[Result, dict[str, Any]]:
    log = CallLog(asking.landing, asking.provider, job_id, policy=asking.policy, validate=validate, progress=False)
    try:
        async with log:
            result = await start(log)
    finally:
        close = getattr(asking.provider, "close", None)
        if close is not None:
            await close()
    return result, log.counts.as_dict()
