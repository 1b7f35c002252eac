"""``saber status``: what has landed, what is missing, and which command comes next."""

from __future__ import annotations

import argparse
import json
from typing import Any

import duckdb

from warehouse.cli.common import Subparsers, add_common, dbt_build, print_rows, settings_from
from warehouse.landing import Landing
from warehouse.schemas import TABLES
from warehouse.settings import Settings

_Facts = dict[str, Any]


def register(commands: Subparsers) -> None:
    """Add ``status``."""
    parser = commands.add_parser("status", help="what has landed, what is missing, what to do next")
    add_common(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    settings = settings_from(args)
    landing = Landing(settings.home)
    files = [file for table in TABLES for file in landing.inspect(table)]
    bad = [file for file in files if file.error]
    landed = {table: sum(file.rows for file in files if file.table == table and not file.error) for table in TABLES}
    facts = _facts(settings)
    step = next_command(landed, facts).replace("dbt build", dbt_build(settings.variant))
    if settings.variant:
        step += f"   (saber commands with --variant {settings.variant})"
    if args.json:
        named = [{"table": file.table, "file": str(file.path), "error": file.error} for file in bad]
        print(json.dumps({"home": str(settings.home), "landed": landed, "facts": facts, "bad": named, "next": step}))
        return 1 if bad else 0
    print(f"home {settings.home}")
    print_rows(("landed table", "rows"), [(table, rows) for table, rows in landed.items() if rows])
    if facts:
        print()
        print_rows(("of the selected variant", "count"), list(facts.items()))
    for file in bad:
        why = str(file.error).rstrip(".")
        print(f"LEFT OUT {file.path}: {why}. Take it out of the folder and land what it held again.")
    print(f"\nnext: {'mend the files named above: builds fail until then' if bad else step}")
    return 1 if bad else 0


_QUERIES = {
    "problems": "select count(*) from staging.stg_problems",
    "topics of the ontology": "select count(*) from ontology.topics",
    "problems with topic scores": "select count(distinct problem_id) from staging.stg_topic_scores",
    "problems with a summary": "select count(*) from staging.stg_summaries",
    "eligible problems": "select count(*) from signals.eligible_problems",
    "queries": "select count(*) from benchmark.queries",
    "candidates": "select count(*) from benchmark.candidates",
    "candidates with a rating": "select count(relevance) from benchmark.qrels",
    "runs": "select count(*) from evaluation.systems",
}


def _facts(settings: Settings) -> _Facts:
    path = settings.home / "snapshot.duckdb"
    if not path.exists():
        return {}
    facts: _Facts = {}
    suffix = f"__{settings.variant.replace('-', '_')}" if settings.variant else ""
    with duckdb.connect(str(path), read_only=True) as connection:
        for name, query in _QUERIES.items():
            schema = query.split(" from ")[1].split(".")[0]
            try:
                facts[name] = connection.execute(query.replace(f"{schema}.", f"{schema}{suffix}.")).fetchall()[0][0]
            except duckdb.Error:
                facts[name] = None
    return facts


def next_command(landed: dict[str, int], facts: _Facts) -> str:
    """Return the command that moves the warehouse on, given landed row counts and the marts' counts."""
    if not landed["problems"]:
        return "saber ingest problems PATH --source NAME   (or: saber ingest sample)"
    if not landed["ontology_edges"]:
        return "saber ingest ontology PATH --name NAME"
    if not facts or not facts.get("problems") or not facts.get("topics of the ontology"):
        return "dbt build"
    if facts["problems with topic scores"] is None or facts["problems with a summary"] is None:
        return "dbt build"
    if facts["problems with topic scores"] < facts["problems"]:
        return "saber annotate topics, then dbt build" if facts["problems with topic scores"] == 0 else _rest(facts)
    return _rest(facts)


def _rest(facts: _Facts) -> str:
    if not facts["problems with a summary"]:
        return "saber annotate summaries, then dbt build"
    if not facts.get("queries"):
        return "dbt build   (no queries: see signals.threshold_curve, benchmark.min_eligible in saber.toml)"
    if facts["candidates with a rating"] < facts["candidates"]:
        return "saber judge, saber rate, then dbt build"
    if not facts.get("runs"):
        return "saber retrieve --system bm25, then dbt build"
    return 'saber sql "from evaluation.leaderboard"'
