"""Asking a model: 10,000 calls to a server on this machine that answers at once, journalled and landed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.stage import Outcome, Stage, Workbench

CALLS = 10_000
CONCURRENCY = 32
_PROMPT = "Which of the two candidates shares its idea with the target problem? " * 25


@contextmanager
def instant_server() -> Iterator[str]:
    """Run the scripted chat server in a process of its own and yield its base URL."""
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "tests.servers.chat"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def messages(number: int) -> list[dict[str, str]]:
    """Return a prompt of about 1,700 characters that no other call has."""
    return [{"role": "user", "content": f"{number}. {_PROMPT}"}]


def timed(ask: Callable[[str], Coroutine[Any, Any, int]]) -> Outcome:
    """Run `ask(url)` and report calls a second of wall time and of this process's processor time."""
    with instant_server() as url:
        wall, processor = time.perf_counter(), time.process_time()
        calls = asyncio.run(ask(url))
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return Outcome(calls, {"calls_per_s": round(calls / wall), "calls_per_core_s": round(calls / processor)})


def run(workbench: Workbench) -> Outcome:
    """Ask through the call log."""
    from annotate.calls import CallLog
    from annotate.providers.base import Request
    from annotate.providers.profile import read_profile
    from annotate.providers.server import ServerProvider
    from warehouse.landing import Landing

    landing = Landing(workbench.folder / "calls")

    async def ask(url: str) -> int:
        provider = ServerProvider(read_profile("bench", {"urls": [url], "model": "m", "concurrency": CONCURRENCY}))
        requests = (Request("bench", "bench@1", tuple(messages(number))) for number in range(CALLS))
        log = CallLog(landing, provider, "bench", progress=False)
        async for _ in log.run(requests):
            pass
        await provider.close()
        return log.counts.good

    outcome = timed(ask)
    landed = sum(file.rows for file in landing.files("llm_calls"))
    return Outcome(outcome.pairs, {**outcome.facts, "landed": landed})


STAGE = Stage("calls", 90, run, once=True, unit="calls", apart=True)
