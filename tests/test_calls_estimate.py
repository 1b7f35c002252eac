"""The estimate before anything is spent, by numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from annotate.calls import Policy, record
from annotate.calls.estimate import Pilot, estimate_calls, estimate_requests, read_pilot
from annotate.calls.identity import call_id, effective_params
from annotate.providers.base import Reply, Request
from annotate.providers.profile import read_profile
from annotate.providers.server import ServerProvider
from warehouse.landing import Landing

PROVIDER = ServerProvider(
    read_profile("p", {"urls": ["http://a/v1"], "model": "m", "price_in": 2.0, "price_out": 10.0, "concurrency": 4})
)


def ask(text: str, **changes) -> Request:
    return replace(Request("judge", "judge@1", ({"role": "user", "content": text},)), **changes)


def land(
    landing: Landing, request: Request, attempts: list[tuple[str | None, int | None, int | None, float]]
) -> None:
    params = effective_params(PROVIDER.defaults, request.params)
    identity = call_id(PROVIDER.endpoint, "m", params, request)
    lines = []
    for attempt, (error, tokens_in, tokens_out, latency) in enumerate(attempts, start=1):
        reply = Reply("x", "stop", "m", None, tokens_in, tokens_out, latency, error)
        lines.append(record.encode(identity, attempt, PROVIDER.endpoint, "m", params, request, reply))
    landing.append("llm_calls", record.to_table(lines), "job")


@pytest.fixture
def landing(tmp_path) -> Landing:
    return Landing(tmp_path)


def test_a_pilot_is_the_mean_of_what_landed_failed_attempts_included(landing):
    # 396 and 796 bytes are estimated at 99 + 4 and 199 + 4 tokens.
    land(landing, ask("x" * 396), [("length", 200, 100, 3.0), (None, 206, 20, 1.0)])
    land(landing, ask("x" * 796), [(None, 406, 40, 2.0)])
    land(landing, ask("other", purpose="topics"), [(None, 1, 1, 1.0)])
    assert read_pilot(landing, PROVIDER, "judge") == Pilot(
        calls=2, tokens_in=406.0, tokens_out=80.0, latency_s=2.0, attempts=1.5, tokens_of_estimate=2.0
    )
    assert read_pilot(landing, PROVIDER, "summary") is None


def test_calls_tokens_hours_and_cost():
    pilot = Pilot(10, 300.0, 50.0, 6.0, 1.2, 1.5)
    found = estimate_calls(PROVIDER, pilot, 1000, 200.0)
    assert found.tokens_in == 360_000  # 1000 · 200 · 1.5 · 1.2
    assert found.tokens_out == 50_000
    assert found.hours == pytest.approx(1000 * 1.2 * 6.0 / 4 / 3600)
    assert found.cost == pytest.approx(0.36 * 2 + 0.05 * 10)
    assert estimate_calls(PROVIDER, pilot, 1000, None).tokens_in == 300_000


@pytest.mark.parametrize(
    ("policy", "hours"),
    [
        (Policy(concurrency=1000, requests_per_minute=6), 1200 / 6 / 60),
        (Policy(concurrency=1000, tokens_per_minute=410), 410_000 / 410 / 60),
    ],
)
def test_limits_per_minute_bound_the_hours(policy, hours):
    found = estimate_calls(PROVIDER, Pilot(10, 300.0, 50.0, 6.0, 1.2, 1.5), 1000, 200.0, policy)
    assert found.hours == pytest.approx(hours)


def test_without_a_pilot_only_what_is_known_is_said():
    found = estimate_calls(PROVIDER, None, 5, 100.0)
    assert (found.tokens_in, found.tokens_out, found.hours, found.cost) == (500, None, None, None)
    assert "no pilot has landed" in str(found)
    assert "unknown out" in str(found)


def test_requests_that_landed_are_not_paid_for_again(landing):
    land(landing, ask("x" * 396), [(None, 103, 20, 1.0)])
    land(landing, ask("y" * 396), [("length", 103, 20, 1.0)])
    found = estimate_requests(landing, PROVIDER, [ask("x" * 396), ask("y" * 396), ask("z" * 396), ask("z" * 396)])
    assert (found.calls, found.landed, found.pilot_calls) == (2, 1, 1)
    assert found.tokens_in == 2 * 103 * 2  # the pilot took two attempts a usable reply
    adaptive = estimate_requests(landing, PROVIDER, [ask("z" * 396)], calls=100)
    assert (adaptive.calls, adaptive.tokens_in) == (100, 100 * 103 * 2)
    assert estimate_requests(landing, PROVIDER, []).calls == 0


def test_nothing_is_sent_and_nothing_is_written(landing):
    estimate_requests(landing, PROVIDER, [ask("a")])
    assert list(landing.root.rglob("*")) == []
