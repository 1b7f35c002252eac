"""The same calls by the bare client: what journal, log and landing cost on top."""

from __future__ import annotations

import asyncio

import openai

from bench.stage import Outcome, Stage, Workbench
from bench.stages.calls import CALLS, CONCURRENCY, messages, timed


def run(workbench: Workbench) -> Outcome:
    """Ask with as many calls at once and keep nothing."""

    async def ask(url: str) -> int:
        client = openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0)
        slots = asyncio.Semaphore(CONCURRENCY)

        async def one(number: int) -> bool:
            async with slots:
                made = await client.chat.completions.create(model="m", messages=messages(number), max_tokens=50_000)  # type: ignore[arg-type]
                return bool(made.choices[0].message.content)

        return sum(await asyncio.gather(*(one(number) for number in range(CALLS))))

    return timed(ask)


STAGE = Stage("calls: bare client", 90, run, peer_of="calls", once=True, unit="calls", apart=True)
