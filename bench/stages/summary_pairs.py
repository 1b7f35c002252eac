"""Pairs of problems whose core ideas share enough words."""

from bench.building import build_models
from bench.stage import Outcome, Stage, Workbench


def run(workbench: Workbench) -> Outcome:
    """Build summary_pairs."""
    return build_models(workbench, "summary_pairs")


STAGE = Stage("summary_pairs", 40, run, unit="pairs")
