"""Partners of every problem in each class."""

from bench.building import build_models
from bench.stage import Outcome, Stage, Workbench


def run(workbench: Workbench) -> Outcome:
    """Build streamed_counts and pair_counts; reported are the pairs of all three classes."""
    return build_models(
        workbench,
        "streamed_counts",
        "pair_counts",
        pairs="select sum(n_topic_only + n_summary_only + n_both) // 2 from pair_counts",
    )


STAGE = Stage("counts", 50, run, unit="pairs")
