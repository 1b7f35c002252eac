"""How many pairs qualify, from sampled rows."""

from bench.building import build_models
from bench.stage import Outcome, Stage, Workbench


def run(workbench: Workbench) -> Outcome:
    """Build pair_density; reported are the pairs compared."""
    return build_models(workbench, "pair_density", pairs="select sum(n_compared)::bigint from pair_density")


STAGE = Stage("density", 28, run, unit="pairs compared")
