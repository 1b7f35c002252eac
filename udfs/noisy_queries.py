"""Scores of every run on one query after another, under every replicate of its ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt

from udfs.rating_noise import exponential_ndcg, ranking_columns

_QUERIES_AT_ONCE = 50


@dataclass(frozen=True)
class NoisyQuery:
    """One query's scores, shape (replicates, runs); NaN in replicates without an ideal gain."""

    query_id: str
    scores: npt.NDArray[np.float64]


def noisy_queries(
    replicates: duckdb.DuckDBPyRelation,
    ranked_runs: duckdb.DuckDBPyRelation,
    run_ids: Sequence[str],
    k: int = 10,
) -> Iterator[NoisyQuery]:
    """Score the runs on every query that has replicates, in ascending order of query ids.

    Parameters
    ----------
    replicates
        Columns query_id, document_id, replicate and rating.
    ranked_runs
        Columns run_id, query_id, document_id and rank.
    run_ids
        Runs in the order of the columns.

    Raises
    ------
    ValueError
        When the documents of a query do not all have the same replicates.
    """
    number = {run_id: at for at, run_id in enumerate(run_ids)}
    refits = replicates.aggregate("query_id, document_id, list(rating order by replicate) as ratings")
    refits = refits.aggregate(
        "query_id, list(document_id order by document_id) as documents, list(ratings order by document_id) as ratings"
    ).order("query_id")
    heads = ranked_runs.filter(f"rank <= {int(k)}").aggregate(
        "query_id, list({'run': run_id, 'rank': rank, 'document': document_id}) as ranked"
    )
    rankings = dict(heads.fetchall())
    reader = refits.to_arrow_reader(_QUERIES_AT_ONCE)
    for batch in reader:
        for query_id, documents, ratings in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if len({len(one) for one in ratings}) != 1:
                raise ValueError(
                    f"the documents of query {query_id} differ in their replicates. Land them anew: saber rate"
                )
            ranked = [
                (number[row["run"]], row["rank"], row["document"])
                for row in rankings.get(query_id, [])
                if row["run"] in number
            ]
            columns = ranking_columns(documents, ranked, len(run_ids), k)
            yield NoisyQuery(query_id, exponential_ndcg(np.array(ratings, dtype=np.float64).T, columns))
