"""What an annotation stage would cost: calls, tokens, hours and money, from a pilot where one has landed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import duckdb

from annotate.calls.policy import Policy
from annotate.problems import Work
from annotate.providers.token_estimate import estimate_tokens
from annotate.stages import Stage
from annotate.summaries.requests import summary_request
from annotate.topics.requests import topic_request
from annotate.topics.traversal import LARGEST_BATCH

PILOT_PROBLEMS = 20
_GUESSED_VISITS = 5.0
"""Visits of a problem before any has landed: a branch or two, one path down and its forks."""


def estimate(stage: Stage, work: Work, problems: Iterable[Mapping[str, Any]], limit: int | None) -> dict[str, Any]:
    """Estimate the calls, tokens, hours and cost of the pending problems; what no pilot tells is None."""
    n_problems = work.pending if limit is None else min(limit, work.pending)
    pilot = _pilot(stage)
    per_problem = pilot["calls_per_problem"] or (_GUESSED_VISITS if stage.name == "topics" else 1.0)
    calls = round(n_problems * per_problem)
    tokens_in = pilot["tokens_in"] or _prompt_tokens(stage, problems)
    policy = getattr(stage.provider, "policy", None) or Policy()
    profile = getattr(stage.provider, "profile", None)
    return {
        "stage": stage.name,
        "provider": stage.provider_name,
        "model": stage.provider.model,
        "variant": stage.variant,
        "done": work.done,
        "without_solution": work.without_solution,
        "problems": n_problems,
        "calls": calls,
        "tokens_in": _times(calls, tokens_in),
        "tokens_out": _times(calls, pilot["tokens_out"]),
        "hours": _hours(calls, pilot["latency_s"], policy.concurrency),
        "cost": _cost(calls, tokens_in, pilot["tokens_out"], profile),
        "pilot_calls": pilot["calls"],
    }


def _pilot(stage: Stage) -> dict[str, Any]:
    """Return means over the usable calls of this stage, endpoint and model that have landed."""
    with duckdb.connect() as connection:
        calls, tokens_in, tokens_out, latency = connection.execute(
            f"""
            select count(*), avg(tokens_in), avg(tokens_out), avg(latency_s)
            from ({stage.landing.scan_sql("llm_calls")})
            where purpose = ? and endpoint = ? and model = ? and error is null
            """,
            [stage.purpose, stage.provider.endpoint, stage.provider.model],
        ).fetchall()[0]
        per_problem = connection.execute(
            f"""
            select count(distinct (problem_id, call_id)) / nullif(count(distinct problem_id), 0)
            from ({stage.landing.scan_sql(stage.table)})
            where variant = ?
            """,
            [stage.variant],
        ).fetchall()[0][0]
    return {
        "calls": calls,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "latency_s": latency,
        "calls_per_problem": per_problem,
    }


def _prompt_tokens(stage: Stage, problems: Iterable[Mapping[str, Any]]) -> float | None:
    """Estimate the tokens of a prompt from the first pending problems; None for the offline provider."""
    if stage.prompt is None:
        return None
    counts = []
    for problem in islice(problems, PILOT_PROBLEMS):
        if stage.tree is not None:
            start = stage.tree.start()
            branches = stage.tree.children[start][:LARGEST_BATCH]
            request = topic_request(problem, stage.tree, branches, start, stage.prompt)
        else:
            request = summary_request(problem, stage.prompt)
        counts.append(estimate_tokens(request.messages))
    return sum(counts) / len(counts) if counts else None


def _times(calls: int, each: float | None) -> int | None:
    return None if each is None else round(calls * each)


def _hours(calls: int, latency_s: float | None, concurrency: int) -> float | None:
    return None if latency_s is None else round(calls * latency_s / concurrency / 3600, 3)


def _cost(calls: int, tokens_in: float | None, tokens_out: float | None, profile: Any) -> float | None:
    prices = getattr(profile, "price_in", None), getattr(profile, "price_out", None)
    if tokens_in is None or tokens_out is None or prices[0] is None or prices[1] is None:
        return None
    return round(calls * (tokens_in * float(prices[0]) + tokens_out * float(prices[1])) / 1e6, 2)
