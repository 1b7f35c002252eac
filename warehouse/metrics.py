"""Retrieval measures of runs that have not landed, by the very SQL that the views use (``macros/metrics.sql``)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import duckdb
import jinja2
import pyarrow as pa

from warehouse.errors import SaberError
from warehouse.settings import ROOT

_SHOWN = 5
_RUN = pa.schema(
    [("run_id", pa.string()), ("query_id", pa.string()), ("document_id", pa.string()), ("score", pa.float64())]
)
_QRELS = pa.schema([("query_id", pa.string()), ("document_id", pa.string()), ("relevance", pa.float64())])


def measure_runs(
    runs: pa.Table,
    qrels: pa.Table,
    cutoffs: Sequence[int] = (10,),
    tie_break: str = "document",
    counts_relevant: bool = False,
) -> pa.Table:
    """Measure every run on every query of the qrels.

    Parameters
    ----------
    runs
        Columns run_id, query_id, document_id and score; the order of rows is free.
    qrels
        Columns query_id, document_id and relevance (a real number; NULL or below 0 gains nothing).
    cutoffs
        k of the measures.
    tie_break
        ``document``: score desc, document_id asc. ``trec``: float32 score desc, document_id desc.
    counts_relevant
        Whether recall@k, hit@k and rr@k (relevant: above 0) are wanted beside ndcg_exp@k and ndcg_lin@k.

    Returns
    -------
    pyarrow.Table
        run_id, query_id, measure, k, value (0 to 1, NULL where the query has no ideal gain), is_missing,
        is_tied_at_cutoff and n_tied, as in ``evaluation.query_metrics``; ordered by run, query and measure.

    Raises
    ------
    SaberError
        For scores that are no finite number and documents ranked twice, with the ids.
    """
    if tie_break not in ("document", "trec"):
        raise ValueError(f"unknown rule of breaking ties: {tie_break!r}")
    with duckdb.connect() as connection:
        connection.register("given_runs", runs.select(_RUN.names).cast(_RUN))
        connection.register("qrels", qrels.select(_QRELS.names).cast(_QRELS))
        connection.register("cutoffs", pa.table({"k": pa.array(sorted(set(cutoffs)), pa.int32())}))
        _refuse(connection, "scores that are no finite number", "where score is null or not isfinite(score)")
        _refuse(connection, "documents ranked twice", "group by all having count(*) > 1")
        sql = _template().module.measures_of_runs(  # type: ignore[attr-defined]
            max(cutoffs) + 1, f"'{tie_break}'", str(counts_relevant).lower()
        )
        return connection.sql(f"select * from ({sql}) order by run_id, query_id, measure").to_arrow_table()


_WHOLE = """
{% macro measures_of_runs(depth, tie_break, counts_relevant) %}
with
    runs as (select *, null::varchar as content_hash from given_runs),
    relevances as (select '' as benchmark, * from qrels),
    heads as (
        select run_id, query_id, {{ first_documents(depth, tie_break) }} as first_documents
        from runs
        group by run_id, query_id
    ),
    documents as (select * from {{ unfolded_documents("heads") }}),
    ranked as (select documents.*, relevance from documents left join qrels using (query_id, document_id)),
    ideal as (select * from {{ ideal_gains("relevances", "cutoffs") }}),
    queries as (select distinct query_id from qrels),
    wanted as (
        select systems.run_id, queries.query_id, cutoffs.k, ideal_exponential, ideal_linear, n_relevant,
            {{ counts_relevant }} as counts_relevant
        from (select distinct run_id from runs) as systems
        cross join queries
        cross join cutoffs
        left join ideal on ideal.query_id = queries.query_id and ideal.k = cutoffs.k
    ),
    gains as (select * from {{ discounted_gains("ranked", "cutoffs") }})
select * from {{ measures("wanted", "gains") }}
{% endmacro %}
"""


@cache
def _template() -> jinja2.Template:
    macros = (ROOT / "macros" / "metrics.sql").read_text("utf-8")
    return jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(macros + _WHOLE)


def _refuse(connection: duckdb.DuckDBPyConnection, what: str, which: str) -> None:
    rows = connection.execute(f"select run_id, query_id, document_id from given_runs {which} order by all").fetchall()
    if rows:
        shown = "; ".join(" ".join(row) for row in rows[:_SHOWN])
        more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
        raise SaberError(f"Runs have {what} (run query document): {shown}{more}. Mend them and measure again.")
