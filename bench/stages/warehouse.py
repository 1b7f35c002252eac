"""The same corpus as landed rows through dbt: a first build, 1,000 problems more, and nothing more."""

import json
import resource
import sys
from typing import Any

import duckdb

from bench.corpus import Options
from bench.paper_home import PaperHome
from bench.stage import Outcome, Stage, Workbench
from bench.tables import THRESHOLDS

ADDED = 1_000
SETTINGS = f"""
[signals]
growth = "frozen"
topic_threshold = {THRESHOLDS["topic"]}
summary_threshold = {THRESHOLDS["summary"]}
[benchmark]
queries = 1000
candidates_per_class = 50
"""
_PAIRS = "select n_topic_pairs + n_summary_pairs from signals.pair_generations order by generation desc limit 1"


def run(workbench: Workbench) -> Outcome:
    """Land and build; reported are the stored pairs of the first build, its tests and snapshot included."""
    options = Options(**json.loads((workbench.folder / "options.json").read_text()))
    home = PaperHome(workbench.folder / "warehouse", SETTINGS)
    home.land_corpus(workbench.n_problems, options)
    facts: dict[str, Any] = {"build_cpu_s": _build(home)}
    facts["build_peak_mb"] = round(_children().ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6)
    for name in ("warehouse", "snapshot"):
        facts[f"{name}_mb"] = round((home.home / f"{name}.duckdb").stat().st_size / 1e6, 1)
    pairs = _asked(home, _PAIRS)
    facts["nothing_new_cpu_s"] = _build(home)
    home.land_corpus(workbench.n_problems + ADDED, options, workbench.n_problems)
    facts[f"{ADDED}_more_cpu_s"] = _build(home)
    # What every build costs (parsing, linear models, tests, snapshot) is in both; the difference is the growth's own.
    growth = facts[f"{ADDED}_more_cpu_s"] - facts["nothing_new_cpu_s"]
    facts["growth_share_of_build"] = round(growth / facts["build_cpu_s"], 4)
    facts["pairs_added"] = _asked(home, _PAIRS) - pairs
    return Outcome(pairs, facts)


def _build(home: PaperHome) -> float:
    """Build and return the processor seconds it took."""
    before = _children()
    home.dbt("staging", "ontology", "signals", "benchmark")
    after = _children()
    return round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)


def _children() -> resource.struct_rusage:
    return resource.getrusage(resource.RUSAGE_CHILDREN)


def _asked(home: PaperHome, sql: str) -> int:
    with duckdb.connect(str(home.home / "snapshot.duckdb"), read_only=True) as connection:
        return int(connection.execute(sql).fetchall()[0][0])


STAGE = Stage("warehouse", 85, run, unit="pairs", apart=True)
