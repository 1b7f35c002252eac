"""Many problems under way at a time, with progress, and an orderly end when the job has to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

from annotate.calls.log import CallLog
from annotate.calls.progress import Counts
from annotate.providers.base import Reply, Request
from warehouse.errors import SaberError

Item = TypeVar("Item")

_UNDER_WAY_PER_CALL = 2
"""Problems under way for each call that may be in flight: one asks while another parses or waits its turn."""


class Asks:
    """The calls about one item, and whether any of them was more than a look into the log."""

    def __init__(self, log: CallLog) -> None:
        self._log = log
        self.is_new = False

    async def ask(self, request: Request) -> tuple[str, Reply]:
        """Answer a request as :meth:`~annotate.calls.log.CallLog.ask` does."""
        found = await self._log.find(request)
        self.is_new |= not found.from_log
        return found.call_id, found.reply


class _Budget:
    """How many items may still be begun; one that came to nothing without a call is given back."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._under_way = 0
        self._changed = asyncio.Condition()

    async def take(self) -> bool:
        """Take one, waiting while items under way may give theirs back; False when the budget is spent."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._left > 0 or not self._under_way)
            if not self._left:
                return False
            self._left -= 1
            self._under_way += 1
            return True

    async def settle(self, is_spent: bool) -> None:
        """Say what became of one that was taken."""
        async with self._changed:
            self._under_way -= 1
            self._left += not is_spent
            self._changed.notify_all()


async def work_through(
    items: Iterable[Item],
    total: int,
    log: CallLog,
    do: Callable[[Item], Awaitable[bool | None]],
    label: str,
    limit: int | None = None,
) -> None:
    """Do all items, many at a time, so that the provider always has calls to answer.

    Parameters
    ----------
    items, total
        What to do, and how much of it is expected to be done now.
    log
        Where calls are asked.
    do
        Does one item. False says that nothing came of it and nothing was asked, because its calls are
        quarantined: it does not count towards the limit, else the same items would use it up in every run.
    label
        Name of the progress line.
    limit
        Stop after so many items.

    When the call log stops the job, items under way are waited for: their calls in flight are paid for and have to
    land, and the log refuses any further one. An interruption or a fault of the program waits for nothing.

    Raises
    ------
    SaberError
        What stopped the job.
    """
    source, stopping = iter(items), asyncio.Event()
    budget = None if limit is None else _Budget(limit)
    workers = max(1, min(total, _UNDER_WAY_PER_CALL * log.policy.concurrency))
    with tqdm(total=total, unit=" problems", desc=label, disable=None, smoothing=0.05) as bar:
        tasks = [asyncio.create_task(_work(source, do, bar, log.counts, stopping, budget)) for _ in range(workers)]
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
    do: Callable[[Item], Awaitable[bool | None]],
    bar: tqdm[None],
    counts: Counts,
    stopping: asyncio.Event,
    budget: _Budget | None,
) -> None:
    while not stopping.is_set() and (budget is None or await budget.take()):
        is_spent = False
        try:
            # The iterator is shared: taking from it awaits nothing, so no two workers take the same item.
            try:
                item = next(source)
            except StopIteration:
                return
            is_spent = await do(item) is not False
        finally:
            if budget is not None:
                await budget.settle(is_spent)
        if is_spent or budget is None:
            _show(bar, counts)


def _show(bar: tqdm[None], counts: Counts) -> None:
    if not bar.disable:
        failures = " ".join(f"{kind}:{number}" for kind, number in counts.failures.most_common(3))
        tokens = f"{counts.tokens_in + counts.tokens_out:,} tokens " if counts.tokens_in else ""
        cost = f"{counts.shown_cost} " if counts.shown_cost else ""
        bar.set_postfix_str(f"{counts.sent:,} calls {tokens}{cost}{failures}".rstrip(), refresh=False)
    bar.update()
