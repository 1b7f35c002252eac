"""Token sets of the core ideas."""

from bench.building import build_models
from bench.stage import Outcome, Stage, Workbench


def run(workbench: Workbench) -> Outcome:
    """Build token_sets and summary_tokens."""
    return build_models(workbench, "token_sets", "summary_tokens")


STAGE = Stage("tokens", 25, run, unit="texts")
