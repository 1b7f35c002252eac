"""What a job would cost before anything is spent: calls, tokens, hours and money.

Prompt tokens come from the requests themselves, corrected by what the server counted in the calls of the same
purpose, endpoint and model that have landed (the pilot); output tokens, seconds and retries come from the pilot
alone. What no pilot tells is None, never a guess.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import duckdb

from annotate.calls.identity import call_id, effective_params
from annotate.calls.index import CallIndex
from annotate.calls.policy import Policy
from annotate.providers.base import Provider, Request
from annotate.providers.token_estimate import estimate_tokens
from warehouse.landing import Landing

_SAMPLED_PROMPTS = 500


@dataclass(frozen=True)
class Pilot:
    """Means over the landed calls of one purpose, endpoint and model.

    Attributes
    ----------
    calls
        Calls with a usable reply.
    tokens_in, tokens_out
        Tokens billed for each, failed attempts included; None where the server does not count.
    latency_s
        Seconds an attempt took; None where it is not known (batches).
    attempts
        Attempts a call took, at least 1.
    tokens_of_estimate
        Prompt tokens counted by the server for each token of our estimate.
    """

    calls: int
    tokens_in: float | None
    tokens_out: float | None
    latency_s: float | None
    attempts: float
    tokens_of_estimate: float | None


@dataclass(frozen=True)
class Estimate:
    """What is left to pay for.

    Attributes
    ----------
    calls
        Calls to send, first attempts only.
    landed
        Calls of the same requests that have a usable reply already.
    hours
        At the policy's concurrency and limits.
    cost
        In `currency`; None without a pilot or prices.
    pilot_calls
        Calls the means were taken from; 0 = no pilot.
    """

    calls: int
    landed: int
    tokens_in: int | None
    tokens_out: int | None
    hours: float | None
    cost: float | None
    currency: str
    pilot_calls: int

    def as_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return asdict(self)

    def __str__(self) -> str:
        def shown(value: float | None, unit: str = "") -> str:
            return "unknown" if value is None else f"{value:,.6g}{unit}"

        text = (
            f"{self.calls:,} calls ({self.landed:,} landed already), {shown(self.tokens_in)} tokens in, "
            f"{shown(self.tokens_out)} out, {shown(self.hours)} hours, {shown(self.cost, ' ' + self.currency)}"
        )
        if not self.pilot_calls and self.calls:
            text += "; no pilot has landed: run with --limit first for output tokens, hours and cost"
        return text


def read_pilot(landing: Landing, provider: Provider, purpose: str) -> Pilot | None:
    """Return the means of what has landed, None when nothing has."""
    chosen = f"from ({landing.scan_sql('llm_calls')}) where purpose = ? and endpoint = ? and model = ?"
    given = [purpose, provider.endpoint, provider.model]
    with duckdb.connect() as connection:
        calls, attempts, tokens_in, tokens_out, latency = connection.execute(
            "select count(distinct call_id) filter (error is null), count(*), sum(tokens_in), sum(tokens_out), "
            f"avg(latency_s) {chosen}",
            given,
        ).fetchall()[0]
        prompts = connection.execute(
            f"select request, tokens_in {chosen} and error is null and tokens_in > 0 "
            f"order by call_id limit {_SAMPLED_PROMPTS}",
            given,
        ).fetchall()
    if not calls:
        return None
    ours = sum(estimate_tokens(json.loads(request)["messages"]) for request, _ in prompts)
    theirs = sum(counted for _, counted in prompts)
    return Pilot(
        calls=calls,
        tokens_in=None if tokens_in is None else tokens_in / calls,
        tokens_out=None if tokens_out is None else tokens_out / calls,
        latency_s=latency,
        attempts=attempts / calls,
        tokens_of_estimate=theirs / ours if ours else None,
    )


def estimate_calls(
    provider: Provider,
    pilot: Pilot | None,
    calls: int,
    prompt_tokens: float | None,
    policy: Policy | None = None,
    landed: int = 0,
) -> Estimate:
    """Estimate `calls` calls.

    Parameters
    ----------
    provider
        Its profile's prices and policy are used where it has them.
    prompt_tokens
        Our estimate of the tokens of a prompt; None = take the pilot's mean.
    policy
        Concurrency and limits; the provider's when not given.
    """
    policy = policy or getattr(provider, "policy", None) or Policy()
    profile = getattr(provider, "profile", None)
    each_in = prompt_tokens
    if pilot is not None and prompt_tokens is None:
        each_in = pilot.tokens_in
    elif pilot is not None and prompt_tokens is not None and pilot.tokens_of_estimate is not None:
        each_in = prompt_tokens * pilot.tokens_of_estimate * pilot.attempts
    each_out = pilot.tokens_out if pilot else None
    tokens_in = None if each_in is None else round(calls * each_in)
    tokens_out = None if each_out is None else round(calls * each_out)
    return Estimate(
        calls=calls,
        landed=landed,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        hours=_hours(calls, pilot, policy, (tokens_in or 0) + (tokens_out or 0)),
        cost=_cost(tokens_in, tokens_out, profile),
        currency=getattr(profile, "currency", "USD"),
        pilot_calls=pilot.calls if pilot else 0,
    )


def estimate_requests(
    landing: Landing,
    provider: Provider,
    requests: Iterable[Request],
    policy: Policy | None = None,
    calls: int | None = None,
) -> Estimate:
    """Estimate what asking `requests` (of one purpose) would cost; nothing is sent.

    Parameters
    ----------
    calls
        Calls expected in all, where later requests follow from replies and `requests` are only the first.
    """
    index = CallIndex()
    index.refresh(landing)
    defaults = getattr(provider, "defaults", {})
    purpose, new, landed, tokens = "", set[str](), set[str](), 0
    for request in requests:
        purpose = request.purpose
        params = effective_params(defaults, request.params)
        identity = call_id(provider.endpoint, provider.model, params, request)
        if index.history(identity).good is not None:
            landed.add(identity)
        elif identity not in new:
            new.add(identity)
            tokens += estimate_tokens(request.messages)
    pilot = read_pilot(landing, provider, purpose) if purpose else None
    expected = len(new) if calls is None else calls
    return estimate_calls(provider, pilot, expected, tokens / len(new) if new else None, policy, len(landed))


def _hours(calls: int, pilot: Pilot | None, policy: Policy, tokens: int) -> float | None:
    if pilot is None or pilot.latency_s is None:
        return None
    attempts = calls * pilot.attempts
    minutes = [attempts * pilot.latency_s / policy.concurrency / 60]
    if policy.requests_per_minute:
        minutes.append(attempts / policy.requests_per_minute)
    if policy.tokens_per_minute:
        minutes.append(tokens / policy.tokens_per_minute)
    return max(minutes) / 60


def _cost(tokens_in: int | None, tokens_out: int | None, profile: Any) -> float | None:
    price_in, price_out = getattr(profile, "price_in", None), getattr(profile, "price_out", None)
    if tokens_in is None or tokens_out is None or price_in is None or price_out is None:
        return None
    return (tokens_in * float(price_in) + tokens_out * float(price_out)) / 1e6
