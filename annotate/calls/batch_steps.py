"""What ``--batch write|submit|collect`` does in a job's command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from annotate.calls.batch import BatchWriter
from annotate.calls.batch_service import collect_batches, submit_batches
from annotate.calls.policy import Policy
from annotate.calls.validate import Validator, structured
from annotate.providers.base import Provider, Request
from annotate.providers.server import ServerProvider
from warehouse.errors import SaberError
from warehouse.landing import Landing

_Done = TypeVar("_Done")
STEPS = ("write", "submit", "collect")


def batch_step(
    step: str,
    landing: Landing,
    provider: Provider,
    job_id: str,
    run_without_sending: Callable[[Callable[[Request], None]], object],
    validate: Validator = structured,
    policy: Policy | None = None,
) -> dict[str, Any]:
    """Do one step and return its counts.

    Parameters
    ----------
    step
        ``write`` (the calls the job would ask now), ``submit`` or ``collect``. After ``collect`` run the job as
        usual or write again: a job whose later calls follow from earlier replies needs a batch a level.
    run_without_sending
        Runs the job with ``CallLog(send=False, on_missing=...)``, given what to pass as ``on_missing``.
    validate
        The job's validator.

    Returns
    -------
    dict
        For ``collect``, ``failed`` and ``waiting`` above 0 mean that the exit code must not be 0.

    Raises
    ------
    SaberError
        For a provider that is no server, and when the service refuses.
    """
    if not isinstance(provider, ServerProvider):
        raise SaberError(f"Batch files are for servers; {provider.name} answers at once. Leave --batch out.")
    if step == "write":
        writer = BatchWriter(landing, provider, policy)
        run_without_sending(writer.add)
        batch = writer.close()
        parts = batch.parts if batch else []
        folder = str(batch.folder) if batch else None
        return {"calls": sum(part.requests for part in parts), "files": len(parts), "folder": folder}
    if step == "submit":
        started = asyncio.run(_closing(provider, submit_batches(landing, provider)))
        return {"calls": sum(part.requests for part in started), "files": len(started)}
    if step != "collect":
        raise ValueError(f"no such step: {step}")
    found = asyncio.run(_closing(provider, collect_batches(landing, provider, job_id, validate)))
    return {
        "good": found.good,
        "failed": sum(found.failures.values()),
        "failures": dict(sorted(found.failures.items())),
        "waiting": found.waiting,
        "unknown_lines": found.unknown,
    }


async def _closing(provider: ServerProvider, work: Awaitable[_Done]) -> _Done:
    try:
        return await work
    finally:
        await provider.close()
