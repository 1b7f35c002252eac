"""Evaluation and analyses of 25 systems in three settings on 1,000 queries with 150 candidates each."""

import json
import resource
from pathlib import Path

import duckdb

from bench.paper_home import PaperHome
from bench.stage import Outcome, Stage, Workbench

METRICS = ("run_queries", "outdated_rankings", "ranked_runs", "ideal_gains", "query_metrics", "bootstrap_intervals")


def run(workbench: Workbench) -> Outcome:
    """Build all of evaluation and analysis with their tests; reported are the scores of queries."""
    home = PaperHome(workbench.folder / "paper")
    home.dbt("staging", "evaluation", "analysis")
    with duckdb.connect(str(home.home / "warehouse.duckdb"), read_only=True) as connection:
        rows = connection.execute("select count(*) from evaluation.query_metrics").fetchall()[0][0]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    facts = {
        "peak of dbt, MB": round(peak / 1e6),
        "metrics with 1,000-fold bootstrap, wall s": _model_seconds(home.folder / "target" / "run_results.json"),
    }
    return Outcome(int(rows), facts)


def _model_seconds(results: Path) -> float:
    """Sum of the wall seconds of the models between runs and intervals, as dbt took them."""
    done = json.loads(results.read_text("utf-8"))["results"]
    return round(sum(r["execution_time"] for r in done if r["unique_id"].split(".")[-1] in METRICS), 1)


STAGE = Stage("evaluation", 210, run, once=True, unit="scores of queries", apart=True)
