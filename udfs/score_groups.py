"""Scores of many runs on many queries as matrices, one a benchmark and domain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

RealArray = npt.NDArray[np.float64]
OVERALL = "overall"


@dataclass(frozen=True)
class ScoreGroup:
    """The scores of a benchmark's runs on the queries of one domain.

    Attributes
    ----------
    benchmark, domain
        ``overall`` stands for all queries.
    run_ids
        Runs in ascending order: the columns.
    query_ids
        Queries in ascending order: the rows. Queries without an ideal gain are left out.
    values
        Shape (queries, runs), no NaN.
    """

    benchmark: str
    domain: str
    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: RealArray


def read_score_groups(
    metrics: duckdb.DuckDBPyRelation,
    systems: duckdb.DuckDBPyRelation,
    problem_domains: duckdb.DuckDBPyRelation,
    measure: str = "ndcg_exp@10",
) -> Iterator[ScoreGroup]:
    """Arrange the scores of one measure; the arguments are the marts of these names."""
    wanted = metrics.filter(f"measure = '{measure}'").set_alias("metrics")
    joined = wanted.join(systems.set_alias("systems"), "metrics.run_id = systems.run_id")
    scores = joined.project("benchmark, metrics.run_id, query_id, value").to_arrow_table()
    return score_groups(scores, problem_domains.project("problem_id as query_id, domain").to_arrow_table())


def score_groups(metrics: pa.Table, bears: pa.Table) -> Iterator[ScoreGroup]:
    """Arrange scores by benchmark, first over all queries and then by domain; groups without queries are left out.

    Parameters
    ----------
    metrics
        Columns benchmark, run_id, query_id and value (NULL where the query has no ideal gain); any order.
    bears
        Columns query_id and domain: which domains a query bears.

    Raises
    ------
    ValueError
        When a run has no score for a query that another run of its benchmark has.
    """
    for benchmark in sorted(pc.unique(metrics["benchmark"]).to_pylist()):
        rows = metrics.filter(pc.equal(metrics["benchmark"], benchmark))
        whole = _matrix(benchmark, rows.filter(pc.is_valid(rows["value"])))
        if not whole.query_ids:
            continue
        yield whole
        chosen = bears.filter(pc.is_in(bears["query_id"], value_set=pa.array(whole.query_ids, pa.string())))
        for domain in sorted(pc.unique(chosen["domain"]).to_pylist()):
            members = set(chosen.filter(pc.equal(chosen["domain"], domain))["query_id"].to_pylist())
            at = [row for row, query in enumerate(whole.query_ids) if query in members]
            queries = tuple(whole.query_ids[row] for row in at)
            yield ScoreGroup(benchmark, domain, whole.run_ids, queries, whole.values[at])


def _matrix(benchmark: str, rows: pa.Table) -> ScoreGroup:
    run_ids = sorted(pc.unique(rows["run_id"]).to_pylist())
    query_ids = sorted(pc.unique(rows["query_id"]).to_pylist())
    values = np.full((len(query_ids), len(run_ids)), np.nan)
    column = pc.index_in(rows["run_id"], value_set=pa.array(run_ids, pa.string()))
    row = pc.index_in(rows["query_id"], value_set=pa.array(query_ids, pa.string()))
    values[row.to_numpy(), column.to_numpy()] = rows["value"].to_numpy()
    if np.isnan(values).any():
        query, run = (int(axis[0]) for axis in np.nonzero(np.isnan(values)))
        raise ValueError(f"run {run_ids[run]} has no score for query {query_ids[query]} of {benchmark}")
    return ScoreGroup(benchmark, OVERALL, tuple(run_ids), tuple(query_ids), values)
