"""A job in a process of its own, for tests that kill it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from annotate.calls import CallLog
from annotate.providers.base import Request
from annotate.providers.profile import read_profile
from annotate.providers.server import ServerProvider
from warehouse.landing import Landing

CONCURRENCY = 16


def requests(number: int) -> list[Request]:
    """Return the job's requests."""
    return [Request("topics", "topics@1", ({"role": "user", "content": f"call {n}"},)) for n in range(number)]


def run_job(home: Path, url: str, number: int) -> None:
    """Ask `number` calls, with journals so small that compaction is always near."""
    table = {
        "urls": [url],
        "model": "m",
        "concurrency": CONCURRENCY,
        "backoff_s": 0.001,
        "journal_records": 40,
    }

    async def job() -> None:
        log = CallLog(Landing(home), ServerProvider(read_profile("test", table)), "job")
        async for _ in log.run(requests(number)):
            pass

    asyncio.run(job())
