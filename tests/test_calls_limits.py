"""Limits per minute on a clock of the test's own, and the waits between attempts."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.calls import Policy
from annotate.calls.limits import MinuteLimiter, backoff
from warehouse.errors import SaberError


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def admissions(calls: list[tuple[float, int]], requests: int | None, tokens: int | None) -> list[float]:
    """Return when each of (pause before, tokens) is admitted."""
    clock = Clock()
    limiter = MinuteLimiter(requests, tokens, clock, clock.sleep)

    async def run() -> list[float]:
        times = []
        for pause, size in calls:
            clock.now += pause
            await limiter.admit(size)
            times.append(clock.now)
        return times

    return asyncio.run(run())


def test_requests_beyond_the_limit_wait_until_the_oldest_is_a_minute_old():
    assert admissions([(0, 1), (10, 1), (10, 1), (0, 1)], 2, None) == [0, 10, 60, 70]


def test_tokens_beyond_the_limit_wait():
    assert admissions([(0, 60), (5, 30), (5, 20), (0, 70)], None, 100) == [0, 5, 60, 65]


def test_a_call_larger_than_the_limit_goes_alone():
    assert admissions([(0, 10), (0, 500), (0, 1)], None, 100) == [0, 60, 120]


def test_without_limits_nothing_waits():
    assert admissions([(0, 10**9)] * 3, None, None) == [0, 0, 0]


@settings(max_examples=60, deadline=None)
@given(
    calls=st.lists(st.tuples(st.floats(0, 30), st.integers(1, 50)), max_size=30),
    requests=st.integers(1, 5) | st.none(),
    tokens=st.integers(50, 120) | st.none(),
)
def test_no_sixty_seconds_hold_more_than_the_limits(calls, requests, tokens):
    times = admissions(calls, requests, tokens)
    assert times == sorted(times)
    for begin in times:
        inside = [size for at, (_, size) in zip(times, calls, strict=True) if begin <= at < begin + 60 - 1e-6]
        assert requests is None or len(inside) <= requests
        assert tokens is None or sum(inside) <= tokens


def test_an_estimate_is_replaced_by_what_was_used():
    clock = Clock()
    limiter = MinuteLimiter(None, 100, clock, clock.sleep)

    async def run() -> list[float]:
        first = await limiter.admit(90)
        limiter.correct(first, 20)
        await limiter.admit(80)
        at_second = clock.now
        clock.now = 61.0
        third = await limiter.admit(50)
        limiter.correct(first, 99)  # left the window long ago: counts no more
        limiter.correct(third, 60)
        await limiter.admit(40)
        return [at_second, clock.now]

    assert asyncio.run(run()) == [0, 61]


def test_waits_double_up_to_the_cap_and_are_jittered_downwards():
    assert [backoff(n, 1.0, 10.0, 0.0, None) for n in (1, 2, 3, 4, 5, 2000)] == [0.5, 1, 2, 4, 5, 5]
    assert backoff(3, 1.0, 10.0, 0.999999, None) == pytest.approx(4.0)


def test_retry_after_is_a_lower_bound():
    assert backoff(1, 1.0, 10.0, 0.0, 30.0) == 30.0
    assert backoff(1, 1.0, 10.0, 0.5, 30.0) == pytest.approx(31.5)
    assert backoff(4, 1.0, 10.0, 0.0, 0.1) == 4.0


@pytest.mark.parametrize(
    "values",
    [
        {"attempts": 0},
        {"backoff_s": -1},
        {"requests_per_minute": 0},
        {"sync_interval_s": 0},
        {"on_model_change": "x"},
    ],
)
def test_a_policy_that_cannot_be_is_refused(values):
    with pytest.raises(SaberError, match=next(iter(values))):
        Policy(**values)
