"""What an annotation stage would cost before it runs: calls, tokens, hours and money."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import duckdb

from annotate.calls.estimate import estimate_calls, read_pilot
from annotate.calls.policy import Policy
from annotate.problems import Work
from annotate.providers.token_estimate import estimate_tokens
from annotate.stages import Stage, policy_of
from annotate.summaries.requests import summary_request
from annotate.topics.requests import topic_request
from annotate.topics.traversal import LARGEST_BATCH

PILOT_PROBLEMS = 20
_GUESSED_CALLS = 5.0
"""Calls of a traversal before any has landed: the root, one path of three, one fork. Said to be a guess."""


def estimate(
    stage: Stage,
    work: Work,
    problems: Iterable[Mapping[str, Any]],
    limit: int | None = None,
    concurrency: int | None = None,
) -> dict[str, Any]:
    """Estimate what the pending problems would cost; what no pilot tells is None.

    Returns
    -------
    dict
        Counts of problems and the figures of :class:`annotate.calls.estimate.Estimate`;
        ``calls_per_problem`` comes from this variant's landed rows, else it is a guess and says so.
    """
    n_problems = work.pending if limit is None else min(limit, work.pending)
    landed = _calls_per_problem(stage)
    guessed = stage.name == "topics" and landed is None
    per_problem = landed or (_GUESSED_CALLS if stage.name == "topics" else 1.0)
    policy: Policy = policy_of(stage, concurrency)
    pilot = read_pilot(stage.landing, stage.provider, stage.purpose)
    figures = estimate_calls(
        stage.provider, pilot, round(n_problems * per_problem), _prompt_tokens(stage, problems), policy
    )
    return {
        "stage": stage.name,
        "provider": stage.provider_name,
        "model": stage.provider.model,
        "variant": stage.variant,
        "done": work.done,
        "without_solution": work.without_solution,
        "problems": n_problems,
        "calls_per_problem": round(per_problem, 2),
        "calls_per_problem_is_a_guess": guessed,
        **figures.as_dict(),
    }


def _calls_per_problem(stage: Stage) -> float | None:
    sql = f"""
        select count(distinct (problem_id, call_id)) / nullif(count(distinct problem_id), 0)
        from ({stage.landing.scan_sql(stage.table)})
        where variant = ?
    """
    with duckdb.connect() as connection:
        found: float | None = connection.execute(sql, [stage.variant]).fetchall()[0][0]
    return found


def _prompt_tokens(stage: Stage, problems: Iterable[Mapping[str, Any]]) -> float | None:
    """Estimate the tokens of a prompt from the first pending problems; None for the offline provider.

    A traversal's first call stands for all: labels are few beside a problem and its solution.
    """
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
