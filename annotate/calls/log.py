"""The call log: asks a provider for what has not landed, lands every attempt, answers the rest from the log.

Decisions
---------
* A reply is handed to the job once it is in the journal, so it survives a kill of the process. It is on the
  disk within a second; await :meth:`CallLog.sync` before landing rows derived from replies, so that a power
  cut cannot leave parsed rows without their raw replies.
* A failed call is yielded with ``reply.error`` set; the job must look at it before the text.
* Quarantine: see :class:`annotate.calls.policy.Policy`. Failures of the service never quarantine a call.
* A landed reply is checked again by the validator of the job that reads it: rules may have become stricter
  (then it counts as quarantined, and is paid for again only on demand) or laxer (then a quarantined reply
  is used).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable, Sized
from itertools import islice
from types import TracebackType
from typing import NamedTuple

from annotate.calls.asking import Asking, Found
from annotate.calls.limits import Sleep
from annotate.calls.policy import Policy
from annotate.calls.progress import Counts, Progress, say
from annotate.calls.sender import Sender
from annotate.calls.store import CallStore
from annotate.calls.validate import Validator, structured
from annotate.providers.base import Provider, Reply, Request
from annotate.providers.failures import NOT_IN_LOG, Fault, fault
from warehouse.landing import Landing

_SMALLEST_WINDOW = 512


class Answer(NamedTuple):
    """What became of one request of :meth:`CallLog.run`: its position there, its call id and the reply."""

    position: int
    call_id: str
    reply: Reply


class CallLog:
    """Asks `provider` and lands every attempt in ``llm_calls``.

    Use it as ``async with CallLog(...) as log`` around a job's rounds, then ``async for position, call_id, reply
    in log.run(requests)`` or ``call_id, reply = await log.ask(request)``. A single ``run`` outside ``async
    with`` opens and closes the log by itself.

    Parameters
    ----------
    landing
        Where attempts land.
    provider
        Who answers. Its ``defaults``, ``policy`` and ``prepare`` are used where it has them.
    job_id
        The job that asks.
    policy
        Limits and patience; the provider's, else the defaults.
    validate
        ``validate(request, reply) -> kind | None``: a kind makes the reply a failure, which is tried again.
    send
        False: nothing is sent, calls not in the log fail as ``not_in_log``.
    on_missing
        Called with each request that fails so: with `send` False a job run this way tells what it would ask.
    progress
        Whether to show progress on stderr; None = on a terminal.
    """

    def __init__(
        self,
        landing: Landing,
        provider: Provider,
        job_id: str,
        *,
        policy: Policy | None = None,
        validate: Validator = structured,
        send: bool = True,
        on_missing: Callable[[Request], None] | None = None,
        progress: bool | None = None,
        sleep: Sleep = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.provider = provider
        self.policy = policy or getattr(provider, "policy", None) or Policy()
        self.counts = Counts(prices=getattr(getattr(provider, "profile", None), "prices", {}))
        self._on_missing = on_missing
        self._show = progress
        self._progress: Progress | None = None
        self._store = CallStore(landing, job_id, self.policy, say)
        sender = Sender(provider, self.policy, validate, self._store, self.counts, sleep, draw)
        self._asking = Asking(provider, self.policy, validate, self._store, sender, send)
        self._is_open = False
        self._entered = False

    async def __aenter__(self) -> CallLog:
        await self._open()
        self._entered = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered = False
        await self.close()

    async def run(self, requests: Iterable[Request], total: int | None = None) -> AsyncIterator[Answer]:
        """Answer `requests`, in the order of completion.

        Requests are drawn as they are needed, so a generator keeps memory flat; it must not wait for
        answers of the same run (use :meth:`ask` where one request follows from another's reply).

        Parameters
        ----------
        requests
            What to ask; the same call asked twice is sent once and answered twice.
        total
            Number of requests for the progress line; taken from `requests` where it has a length.

        Raises
        ------
        SaberError
            When the job must stop; calls in flight are waited for and landed first.
        """
        await self._open()
        if total is None and isinstance(requests, Sized):
            total = len(requests)
        if self._progress is not None and total is not None:
            self._progress.expect(total)
        results: asyncio.Queue[Answer | Exception] = asyncio.Queue()
        window = max(2 * self.policy.concurrency, _SMALLEST_WINDOW)
        mine: set[asyncio.Task[None]] = set()
        source, outstanding = enumerate(requests), 0
        try:
            while True:
                for index, request in islice(source, window - outstanding):
                    task = asyncio.create_task(self._answer_into(results, index, request))
                    mine.add(task)
                    task.add_done_callback(mine.discard)
                    outstanding += 1
                if not outstanding:
                    break
                result = await results.get()
                outstanding -= 1
                if isinstance(result, Exception):
                    raise result
                yield result
        finally:
            for task in mine:
                task.cancel()
            if mine:
                await asyncio.wait(set(mine))
            if not self._entered:
                await self.close()

    async def ask(self, request: Request) -> tuple[str, Reply]:
        """Answer one request and return (call id, reply); the log must be open (``async with``).

        Any number may be asked at once; the policy bounds how many are sent.
        """
        found = await self.find(request)
        return found.call_id, found.reply

    async def find(self, request: Request) -> Found:
        """Answer one request as :meth:`ask` does, and say whether that cost nothing now."""
        found = await self._asking.find(request)
        self._tally(found.reply, found.from_log)
        if found.reply.error == NOT_IN_LOG and self._on_missing is not None:
            self._on_missing(request)
        return found

    def call_id(self, request: Request) -> str:
        """Return the identity of the call that `request` makes to this provider."""
        return self._asking.identify(request)[0]

    async def sync(self) -> None:
        """Make everything recorded so far durable."""
        await self._store.sync()

    async def close(self) -> None:
        """End what is under way, compact the journal and release the log."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            await self._asking.end()
        finally:
            await self._store.close()
            if self._progress is not None:
                self._progress.close()
                self._progress = None

    async def _open(self) -> None:
        if not self._is_open:
            await self._store.open()
            self._progress = Progress(self.counts, self._show)
            self._is_open = True

    async def _answer_into(self, results: asyncio.Queue[Answer | Exception], position: int, request: Request) -> None:
        try:
            identity, reply = await self.ask(request)
        except Exception as error:
            results.put_nowait(error)
        else:
            results.put_nowait(Answer(position, identity, reply))

    def _tally(self, reply: Reply, from_log: bool) -> None:
        counts = self.counts
        counts.asked += 1
        counts.from_log += from_log
        if reply.error is None:
            counts.good += 1
        elif reply.error == NOT_IN_LOG:
            counts.missing += 1
        elif fault(reply.error) is Fault.SERVICE:
            counts.given_up += 1
        else:
            counts.quarantined += 1
        if self._progress is not None:
            self._progress.answered()
