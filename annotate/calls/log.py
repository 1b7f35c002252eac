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
from dataclasses import replace
from itertools import islice
from types import TracebackType
from typing import Any, NamedTuple

from annotate.calls.identity import call_id, effective_params
from annotate.calls.index import History
from annotate.calls.limits import Sleep
from annotate.calls.policy import Policy
from annotate.calls.progress import Counts, Progress, say
from annotate.calls.sender import Sender
from annotate.calls.store import CallStore
from annotate.calls.validate import Validator, structured
from annotate.providers.base import Provider, Reply, Request, failed
from annotate.providers.failures import NOT_IN_LOG, Fault, fault, is_of_form
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
        progress: bool | None = None,
        sleep: Sleep = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.provider = provider
        self.policy = policy or getattr(provider, "policy", None) or Policy()
        self.counts = Counts()
        self._defaults = getattr(provider, "defaults", {})
        self._prepare = getattr(provider, "prepare", None)
        self._validate = validate
        self._sends = send
        self._show = progress
        self._progress: Progress | None = None
        self._store = CallStore(landing, job_id, self.policy, say)
        self._sender = Sender(provider, self.policy, validate, self._store, self.counts, sleep, draw)
        self._asking: dict[str, asyncio.Future[Reply]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
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
            await self._end(mine)
            if not self._entered:
                await self.close()

    async def ask(self, request: Request) -> tuple[str, Reply]:
        """Answer one request and return (call id, reply); the log must be open (``async with``).

        Any number may be asked at once; the policy bounds how many are sent.
        """
        task = asyncio.current_task()
        if task is not None and task not in self._tasks:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        identity, reply, from_log = await self._answer(request)
        self._tally(reply, from_log)
        return identity, reply

    def call_id(self, request: Request) -> str:
        """Return the identity of the call that `request` makes to this provider."""
        params = effective_params(self._defaults, request.params)
        return call_id(self.provider.endpoint, self.provider.model, params, request)

    async def sync(self) -> None:
        """Make everything recorded so far durable."""
        await self._store.sync()

    async def close(self) -> None:
        """Wait for calls in flight, compact the journal and release the log."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            await self._end(set(self._tasks))
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

    async def _end(self, tasks: set[asyncio.Task[Any]]) -> None:
        """Cancel what waits and, when the job stops for a failure, let what is in flight land: it is paid for.

        A job that breaks off by itself (an exception of its own, Ctrl-C) does not wait for slow replies.
        """
        current = asyncio.current_task()
        ending = {task for task in tasks if task is not current}
        spared = self._sender.sending if self._sender.stopped is not None else set()
        for task in ending - spared:
            task.cancel()
        if ending:
            await asyncio.wait(ending)

    async def _answer_into(self, results: asyncio.Queue[Answer | Exception], index: int, request: Request) -> None:
        try:
            identity, reply = await self.ask(request)
        except Exception as error:
            results.put_nowait(error)
        else:
            results.put_nowait(Answer(index, identity, reply))

    async def _answer(self, request: Request) -> tuple[str, Reply, bool]:
        params = effective_params(self._defaults, request.params)
        identity = call_id(self.provider.endpoint, self.provider.model, params, request)
        while (other := self._asking.get(identity)) is not None:
            # The same call is under way for another request.
            await asyncio.wait([other])
            if not other.cancelled():
                return identity, other.result(), True
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._asking[identity] = future
        try:
            reply, from_log = await self._find_or_send(identity, params, request)
            future.set_result(reply)
        finally:
            del self._asking[identity]
            if not future.done():
                future.cancel()
        return identity, reply, from_log

    async def _find_or_send(self, identity: str, params: dict[str, Any], request: Request) -> tuple[Reply, bool]:
        if self._sends:
            await self._store.enter(self.provider.endpoint, self.provider.model, request.purpose)
        history = self._store.history(identity)
        if history.attempts:
            landed = await self._landed(identity, request, history)
            if landed.error is None:
                return landed, True
            settled = history.good is not None or self._is_quarantined(history)
            if settled and not (self._sends and self.policy.retry_quarantined):
                return landed, True
        if not self._sends:
            return failed(NOT_IN_LOG), True
        if self._prepare is not None:
            await self._prepare(request, self._ask_aside)
        return await self._sender.send(identity, params, request, history), False

    async def _landed(self, identity: str, request: Request, history: History) -> Reply:
        """Return the usable or else the last reply of a call, judged by the rules of this job."""
        landed = await self._store.fetch(identity, good=history.good is not None)
        if is_of_form(landed.error):
            landed = replace(landed, error=self._validate(request, replace(landed, error=None)))
        if landed.error is None:
            self._sender.check_landed(identity, landed)
        return landed

    async def _ask_aside(self, request: Request) -> Reply:
        """Ask for a provider: landed like any call, but neither validated nor counted as one of the job's."""
        params = effective_params(self._defaults, request.params)
        identity = call_id(self.provider.endpoint, self.provider.model, params, request)
        history = self._store.history(identity)
        if history.good is not None or self._is_quarantined(history):
            return await self._store.fetch(identity, good=history.good is not None)
        return await self._sender.send(identity, params, request, history, validate=lambda *_: None)

    def _is_quarantined(self, history: History) -> bool:
        return history.hopeless or history.reply_faults >= self.policy.attempts

    def _tally(self, reply: Reply, from_log: bool) -> None:
        counts = self.counts
        counts.asked += 1
        counts.from_log += from_log and reply.error != NOT_IN_LOG
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
