"""Bradley-Terry strengths with standard errors: 1,000 queries, 150 documents and 1,500 verdicts each."""

from bench.stage import Outcome, Stage, Workbench
from bench.verdicts import comparisons, n_queries, timed


def run(workbench: Workbench) -> Outcome:
    """Fit every query; fewer queries below 20,000 problems (:func:`bench.verdicts.n_queries`)."""
    from annotate.ratings.bradley_terry import fit

    drawn = comparisons(n_queries(workbench))
    fitted, seconds = timed(lambda: fit(drawn, ridge=1.0, errors=True))
    if not fitted.converged.all():
        raise AssertionError(f"{(~fitted.converged).sum()} queries have not converged.")
    facts = {"queries": len(drawn.query_sizes), "largest_error": float(fitted.std_error.max()), **seconds}
    return Outcome(len(drawn.first), facts)


STAGE = Stage("ratings", 80, run, once=True, unit="verdicts", apart=True)
