"""Copies in a corpus of record: five statements a problem of the benchmark's size, 300,000 at 60,000 problems."""

from __future__ import annotations

from bench.stage import Outcome, Stage, Workbench
from bench.verdicts import timed

MOST = 300_000
STATEMENTS_PER_PROBLEM = 5


def n_statements(workbench: Workbench) -> int:
    """Return how many statements are made; 6 % of them are reworded copies and 2 % renumbered ones."""
    return min(MOST, STATEMENTS_PER_PROBLEM * workbench.n_problems)


def run(workbench: Workbench) -> Outcome:
    """Find copies, and hold them to those that were planted; near copies are looked for too."""
    from warehouse.deduplication import find_duplicates
    from warehouse.deduplication.measure import score
    from warehouse.deduplication.synthetic import synthetic_problems

    planted = synthetic_problems(n_statements(workbench))
    found, seconds = timed(lambda: find_duplicates(planted.records, near=True))
    scores = score(planted, found)
    facts = {name.replace(" ", "_"): round(scores[name], 4) for name in ("recall", "precision", "renumbered merged")}
    return Outcome(len(planted.records), {"dropped": len(found.dropped), **facts, **seconds})


STAGE = Stage("copies", 87, run, unit="statements", apart=True)
