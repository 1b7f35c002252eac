"""Eligible problems at every quantile of the grid, for thresholds from the data."""

from bench.building import build_models
from bench.stage import Outcome, Stage, Workbench


def run(workbench: Workbench) -> Outcome:
    """Build threshold_grid and threshold_curve."""
    return build_models(workbench, "threshold_grid", "threshold_curve")


STAGE = Stage("threshold_curve", 80, run, unit="points", apart=True, largest=60_000)
