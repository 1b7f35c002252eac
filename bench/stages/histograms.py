"""Histograms of both signals by domain."""

from bench.building import build_models
from bench.stage import Outcome, Stage, Workbench


def run(workbench: Workbench) -> Outcome:
    """Build signal_histogram; reported are its pairs, both signals and all domains together."""
    return build_models(workbench, "signal_histogram", pairs="select sum(n_pairs) from signal_histogram")


STAGE = Stage("histograms", 70, run, unit="pairs counted")
