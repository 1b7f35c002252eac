"""A corpus as the tables that the measured models read: a small DuckDB file that stands for the warehouse."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.corpus import Options, make_problems
from bench.ontology import Ontology, make_ontology
from udfs.dbt_plugin import register_functions
from warehouse.settings import load_settings

THRESHOLDS = {"topic": 0.858, "summary": 0.211}
SETTINGS: dict[str, Any] = {
    "signals.topic_threshold": "data",
    "signals.summary_threshold": "data",
    "benchmark.queries": 1_000,
    "benchmark.candidates_per_class": 50,
}


def connect(file: Path, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """Open a benchmark's database with the limits and functions of a build."""
    connection = duckdb.connect(
        str(file),
        read_only=read_only,
        config={"memory_limit": "2GB", "threads": 2, "preserve_insertion_order": False},
    )
    register_functions(connection)
    return connection


def write_corpus(file: Path, n_problems: int, options: Options, settings: Mapping[str, Any] = SETTINGS) -> None:
    """Write the tables of a corpus of `n_problems`; an existing file is replaced.

    The tables bear the names and columns of the marts they stand for: topics, topic_information_content,
    corpus_eligibility, stg_problems, stg_summaries, problem_topics, problem_domains, domains, signal_thresholds,
    stg_settings and stg_selected_variants. Topic and problem ids ascend with their numbers.
    """
    for leftover in (file, file.with_name(file.name + ".wal")):
        leftover.unlink(missing_ok=True)
    ontology = make_ontology(options.seed, options.topic_exponent)
    connection = connect(file)
    try:
        _write_ontology(connection, ontology)
        _write_problems(connection, ontology, n_problems, options)
        _write_settings(connection, settings)
        connection.execute("checkpoint")
    finally:
        connection.close()


def _write_ontology(connection: duckdb.DuckDBPyConnection, ontology: Ontology) -> None:
    ids = _ids("t", np.arange(len(ontology.parent)))
    depth = (ontology.ancestors >= 0).sum(axis=1) - 1
    topics = pa.table(
        {
            "topic_id": ids,
            "parent_id": ids.take(pa.array(ontology.parent, mask=ontology.parent < 0)),
            "depth": pa.array(depth, pa.int32()),
            "branch": ids.take(pa.array(ontology.domain, mask=ontology.domain < 0)),
            "is_excluded": pa.repeat(False, len(ids)),
        }
    )
    _store(connection, "topics", topics)
    branches = np.flatnonzero(depth == 1)
    names = _ids("t", branches)
    domains = {"position": pa.array(branches, pa.int32()), "domain": names, "domain_column": names, "branch": names}
    _store(connection, "domains", pa.table(domains))


def _write_problems(
    connection: duckdb.DuckDBPyConnection, ontology: Ontology, n_problems: int, options: Options
) -> None:
    connection.execute(
        """
        create table problems (problem_id varchar, content_hash varchar, core_idea varchar);
        create view corpus_eligibility as select problem_id, true as is_eligible from problems;
        create view stg_problems as select problem_id, content_hash from problems;
        create view stg_summaries as select problem_id, core_idea from problems;
        """
    )
    connection.execute("create table problem_topics (problem_id varchar, topic_id varchar)")
    first = 0
    for chunk in make_problems(ontology, n_problems, options):
        numbers = np.arange(first, first + len(chunk.core_ideas))
        ids = _ids("p", numbers)
        problems = {
            "problem_id": ids,
            "content_hash": _ids("h", numbers),
            "core_idea": chunk.core_ideas,
        }
        _append(connection, "problems", pa.table(problems))
        annotations = {"problem_id": ids.take(pa.array(chunk.problem - first)), "topic_id": _ids("t", chunk.topic)}
        _append(connection, "problem_topics", pa.table(annotations))
        first += len(numbers)
    connection.execute(
        """
        create table problem_domains as
        with borne as (select distinct problem_id, branch as domain from problem_topics join topics using (topic_id))
        select problem_id, domain, 1.0 / count(*) over (partition by problem_id) as weight from borne
        """
    )


def _write_settings(connection: duckdb.DuckDBPyConnection, settings: Mapping[str, Any]) -> None:
    rows = {**load_settings(variant="").as_rows(), **settings}
    values = {"name": list(rows), "value": [json.dumps(value) for value in rows.values()]}
    _store(connection, "stg_settings", pa.table(values))
    stages = ["topics", "summaries", "benchmark"]
    _store(connection, "stg_selected_variants", pa.table({"stage": stages, "variant": ["bench"] * len(stages)}))
    thresholds = {
        "signal": list(THRESHOLDS),
        "threshold": list(THRESHOLDS.values()),
        "least_similarity": list(THRESHOLDS.values()),
    }
    _store(connection, "signal_thresholds", pa.table(thresholds))


def _ids(letter: str, numbers: np.ndarray) -> pa.StringArray:
    """Ids that sort as their numbers do."""
    digits = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), 7, "0")
    return pc.binary_join_element_wise(pa.scalar(letter), digits, "")


def _store(connection: duckdb.DuckDBPyConnection, name: str, table: pa.Table) -> None:
    connection.register("_table", table)
    connection.execute(f"create table {name} as select * from _table")
    connection.unregister("_table")


def _append(connection: duckdb.DuckDBPyConnection, name: str, table: pa.Table) -> None:
    connection.register("_table", table)
    connection.execute(f"insert into {name} by name select * from _table")
    connection.unregister("_table")
