"""Scores of every run on one query after another, under every refit or draw of its ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from udfs.rating_noise import NO_DOCUMENT, graded_ndcg

_QUERIES_AT_ONCE = 50


@dataclass(frozen=True)
class NoisyQuery:
    """One query's scores, shape (refits, runs); NaN in refits without an ideal gain."""

    query_id: str
    scores: npt.NDArray[np.float64]


def noisy_queries(
    replicates: duckdb.DuckDBPyRelation,
    ranked_runs: duckdb.DuckDBPyRelation,
    run_ids: Sequence[str],
    k: int = 10,
    gain: str = "exp",
    number: str = "replicate",
) -> Iterator[NoisyQuery]:
    """Score the runs on every query that has refits of its ratings, in ascending order of query ids.

    Parameters
    ----------
    replicates
        Columns query_id, document_id, rating and the one that numbers the refits or draws.
    ranked_runs
        Columns run_id, query_id, document_id and rank.
    run_ids
        Runs in the order of the columns.
    gain
        ``exp`` (2^rel - 1) or ``lin`` (rel).
    number
        Column that numbers them: ``replicate`` or ``draw``.

    Raises
    ------
    ValueError
        When the documents of a query do not all have the same refits.
    """
    if not replicates.limit(1).fetchall():
        return
    refits = replicates.aggregate(f"query_id, document_id, list(rating order by {number}) as ratings")
    refits = refits.aggregate(
        "query_id, list(document_id order by document_id) as documents, list(ratings order by document_id) as ratings"
    ).order("query_id")
    heads = _Heads(ranked_runs, run_ids, k)
    for batch in refits.to_arrow_reader(_QUERIES_AT_ONCE):
        for row, query_id in enumerate(batch["query_id"].to_pylist()):
            documents, ratings = batch["documents"][row].values, batch["ratings"][row].values
            if len(set(pc.list_value_length(ratings).to_pylist())) != 1:
                raise ValueError(
                    f"the documents of query {query_id} differ in their replicates. Land them anew: saber rate"
                )
            refitted = ratings.flatten().to_numpy(zero_copy_only=False).reshape(len(documents), -1).T
            yield NoisyQuery(query_id, graded_ndcg(refitted, heads.rankings(query_id, documents), gain))


class _Heads:
    """The first k documents of every run, by query."""

    def __init__(self, ranked_runs: duckdb.DuckDBPyRelation, run_ids: Sequence[str], k: int) -> None:
        wanted = ranked_runs.filter(f"rank <= {int(k)}").project("query_id, run_id, rank, document_id")
        rows = wanted.order("query_id").to_arrow_table().combine_chunks()
        queries = rows["query_id"].combine_chunks().dictionary_encode()
        bounds = np.searchsorted(queries.indices.to_numpy(), np.arange(len(queries.dictionary) + 1))
        ends = zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        self._places = dict(zip(queries.dictionary.to_pylist(), ends, strict=True))
        self._run = pc.fill_null(pc.index_in(rows["run_id"], value_set=pa.array(run_ids, pa.string())), -1).to_numpy()
        self._rank = rows["rank"].to_numpy()
        self._document = rows["document_id"].combine_chunks()
        self._shape = (len(run_ids), k)

    def rankings(self, query_id: str, documents: pa.StringArray) -> npt.NDArray[np.int64]:
        """Rankings as positions among `documents`, shape (runs, k)."""
        found = np.full(self._shape, NO_DOCUMENT, dtype=np.int64)
        first, last = self._places.get(query_id, (0, 0))
        run, rank = self._run[first:last], self._rank[first:last]
        column = pc.index_in(self._document.slice(first, last - first), value_set=documents)
        known = run >= 0
        found[run[known], rank[known] - 1] = pc.fill_null(column, NO_DOCUMENT).to_numpy()[known]
        return found
