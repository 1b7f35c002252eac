"""Token sets of the core ideas."""

from bench.building import build_models
from bench.stage import Outcome, Stage, Workbench


def run(workbench: Workbench) -> Outcome:
    """Build summary_tokens."""
    return build_models(workbench, "summary_tokens")


STAGE = Stage("tokens", 10, run, unit="texts")
