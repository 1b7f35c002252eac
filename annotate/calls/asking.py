"""Answering one request: from the log, from the same call under way for another request, or by sending it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from annotate.calls.identity import call_id, effective_params
from annotate.calls.index import History
from annotate.calls.policy import Policy
from annotate.calls.sender import Sender
from annotate.calls.store import CallStore
from annotate.calls.validate import Validator
from annotate.providers.base import Provider, Reply, Request, failed
from annotate.providers.failures import NOT_IN_LOG, is_of_form


class Found(NamedTuple):
    """The reply to a request, and whether it cost nothing now."""

    call_id: str
    reply: Reply
    from_log: bool


@dataclass
class _Call:
    """A call under way in a task of its own, and how many requests wait for it."""

    task: asyncio.Task[tuple[Reply, bool]]
    waiting: int = 0


class Asking:
    """Calls under way by identity.

    A call runs in a task of its own: when the job cancels whoever asked, a call in flight still lands, since
    it is paid for; a call that waits for its turn or its next attempt is dropped.
    """

    def __init__(
        self, provider: Provider, policy: Policy, validate: Validator, store: CallStore, sender: Sender, sends: bool
    ) -> None:
        self._provider = provider
        self._defaults = getattr(provider, "defaults", {})
        self._prepare = getattr(provider, "prepare", None)
        self._policy = policy
        self._validate = validate
        self._store = store
        self._sender = sender
        self._sends = sends
        self._calls: dict[str, _Call] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def identify(self, request: Request) -> tuple[str, dict[str, Any]]:
        """Return the identity of a request's call and the parameters in force."""
        params = effective_params(self._defaults, request.params)
        return call_id(self._provider.endpoint, self._provider.model, params, request), params

    async def find(self, request: Request) -> Found:
        """Answer `request`; one that joins a call already under way costs nothing."""
        identity, params = self.identify(request)
        while True:
            call = self._calls.get(identity)
            joined = call is not None
            if call is None:
                call = self._start(identity, params, request)
            call.waiting += 1
            try:
                reply, from_log = await asyncio.shield(call.task)
            except asyncio.CancelledError:
                if call.waiting == 1:
                    self._sender.abandon(call.task)
                current = asyncio.current_task()
                if call.task.cancelled() and current is not None and not current.cancelling():
                    continue  # dropped by those who asked before: this request still wants its answer
                raise
            finally:
                call.waiting -= 1
            return Found(identity, reply, from_log or joined)

    def _start(self, identity: str, params: dict[str, Any], request: Request) -> _Call:
        task = asyncio.create_task(self._find_or_send(identity, params, request))
        self._calls[identity] = _Call(task)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._ended(identity, done))
        return self._calls[identity]

    async def end(self) -> None:
        """End every call under way.

        When the job stops for a failure, calls in flight are waited for and land; a job that breaks off by
        itself (an exception of its own, Ctrl-C) does not wait for slow replies.
        """
        for task in self._tasks:
            if self._sender.stopped is not None:
                self._sender.abandon(task)
            else:
                task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    def _ended(self, identity: str, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        call = self._calls.get(identity)
        if call is not None and call.task is task:
            del self._calls[identity]
        if not task.cancelled():
            task.exception()  # whoever waits raises it; nobody may be left to

    async def _find_or_send(self, identity: str, params: dict[str, Any], request: Request) -> tuple[Reply, bool]:
        if self._sends:
            await self._store.enter(self._provider.endpoint, self._provider.model, request.purpose)
        history = self._store.history(identity)
        if history.attempts:
            landed = await self._landed(identity, request, history)
            if landed.error is None:
                return landed, True
            settled = history.good is not None or self._is_quarantined(history)
            if settled and not self._policy.retry_quarantined:
                return landed, True
        if not self._sends:
            return failed(NOT_IN_LOG), False
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
        identity, params = self.identify(request)
        history = self._store.history(identity)
        if history.good is not None or self._is_quarantined(history):
            return await self._store.fetch(identity, good=history.good is not None)
        return await self._sender.send(identity, params, request, history, validate=lambda *_: None)

    def _is_quarantined(self, history: History) -> bool:
        return history.hopeless or history.reply_faults >= self._policy.attempts
