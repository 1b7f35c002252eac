"""Runs: their identity, which of their queries are up to date, and how they land.

The documents of one query of a run land in one append and are replaced as a whole by a later job; readers take
the latest job of each (run_id, query_id).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from annotate.retrieval.base import Context, IntArray, Scored, System, Task
from annotate.retrieval.benchmark import Benchmark
from annotate.retrieval.ranking import best, check_run
from warehouse.errors import SaberError
from warehouse.identity import variant_hash
from warehouse.landing import Landing
from warehouse.texts import PART_SETTINGS, RULES

SCOPES = ("candidates", "corpus")
DEFAULT_TOP = 1000
_ROWS_PER_APPEND = 400_000


@dataclass(frozen=True)
class Run:
    """One system in one setting, scope and source of statistics, over one benchmark.

    Attributes
    ----------
    idf
        ``corpus``, ``candidates``, or ``none`` for a system that uses no statistics of terms.
    top
        Documents of a query that land at most; in the scope ``candidates`` all of them do.
    params
        JSON of the system's parameters, of what else is recorded (versions) and, where the scores depend on
        all eligible problems, of their fingerprint. A landed query with other params is out of date.
    """

    run_id: str
    system: str
    setting: str
    scope: str
    idf: str
    top: int
    params: str


def plan_run(
    system: System, setting: str, scope: str, idf: str, top: int, benchmark: Benchmark, context: Context
) -> Run:
    """Give a run its identity: ``title.setting.scope.idf.hash`` of its parameters and the benchmark's variant.

    Library versions and the corpus are no part of it: they change what lands, not which run it is.
    """
    if not system.uses_statistics:
        idf = "none"
    parameters: dict[str, Any] = dict(system.parameters)
    if scope == "corpus":
        parameters["top"] = top
    parted = setting in PART_SETTINGS and benchmark.formulas != RULES
    if parted:
        parameters["formulas"] = benchmark.formulas
    digest = variant_hash({"params": parameters, "variant": benchmark.variant})[:8]
    recorded = {**parameters, **system.provenance(context, setting, scope)}
    if "corpus" in (scope, idf):
        recorded["corpus"] = benchmark.fingerprint
    if parted:
        recorded["delimited"] = benchmark.delimited_fingerprint
    params = json.dumps(recorded, sort_keys=True, ensure_ascii=False)
    return Run(f"{system.title}.{setting}.{scope}.{idf}.{digest}", system.title, setting, scope, idf, top, params)


def outdated_queries(landing: Landing, run: Run, benchmark: Benchmark) -> list[int]:
    """Return the queries whose landed rows are absent or belong to other texts, candidates or parameters.

    In the scope ``candidates`` the landed documents and the hashes of their texts are compared one by one; in the
    scope ``corpus`` the fingerprint in `params` stands for them and the number of documents is compared.
    """
    expected = _expected(run, benchmark)
    with duckdb.connect() as connection:
        connection.register("expected", expected)
        rows = connection.execute(
            f"""
            with
                landed as (
                    select query_id, document_id, content_hash, params = $params and variant = $variant as same
                    from ({landing.scan_sql("runs")})
                    where run_id = $run_id
                    qualify job_id = arg_max(job_id, sequence) over (partition by query_id)
                ),
                counts as (
                    select query_id, count(*) as n_landed, bool_and(same) as same from landed group by query_id
                ),
                matches as (
                    select query_id, count(*) as n_matching
                    from landed semi join expected using (query_id, document_id, content_hash)
                    group by query_id
                ),
                wanted as (select query_id, any_value(n_expected) as n_expected from expected group by query_id)
            select wanted.query_id
            from wanted
            inner join counts using (query_id)
            left join matches using (query_id)
            where counts.same and counts.n_landed = wanted.n_expected
                and ($by_count or coalesce(matches.n_matching, 0) = wanted.n_expected)
            """,
            {
                "params": run.params,
                "variant": benchmark.variant,
                "run_id": run.run_id,
                "by_count": run.scope == "corpus",
            },
        ).fetchall()
    current = {row[0] for row in rows}
    wanted = dict.fromkeys(expected["query_id"].to_pylist())  # queries without a document to rank are not in it
    return [query for query in benchmark.queries if benchmark.problem_ids[query] in wanted.keys() - current]


def _expected(run: Run, benchmark: Benchmark) -> pa.Table:
    queries: list[str] = []
    documents: list[str | None] = []
    hashes: list[str | None] = []
    counts: list[int] = []
    for query in benchmark.queries:
        positions = benchmark.allowed(query, run.scope)
        if run.scope == "corpus":
            queries.append(benchmark.problem_ids[query])
            documents.append(None)
            hashes.append(None)
            counts.append(min(run.top, len(positions)))
            continue
        queries += [benchmark.problem_ids[query]] * len(positions)
        documents += [benchmark.problem_ids[at] for at in positions]
        hashes += [benchmark.pair_hash(query, at) for at in positions]
        counts += [len(positions)] * len(positions)
    return pa.table(
        {
            "query_id": pa.array(queries, pa.string()),
            "document_id": pa.array(documents, pa.string()),
            "content_hash": pa.array(hashes, pa.string()),
            "n_expected": pa.array(counts, pa.int64()),
        }
    )


class RunWriter:
    """Checks, ranks and lands the scored queries of one run, many queries an append, each query whole."""

    def __init__(self, landing: Landing, run: Run, task: Task, benchmark: Benchmark, job_id: str) -> None:
        self.rows = 0
        self.query_ids: set[str] = set()
        self._landing, self._run, self._task, self._job_id = landing, run, task, job_id
        self._benchmark = benchmark
        self._position = {problem_id: at for at, problem_id in enumerate(benchmark.problem_ids)}
        self._waiting: list[dict[str, Any]] = []
        self._n_waiting = 0

    def add(self, scored: Scored) -> None:
        """Check and rank one query; scores that cannot be evaluated are refused."""
        query_id = scored.query.text.problem_id
        scored = self._as_arrays(scored)
        if not _is_fit(scored):
            # Millions of rows are fit; the check that names the others walks them one by one.
            named = [self._task.documents[at].problem_id for at in scored.positions]
            allowed = {query_id: {self._task.documents[at].problem_id for at in scored.query.documents}}
            check_run(self._run.run_id, [query_id] * len(named), named, scored.scores, allowed)
        order = self._order(scored.positions, scored.scores)
        query = self._position[query_id]
        chosen = [self._task.documents[at].problem_id for at in scored.positions[order]]
        self._waiting.append(
            {
                "query_id": query_id,
                "document_ids": chosen,
                "scores": scored.scores[order],
                "seconds": scored.seconds,
                "hashes": [self._benchmark.pair_hash(query, self._position[document]) for document in chosen],
            }
        )
        self.query_ids.add(query_id)
        self._n_waiting += len(chosen)
        if self._n_waiting >= _ROWS_PER_APPEND:
            self.flush()

    def flush(self) -> None:
        """Land what waits; it is durable afterwards."""
        waiting, self._waiting, self._n_waiting = self._waiting, [], 0
        if waiting:
            self.rows += self._landing.append("runs", _rows(self._run, self._benchmark, waiting), self._job_id).rows

    def _as_arrays(self, scored: Scored) -> Scored:
        """Take lists as arrays, for the systems of others; one score a document is needed."""
        of = f"query {scored.query.text.problem_id} in run {self._run.run_id}"
        try:
            positions = np.asarray(scored.positions, dtype=np.int64)
            scores = np.asarray(scored.scores, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise SaberError(f"The scores of {of} are no numbers: {error}.") from error
        if positions.ndim != 1 or positions.shape != scores.shape:
            raise SaberError(
                f"The system gave scores of shape {scores.shape} for the {positions.size} documents of {of}: "
                "one a document is needed, in their order."
            )
        return replace(scored, positions=positions, scores=scores)

    def _order(self, positions: IntArray, scores: np.ndarray) -> IntArray:
        by_id = np.argsort(positions, kind="stable")
        top = self._run.top if self._run.scope == "corpus" else len(scores)
        return by_id[best(scores[by_id], top)]


def _is_fit(scored: Scored) -> bool:
    positions, documents = scored.positions, scored.query.documents
    return bool(
        len(positions) == len(scored.scores)
        and np.isfinite(scored.scores).all()
        and len(np.unique(positions)) == len(positions)
        and np.isin(positions, documents, assume_unique=True).all()
    )


def _rows(run: Run, benchmark: Benchmark, queries: Sequence[Mapping[str, Any]]) -> pa.Table:
    sizes = [len(query["document_ids"]) for query in queries]
    total = sum(sizes)
    constant = {
        "run_id": run.run_id,
        "benchmark": benchmark.name,
        "setting": run.setting,
        "scope": run.scope,
        "idf": run.idf,
        "system": run.system,
        "params": run.params,
        "variant": benchmark.variant,
    }
    # The seconds of a query are shared out over its rows, so that their sum is the query's latency.
    shares = [query["seconds"] / max(size, 1) for query, size in zip(queries, sizes, strict=True)]
    return pa.table(
        {
            **{name: pa.repeat(pa.scalar(value, pa.string()), total) for name, value in constant.items()},
            "query_id": pa.array(_repeat([query["query_id"] for query in queries], sizes), pa.string()),
            "document_id": pa.array(_chain(query["document_ids"] for query in queries), pa.string()),
            "content_hash": pa.array(_chain(query["hashes"] for query in queries), pa.string()),
            "score": pa.array(np.concatenate([query["scores"] for query in queries]), pa.float64()),
            "rank": pa.array(np.concatenate([np.arange(1, size + 1) for size in sizes]), pa.int32()),
            "latency_s": pa.array(np.repeat(shares, sizes), pa.float64()),
        }
    )


def _repeat(values: Sequence[str], sizes: Sequence[int]) -> list[str]:
    return [value for value, size in zip(values, sizes, strict=True) for _ in range(size)]


def _chain(lists: Iterable[Iterable[str]]) -> list[str]:
    return [value for values in lists for value in values]
