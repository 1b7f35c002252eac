"""Answering many requests by answering each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import islice

from annotate.providers.base import Reply, Request


async def complete_many(
    complete: Callable[[Request], Awaitable[Reply]], requests: Sequence[Request], concurrency: int
) -> AsyncIterator[tuple[int, Reply]]:
    """Yield (index, reply) in the order of completion, at most `concurrency` requests at once."""
    source = enumerate(requests)
    running: dict[asyncio.Task[Reply], int] = {}
    try:
        while True:
            for index, request in islice(source, concurrency - len(running)):
                running[asyncio.ensure_future(complete(request))] = index
            if not running:
                return
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield running.pop(task), task.result()
    finally:
        for task in running:
            task.cancel()
