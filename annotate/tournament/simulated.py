"""Landing simulated tournaments of the settings' size: what schedules would find, before a verdict is paid for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb

from annotate.tournament.simulation import Simulation, simulate
from warehouse.landing import Landing
from warehouse.settings import Settings

TABLE = "simulated_rounds"
SPREADS = (1.0, 2.0, 4.0)
"""An unsure, a usual and a sure judge."""
QUERIES = 10
_CLASSES = 3


def planned(settings: Settings) -> Simulation:
    """Return the simulation of the settings: as many candidates as a query has, and twice the rounds."""
    ridge = settings.ratings.ridge
    return Simulation(
        n_queries=QUERIES,
        n_documents=_CLASSES * settings.benchmark.candidates_per_class,
        rounds=2 * settings.judging.rounds,
        ridge=1.0 if isinstance(ridge, str) else float(ridge),
        seed=settings.judging.seed,
    )


def is_landed(landing: Landing, simulation: Simulation) -> bool:
    """Say whether every judge's tournaments of this simulation have landed."""
    known = _parameters(simulation)
    conditions = " and ".join(f"{name} = ?" for name in known)
    with duckdb.connect() as connection:
        found = connection.execute(
            f"select count(distinct spread) from ({landing.scan_sql(TABLE)}) where {conditions}", list(known.values())
        ).fetchall()
    return bool(found[0][0] == len(SPREADS))


def rows_of(simulation: Simulation) -> list[dict[str, Any]]:
    """Play the tournaments of every judge and return a row a round."""
    pairs = simulation.n_documents * (simulation.n_documents - 1) / 2
    return [
        {
            **_parameters(simulation),
            "spread": spread,
            "schedule": step.schedule,
            "round": step.round,
            "mean_comparisons": step.comparisons,
            "share_inverted": step.inversions / pairs,
            "share_of_truth": step.inversions_of_truth / pairs,
        }
        for spread in SPREADS
        for step in simulate(replace(simulation, spread=spread))
    ]


def _parameters(simulation: Simulation) -> dict[str, Any]:
    return {
        "n_queries": simulation.n_queries,
        "n_documents": simulation.n_documents,
        "rounds": simulation.rounds,
        "ridge": simulation.ridge,
        "seed": simulation.seed,
    }
