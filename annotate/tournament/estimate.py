"""What a tournament would cost before anything is asked: verdicts, calls, tokens, hours and money."""

from __future__ import annotations

from itertools import islice
from typing import Any

import duckdb

from annotate.calls.policy import Policy
from annotate.providers.token_estimate import estimate_tokens
from annotate.tournament.asking import Asker
from annotate.tournament.field import LandedVerdicts
from annotate.tournament.job import Options, missing, total_calls
from annotate.tournament.setup import OFFLINE, Setup
from annotate.tournament.state import Tournament

PILOT_VERDICTS = 20


def estimate(
    setup: Setup, tournament: Tournament, asker: Asker, landed: LandedVerdicts, options: Options
) -> dict[str, Any]:
    """Estimate what is left of a tournament; what no pilot tells is None.

    Prompt tokens are counted roughly on the next requests; output tokens and seconds come from the calls to
    the same endpoint and model that have landed for this purpose.
    """
    calls = total_calls(tournament, asker, landed, options)
    pilot = _pilot(setup)
    tokens_in = pilot["tokens_in"] or _prompt_tokens(setup, tournament, asker, options)
    policy = getattr(setup.provider, "policy", None) or Policy()
    return {
        "provider": setup.provenance.provider,
        "model": setup.provenance.model,
        "judges": ", ".join(sorted(set(setup.judge_names))),
        "schedule": setup.provenance.schedule,
        "variant": setup.provenance.variant,
        "queries": len(tournament.entrants),
        "rounds": tournament.rounds,
        "verdicts_landed": len(landed.results.share),
        "calls": calls,
        "tokens_in": _times(calls, tokens_in),
        "tokens_out": _times(calls, pilot["tokens_out"]),
        "hours": None if pilot["latency_s"] is None else calls * pilot["latency_s"] / policy.concurrency / 3600,
        "cost": _cost(setup, calls, tokens_in, pilot["tokens_out"]),
        "pilot_calls": pilot["calls"],
    }


def _pilot(setup: Setup) -> dict[str, Any]:
    with duckdb.connect() as connection:
        row = connection.execute(
            "select count(*), avg(tokens_in), avg(tokens_out), avg(latency_s) "
            f"from ({setup.landing.scan_sql('llm_calls')}) "
            "where purpose = 'judge' and endpoint = ? and model = ? and error is null",
            [setup.provider.endpoint, setup.provider.model],
        ).fetchall()[0]
    return dict(zip(("calls", "tokens_in", "tokens_out", "latency_s"), row, strict=True))


def _prompt_tokens(setup: Setup, tournament: Tournament, asker: Asker, options: Options) -> float | None:
    if setup.provenance.provider == OFFLINE or not tournament.rounds:
        return None
    pairs, _ = tournament.pairs_of_round(1)
    asks = missing(tournament, pairs, tournament.landed_of(1, pairs), 1, options)
    counts = [estimate_tokens(request.messages) for request in islice(asker.requests(asks), PILOT_VERDICTS)]
    return sum(counts) / len(counts) if counts else None


def _times(calls: int, each: float | None) -> int | None:
    return None if each is None else round(calls * each)


def _cost(setup: Setup, calls: int, tokens_in: float | None, tokens_out: float | None) -> float | None:
    profile = getattr(setup.provider, "profile", None)
    price_in, price_out = getattr(profile, "price_in", None), getattr(profile, "price_out", None)
    if tokens_in is None or tokens_out is None or price_in is None or price_out is None:
        return None
    return round(calls * (tokens_in * float(price_in) + tokens_out * float(price_out)) / 1e6, 2)
