"""Evaluation and analyses of 25 systems in three settings on 1,000 queries with 150 candidates each."""

import resource

import duckdb

from bench.paper_home import PaperHome
from bench.stage import Outcome, Stage, Workbench


def run(workbench: Workbench) -> Outcome:
    """Build all of evaluation and analysis with their tests; reported are the scores of queries."""
    home = PaperHome(workbench.folder / "paper")
    home.dbt("staging", "evaluation", "analysis")
    with duckdb.connect(str(home.home / "warehouse.duckdb"), read_only=True) as connection:
        rows = connection.execute("select count(*) from evaluation.query_metrics").fetchall()[0][0]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return Outcome(int(rows), {"peak of dbt, MB": round(peak / 1e6)})


STAGE = Stage("evaluation", 210, run, once=True, unit="scores of queries", apart=True)
