"""Swiss tournaments: 20 rounds for 1,000 queries of 150 documents, every verdict drawn, none asked for."""

from __future__ import annotations

import numpy as np

from bench.stage import Outcome, Stage, Workbench
from bench.verdicts import DOCUMENTS, ROUNDS, n_queries, shares, strengths, timed


def run(workbench: Workbench) -> Outcome:
    """Pair and settle round after round; fewer queries below 20,000 problems (:func:`bench.verdicts.n_queries`)."""
    from annotate.tournament.state import Entrants, Results, Tournament

    queries = n_queries(workbench)
    theta = strengths(queries)
    documents = tuple(f"document-{number:03d}" for number in range(DOCUMENTS))
    entrants = [Entrants(f"query-{number:04d}", documents) for number in range(queries)]

    def play() -> tuple[Tournament, int, int]:
        tournament = Tournament(entrants, "swiss", ROUNDS, 7, Results.of([]))
        verdicts = sat_out = 0
        for number in range(1, tournament.rounds + 1):
            pairs, idle = tournament.pairs_of_round(number)
            query, first, second = pairs.T
            share = shares(theta[query, first], theta[query, second], number)
            tournament.settle(Results(pairs, np.full(len(pairs), number), share))
            verdicts, sat_out = verdicts + len(pairs), sat_out + len(idle)
        return tournament, verdicts, sat_out

    (tournament, verdicts, sat_out), seconds = timed(play)
    if int(tournament.standings.met.sum()) != 2 * verdicts:
        raise AssertionError("A pair has met twice.")
    if 2 * verdicts + sat_out != queries * DOCUMENTS * ROUNDS:
        raise AssertionError("A document neither plays nor sits out in some round.")
    return Outcome(verdicts, {"queries": queries, "sat_out": sat_out, **seconds})


STAGE = Stage("tournament", 82, run, once=True, unit="pairs", apart=True)
