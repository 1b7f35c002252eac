"""Finding copies among 60,000 synthetic statements with planted ones; near copies are looked for too."""

from bench.stage import Outcome, Stage, Workbench
from bench.verdicts import timed

_MOST_STATEMENTS = 60_000
_STATEMENTS_PER_PROBLEM = 3


def run(workbench: Workbench) -> Outcome:
    """Deduplicate, fewer statements below 20,000 problems; recall and precision are among the facts."""
    from warehouse.deduplication import find_duplicates
    from warehouse.deduplication.measure import score
    from warehouse.deduplication.synthetic import synthetic_problems

    planted = synthetic_problems(min(_MOST_STATEMENTS, _STATEMENTS_PER_PROBLEM * workbench.n_problems))
    found, seconds = timed(lambda: find_duplicates(planted.records, near=True))
    scores = score(planted, found)
    quality = {name: round(scores[name], 4) for name in ("recall", "precision")}
    return Outcome(len(planted.records), {"dropped": len(found.dropped), **quality, **seconds})


STAGE = Stage("deduplication", 86, run, once=True, unit="statements", apart=True)
