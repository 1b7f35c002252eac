"""Who competes: candidates and their texts from the warehouse, and the verdicts that have landed about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from annotate.tournament.state import Entrants, Results
from warehouse.cli.common import dbt_build
from warehouse.errors import SaberError
from warehouse.landing import Landing

_SHARE = """
    case verdict
        when 'first' then 1.0::double when 'second' then 0.0 when 'tie' then 0.5 else 'nan'::double
    end
"""
_NO_GRADE = float("nan")


@dataclass(frozen=True)
class Field:
    """The candidates of every query of a benchmark.

    Attributes
    ----------
    benchmark
        Its name.
    variant
        The variant of the candidates.
    entrants
        One a query, in ascending order of query ids.
    problems
        {problem_id: record} of every query and candidate: statement, solution, metadata, content_hash, topics.
    """

    benchmark: str
    variant: str
    entrants: tuple[Entrants, ...]
    problems: Mapping[str, Mapping[str, Any]]

    def of_query(self, entrants: Entrants) -> list[Mapping[str, Any]]:
        """Return a query and all its candidates."""
        return [self.problems[problem_id] for problem_id in (entrants.query_id, *entrants.document_ids)]


def read_field(connection: duckdb.DuckDBPyConnection, benchmark: str, settings_variant: str = "") -> Field:
    """Copy candidates and texts out of the warehouse.

    Parameters
    ----------
    connection
        The warehouse.
    benchmark
        Name of the benchmark.
    settings_variant
        Name of the settings variant, whose marts stand in schemas of their own.

    Raises
    ------
    SaberError
        When the warehouse has not been built so far, or the text of a candidate is gone.
    """
    try:
        rows = connection.execute(
            f"select query_id, document_id, variant from {_schema('benchmark', settings_variant)}.candidates "
            "where benchmark = ? order by all",
            [benchmark],
        ).fetchall()
    except duckdb.CatalogException as error:
        raise SaberError(
            f"The warehouse has no table benchmark.candidates yet. Make it: {dbt_build(settings_variant)}"
        ) from error
    documents: dict[str, list[str]] = {}
    for query_id, document_id, _ in rows:
        documents.setdefault(query_id, []).append(document_id)
    entrants = tuple(Entrants(query, tuple(sorted(ids))) for query, ids in sorted(documents.items()))
    problems = _read_problems(connection, {name for row in rows for name in row[:2]}, settings_variant)
    return Field(benchmark, rows[0][2] if rows else "", entrants, problems)


def _read_problems(
    connection: duckdb.DuckDBPyConnection, ids: set[str], settings_variant: str
) -> dict[str, dict[str, Any]]:
    wanted = pa.table({"problem_id": sorted(ids)})
    connection.register("wanted_problems", wanted)
    cursor = connection.execute(
        f"""
        select problem_id, statement, solution, metadata, content_hash, topics
        from {_schema("staging", settings_variant)}.stg_problems
        semi join wanted_problems using (problem_id)
        left join (
            select problem_id, list(topic_id order by topic_id) as topics
            from {_schema("signals", settings_variant)}.problem_topics
            group by problem_id
        ) using (problem_id)
        """
    )
    names = [column[0] for column in cursor.description]
    problems = {}
    for row in cursor.fetchall():
        problem = dict(zip(names, row, strict=True))
        problems[problem["problem_id"]] = {**problem, "topics": problem["topics"] or []}
    connection.unregister("wanted_problems")
    if lost := sorted(ids - problems.keys()):
        raise SaberError(f"No text has landed for {', '.join(lost[:5])} ({len(lost)} in all). Run dbt build again.")
    return problems


def _schema(name: str, settings_variant: str) -> str:
    """Return the schema of a mart, quoted; a settings variant has its own (macro generate_schema_name)."""
    suffix = "__" + settings_variant.replace("-", "_") if settings_variant else ""
    return '"' + (name + suffix).replace('"', '""') + '"'


@dataclass(frozen=True)
class LandedVerdicts:
    """What has landed about current candidates and their current texts.

    Attributes
    ----------
    results
        Verdicts on pairs (vote 0).
    grades
        {(query, document column): grade, NaN for an invalid one} of an ordinal judge.
    byes
        (query, document column, round) that have been recorded.
    """

    results: Results
    grades: dict[tuple[int, int], float]
    byes: set[tuple[int, int, int]]


def read_landed(landing: Landing, field: Field, judges: Sequence[str], schedule: str, variant: str) -> LandedVerdicts:
    """Read the landed verdicts of one variant about the current candidates.

    Parameters
    ----------
    landing, field
        Where verdicts land and who competes.
    judges
        The judge of each query.
    schedule, variant
        Of the verdicts.
    """
    with duckdb.connect() as connection:
        connection.register("places", _places(field, judges))
        scope = "benchmark = $benchmark and schedule = $schedule and variant = $variant"
        given = {"benchmark": field.benchmark, "schedule": schedule, "variant": variant}
        connection.execute(
            f"create temp table verdicts as select * from ({landing.scan_sql('judgments')}) where {scope} "
            "and kind in ('pair', 'score') and vote = 0 qualify row_number() over ("
            "partition by query_id, first_id, second_id, kind, judge, annotator order by sequence desc) = 1",
            given,
        )
        pairs = connection.sql(
            f"""
            select
                one.query, one.document as first, two.document as second, verdicts.round,
                {_SHARE} as share
            from verdicts
            join places as one
                on one.query_id = verdicts.query_id and one.document_id = verdicts.first_id
                and one.judge = verdicts.judge
            join places as two on two.query = one.query and two.document_id = verdicts.second_id
            where verdicts.kind = 'pair' and verdicts.content_hash = left(sha256(
                concat_ws(':', one.query_hash, one.document_hash, two.document_hash)), 32)
            order by all
            """
        ).fetchnumpy()
        grades = connection.execute(
            """
            select one.query, one.document, verdicts.score
            from verdicts
            join places as one
                on one.query_id = verdicts.query_id and one.document_id = verdicts.first_id
                and one.judge = verdicts.judge
            where verdicts.kind = 'score' and verdicts.content_hash = left(sha256(
                concat_ws(':', one.query_hash, one.document_hash)), 32)
            """
        ).fetchall()
        byes = connection.execute(
            f"select distinct places.query, places.document, landed.round "
            f"from (select * from ({landing.scan_sql('byes')}) where {scope}) as landed "
            "join places using (query_id, document_id, judge)",
            given,
        ).fetchall()
    results = Results(
        np.column_stack([pairs["query"], pairs["first"], pairs["second"]]).astype(np.int64).reshape(-1, 3),
        np.asarray(pairs["round"], dtype=np.int64),
        np.asarray(pairs["share"], dtype=np.float64),
    )
    return LandedVerdicts(
        results,
        {(q, d): _NO_GRADE if score is None else score for q, d, score in grades},
        {(q, d, number) for q, d, number in byes},
    )


def _places(field: Field, judges: Sequence[str]) -> pa.Table:
    rows = [
        {
            "query": q,
            "document": d,
            "query_id": entrants.query_id,
            "document_id": document_id,
            "judge": judges[q],
            "query_hash": field.problems[entrants.query_id]["content_hash"],
            "document_hash": field.problems[document_id]["content_hash"],
        }
        for q, entrants in enumerate(field.entrants)
        for d, document_id in enumerate(entrants.document_ids)
    ]
    kinds = {"query": pa.int64(), "document": pa.int64()}
    names = ("query", "document", "query_id", "document_id", "judge", "query_hash", "document_hash")
    return pa.Table.from_pylist(rows, schema=pa.schema([(name, kinds.get(name, pa.string())) for name in names]))
