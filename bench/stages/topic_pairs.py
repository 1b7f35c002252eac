"""Pairs of problems whose topics are similar enough, as pairs of topic sets."""

from bench.building import build_models
from bench.stage import Outcome, Stage, Workbench

PROBLEM_PAIRS = """
    select
        sum(
            case
                when first_set = second_set then a.n_problems::bigint * (a.n_problems - 1) // 2
                else a.n_problems::bigint * b.n_problems
            end
        )
    from topic_pairs
    join topic_sets as a on a.set_index = first_set
    join topic_sets as b on b.set_index = second_set
"""


def run(workbench: Workbench) -> Outcome:
    """Build topic_pairs; reported are pairs of problems, not of sets."""
    return build_models(workbench, "topic_pairs", pairs=PROBLEM_PAIRS)


STAGE = Stage("topic_pairs", 30, run, unit="pairs")
