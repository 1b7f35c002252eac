"""Many problems under way at a time, with progress, and an orderly end when the job has to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

from annotate.calls.log import CallLog
from annotate.calls.progress import Counts
from warehouse.errors import SaberError

Item = TypeVar("Item")

_UNDER_WAY_PER_CALL = 2
"""Problems under way for each call that may be in flight: one asks while another parses or waits its turn."""


async def work_through(
    items: Iterable[Item], total: int, log: CallLog, do: Callable[[Item], Awaitable[None]], label: str
) -> None:
    """Do all items, many at a time, so that the provider always has calls to answer.

    When the call log stops the job, items under way are waited for: their calls in flight are paid for and have to
    land, and the log refuses any further one. An interruption or a fault of the program waits for nothing.

    Raises
    ------
    SaberError
        What stopped the job.
    """
    source, stopping = iter(items), asyncio.Event()
    workers = max(1, min(total, _UNDER_WAY_PER_CALL * log.policy.concurrency))
    with tqdm(total=total, unit=" problems", desc=label, disable=None, smoothing=0.05) as bar:
        tasks = [asyncio.create_task(_work(source, do, bar, log.counts, stopping)) for _ in range(workers)]
        try:
            await asyncio.gather(*tasks)
        except SaberError:
            stopping.set()
            await asyncio.wait(tasks)
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _work(
    source: Iterator[Item],
    do: Callable[[Item], Awaitable[None]],
    bar: tqdm[None],
    counts: Counts,
    stopping: asyncio.Event,
) -> None:
    # The iterator is shared: taking from it awaits nothing, so no two workers take the same item.
    for item in source:
        await do(item)
        if not bar.disable:
            failures = " ".join(f"{kind}:{number}" for kind, number in counts.failures.most_common(3))
            tokens = f"{counts.tokens_in + counts.tokens_out:,} tokens " if counts.tokens_in else ""
            cost = f"{counts.shown_cost} " if counts.shown_cost else ""
            bar.set_postfix_str(f"{counts.sent:,} calls {tokens}{cost}{failures}".rstrip(), refresh=False)
        bar.update()
        if stopping.is_set():
            return
