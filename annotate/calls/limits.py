"""Limits per minute and waits between attempts."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

_WINDOW_S = 60.0

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]


class Spent:
    """One admitted call's share of the limit on tokens; corrected when the true number is known."""

    __slots__ = ("at", "tokens")

    def __init__(self, at: float, tokens: int) -> None:
        self.at = at
        self.tokens = tokens


class MinuteLimiter:
    """Admit calls so that no 60 seconds hold more than the given numbers of requests and tokens.

    A single call larger than the limit on tokens is admitted when nothing else is in the window: it can only
    be sent or never sent, and the server has the last word.

    Parameters
    ----------
    requests, tokens
        Limits; None = none.
    clock, sleep
        Where time comes from (seconds), replaceable in tests.
    """

    def __init__(
        self,
        requests: int | None = None,
        tokens: int | None = None,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._requests = requests
        self._tokens = tokens
        self._clock = clock
        self._sleep = sleep
        self._window: deque[Spent] = deque()
        self._used = 0
        self._turn = asyncio.Lock()

    async def admit(self, tokens: int) -> Spent:
        """Wait for the turn of a call of about `tokens` tokens; first come, first served."""
        if self._requests is None and self._tokens is None:
            return Spent(0.0, tokens)
        async with self._turn:
            while (wait := self._wait(tokens)) > 0:
                await self._sleep(wait)
            spent = Spent(self._clock(), tokens)
            self._window.append(spent)
            self._used += tokens
            return spent

    def correct(self, spent: Spent, tokens: int) -> None:
        """Replace the estimate of an admitted call by what it really used."""
        if self._window and spent.at >= self._window[0].at:
            self._used += tokens - spent.tokens
        spent.tokens = tokens

    def _wait(self, tokens: int) -> float:
        now = self._clock()
        while self._window and self._window[0].at <= now - _WINDOW_S:
            self._used -= self._window.popleft().tokens
        if not self._window:
            self._used = 0
            return 0.0
        too_many = self._requests is not None and len(self._window) >= self._requests
        too_much = self._tokens is not None and self._used + tokens > self._tokens
        return max(self._window[0].at + _WINDOW_S - now, 1e-3) if too_many or too_much else 0.0


def backoff(failures: int, base_s: float, cap_s: float, draw: float, retry_after_s: float | None) -> float:
    """Return the wait before the next attempt, seconds.

    Parameters
    ----------
    failures
        Failed attempts so far in this run, at least 1.
    base_s, cap_s
        First and longest wait.
    draw
        A number in [0, 1) that spreads calls which failed together.
    retry_after_s
        What the server asked for; the wait is never shorter, and is spread upwards by up to a tenth.
    """
    jittered = min(cap_s, base_s * 2.0 ** min(failures - 1, 60)) * (0.5 + draw / 2)
    if retry_after_s is None:
        return jittered
    return max(jittered, retry_after_s * (1 + draw / 10))
