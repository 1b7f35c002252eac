"""Queries and their candidates."""

from bench.building import build_models
from bench.stage import Outcome, Stage, Workbench


def run(workbench: Workbench) -> Outcome:
    """Build query_pool, queries, streamed_partners, query_partners and candidates."""
    return build_models(workbench, "query_pool", "queries", "streamed_partners", "query_partners", "candidates")


STAGE = Stage("candidates", 60, run, unit="candidates")
