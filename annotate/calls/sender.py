"""Sending one call until it has a usable reply, its patience is at an end, or the job must stop."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from annotate.calls import record
from annotate.calls.index import History
from annotate.calls.limits import MinuteLimiter, Sleep, backoff
from annotate.calls.policy import Policy
from annotate.calls.progress import Counts, count_tokens
from annotate.calls.served import ServedModels
from annotate.calls.store import CallStore
from annotate.calls.validate import Validator
from annotate.providers.base import Provider, Reply, Request, failed
from annotate.providers.failures import SERVED_MODEL_CHANGED, VALIDATOR_FAILED, Fault, fault, meaning
from annotate.providers.token_estimate import estimate_tokens
from warehouse.errors import SaberError

_GUESSED_OUTPUT = 500


class Sender:
    """Attempts, waits and limits of one job.

    Parameters
    ----------
    sleep, draw
        How to wait and where jitter in [0, 1) comes from, replaceable in tests.
    """

    def __init__(
        self,
        provider: Provider,
        policy: Policy,
        validate: Validator,
        store: CallStore,
        counts: Counts,
        sleep: Sleep = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._provider = provider
        self._policy = policy
        self._validate = validate
        self._store = store
        self._counts = counts
        self._sleep = sleep
        self._draw = draw
        self._slots = asyncio.Semaphore(policy.concurrency)
        self._limiter = MinuteLimiter(policy.requests_per_minute, policy.tokens_per_minute, sleep=sleep)
        self._given_up_in_a_row = self._refused_from_the_start = self._unusable_from_the_start = 0
        self._replied = False
        self._usual_output: float | None = None
        self.served = ServedModels(policy.on_model_change)
        self.stopped: SaberError | None = None
        self._in_flight: set[asyncio.Task[Any]] = set()
        self._abandoned: set[asyncio.Task[Any]] = set()

    async def send(
        self,
        call_id: str,
        params: Mapping[str, Any],
        request: Request,
        history: History,
        validate: Validator | None = None,
    ) -> Reply:
        """Send a call, again and again as its failures allow, and return its last reply.

        Parameters
        ----------
        validate
            Replaces the job's validator (for calls that are not the job's own).

        Raises
        ------
        SaberError
            When a failure concerns every call: the job must stop.
        """
        policy, attempt = self._policy, history.attempts
        replies_left = policy.attempts - (0 if policy.retry_quarantined else history.reply_faults)
        service_left = policy.service_attempts
        failures = 0
        while True:
            attempt += 1
            reply = await self._attempt(call_id, attempt, params, request, validate or self._validate)
            whose = fault(reply.error)
            self._count(reply, whose)
            if whose is Fault.NONE:
                return reply
            if whose is Fault.FATAL:
                raise self._stop(call_id, reply)
            if whose is Fault.SERVICE:
                service_left -= 1
            elif whose is Fault.REPLY:
                replies_left -= 1
            self._raise_if_stopped()
            if whose is Fault.REQUEST:
                self._refuse(reply)
                return reply
            if replies_left <= 0:
                self._quarantine(reply)
                return reply
            self._refuse_long_pause(call_id, reply)
            if service_left <= 0:
                self._give_up(reply)
                return reply
            failures += 1
            wait = backoff(failures, policy.backoff_s, policy.backoff_cap_s, self._draw(), reply.retry_after_s)
            await self._sleep(wait)

    def abandon(self, task: asyncio.Task[Any]) -> None:
        """End the call that `task` sends: at once, or when its attempt in flight has landed."""
        if task in self._in_flight:
            self._abandoned.add(task)
        else:
            task.cancel()

    def check_landed(self, call_id: str, reply: Reply) -> None:
        """Stop the job when a landed reply it reuses comes from another model than it is being sent."""
        if not self.served.check_landed(reply):
            raise self._halt(self.served.sentence(self._provider.endpoint, call_id))

    async def _attempt(
        self, call_id: str, attempt: int, params: Mapping[str, Any], request: Request, validate: Validator
    ) -> Reply:
        if attempt > 1 and isinstance(params.get("seed"), int):
            # The same seed would draw the same bad reply again; the seed used lands with the attempt.
            params = {**params, "seed": params["seed"] + attempt - 1}
        estimate = self._estimate(request)
        async with self._slots:
            self._raise_if_stopped()
            spent = await self._limiter.admit(estimate)
            self._raise_if_stopped()
            self._counts.sent += 1
            with self._flight() as task:
                reply = await self._ask_provider(replace(request, params=params))
        if reply.tokens_in is not None:
            self._limiter.correct(spent, reply.tokens_in + (reply.tokens_out or 0))
        # Nothing is awaited between the reply and the journal: a kill finds it in flight or written.
        problem = None
        try:
            error = self.served.check(reply) or reply.error or validate(request, reply)
        except Exception as raised:
            error, problem = VALIDATOR_FAILED, raised
        if error != reply.error:
            reply = replace(reply, error=error)
        provider = self._provider
        payload = record.encode(call_id, attempt, provider.endpoint, provider.model, params, request, reply)
        self._store.record(call_id, attempt, error, payload)
        if task in self._abandoned:
            self._abandoned.discard(task)
            raise asyncio.CancelledError
        if problem is not None:
            self.stopped = SaberError(f"The check of replies failed on call {call_id}: {problem!r}.")
            raise problem
        return reply

    @contextlib.contextmanager
    def _flight(self) -> Iterator[asyncio.Task[Any]]:
        task = asyncio.current_task()
        assert task is not None
        self._in_flight.add(task)
        try:
            yield task
        finally:
            self._in_flight.discard(task)

    async def _ask_provider(self, request: Request) -> Reply:
        try:
            return await self._provider.complete(request)
        except Exception as error:
            return failed("provider_failed", detail=f"{type(error).__name__}: {error}")

    def _estimate(self, request: Request) -> int:
        if self._policy.tokens_per_minute is None:
            return 0
        output = self._usual_output if self._usual_output is not None else _GUESSED_OUTPUT
        return estimate_tokens(request.messages) + round(output)

    def _count(self, reply: Reply, whose: Fault) -> None:
        count_tokens(self._counts, reply)
        if reply.error is not None:
            self._counts.failures[reply.error] += 1
        if whose in (Fault.NONE, Fault.REPLY):
            self._given_up_in_a_row = 0
            self._replied = True
        if reply.tokens_out is not None:
            usual = self._usual_output
            self._usual_output = reply.tokens_out if usual is None else 0.9 * usual + 0.1 * reply.tokens_out

    def _give_up(self, reply: Reply) -> None:
        self._given_up_in_a_row += 1
        if self._given_up_in_a_row >= self._policy.given_up_in_a_row:
            raise self._halt(
                f"{self._provider.endpoint} has answered none of the last {self._given_up_in_a_row} calls, each "
                f"tried {self._policy.service_attempts} times (last: {meaning(reply.error or '')}"
                f"{_said(reply)}). Start or mend the server and run the same command again."
            )

    def _refuse(self, reply: Reply) -> None:
        """Stop a job of which nothing but refused requests has come back: its parameters are wrong."""
        self._refused_from_the_start += 1
        if not self._replied and self._refused_from_the_start >= self._policy.given_up_in_a_row:
            raise self._halt(
                f"{self._provider.endpoint}, model {self._provider.model}, has refused all of the first "
                f"{self._refused_from_the_start} calls: {meaning(reply.error or '')} ({reply.error}"
                f"{_said(reply)}). Correct the provider's parameters and run again with --retry-quarantined."
            )

    def _quarantine(self, reply: Reply) -> None:
        """Stop a job that has paid for replies and could use none of them: model and prompt do not fit."""
        self._unusable_from_the_start += 1
        if not self._counts.good and self._unusable_from_the_start >= self._policy.unusable_from_the_start:
            common = ", ".join(f"{kind} x {count}" for kind, count in self._counts.failures.most_common(3))
            raise self._halt(
                f"{self._provider.endpoint}, model {self._provider.model}, has given no usable reply to any of the "
                f"first {self._unusable_from_the_start} calls: {common} (last: {meaning(reply.error or '')}). Look "
                "at the replies in landing.llm_calls, change the model, the prompt or the output limit and run again "
                "(the same calls: with --retry-quarantined)."
            )

    def _refuse_long_pause(self, call_id: str, reply: Reply) -> None:
        pause = reply.retry_after_s
        if pause is not None and pause > self._policy.retry_after_cap_s:
            raise self._halt(
                f"{self._provider.endpoint} asks to come back in {pause:.0f} s (call {call_id}, "
                f"{meaning(reply.error or '')}). Run the same command again then."
            )

    def _stop(self, call_id: str, reply: Reply) -> SaberError:
        if reply.error == SERVED_MODEL_CHANGED:
            return self._halt(self.served.sentence(self._provider.endpoint, call_id))
        return self._halt(
            f"{self._provider.endpoint}, model {self._provider.model}: {meaning(reply.error or '')} "
            f"({reply.error}, call {call_id}{_said(reply)}). Correct the provider's key, URL or model."
        )

    def _halt(self, sentence: str) -> SaberError:
        self.stopped = SaberError(sentence)
        return self.stopped

    def _raise_if_stopped(self) -> None:
        if self.stopped is not None:
            raise self.stopped


def _said(reply: Reply) -> str:
    return f"; it said: {' '.join(reply.detail.split())[:300]}" if reply.detail else ""
