"""What a tournament would cost before anything is asked: verdicts, calls, tokens, hours and money."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from annotate.calls.estimate import Estimate, estimate_calls, estimate_requests, read_pilot
from annotate.calls.policy import Policy
from annotate.providers.base import Request
from annotate.tournament.asking import Asker
from annotate.tournament.field import LandedVerdicts
from annotate.tournament.job import Options, missing, total_calls
from annotate.tournament.setup import OFFLINE, Setup
from annotate.tournament.state import Tournament

PILOT_VERDICTS = 20
_SAMPLED_REQUESTS = 500


def estimate(
    setup: Setup,
    tournament: Tournament,
    asker: Asker,
    landed: LandedVerdicts,
    options: Options,
    policy: Policy | None = None,
) -> dict[str, Any]:
    """Estimate what is left of a tournament; what no pilot tells is None.

    Prompt tokens are counted roughly on the first requests of the next round, which stand for all.

    Returns
    -------
    dict
        Who judges what, and the figures of :class:`annotate.calls.estimate.Estimate`.
    """
    figures = _figures(setup, tournament, asker, landed, options, policy).as_dict()
    del figures["landed"]  # counted over a sample of requests only; verdicts_landed says how far the job is
    return {
        "provider": setup.provenance.provider,
        "model": setup.provenance.model,
        "judges": ", ".join(sorted(set(setup.judge_names))),
        "schedule": setup.provenance.schedule,
        "variant": setup.provenance.variant,
        "queries": len(tournament.entrants),
        "rounds": tournament.rounds,
        "verdicts_landed": len(landed.results.share),
        **figures,
    }


def _figures(
    setup: Setup,
    tournament: Tournament,
    asker: Asker,
    landed: LandedVerdicts,
    options: Options,
    policy: Policy | None,
) -> Estimate:
    calls = total_calls(tournament, asker, landed, options)
    if setup.provenance.provider == OFFLINE:
        # Its requests name the texts by their hashes: they say nothing about tokens.
        pilot = read_pilot(setup.landing, setup.provider, "judge")
        return estimate_calls(setup.provider, pilot, calls, None, policy)
    requests = islice(_next_requests(tournament, asker, options), _SAMPLED_REQUESTS)
    return estimate_requests(setup.landing, setup.provider, requests, policy, calls)


def _next_requests(tournament: Tournament, asker: Asker, options: Options) -> Iterator[Request]:
    """Yield what the first round that lacks verdicts asks."""
    for number in range(1, tournament.rounds + 1):
        pairs, _ = tournament.pairs_of_round(number)
        known = tournament.landed_of(number, pairs)
        asks = missing(tournament, pairs, known, number, options)
        if asks:
            yield from asker.requests(asks)
            return
        tournament.settle(known)
