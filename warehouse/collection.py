"""A test collection as other tools know it: queries, documents, graded relevances, domains, runs.

It comes from the marts (the benchmark of the settings) or from imported qrels (any other benchmark).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from warehouse.errors import SaberError
from warehouse.identity import pair_hash
from warehouse.marts import Marts
from warehouse.settings import Settings
from warehouse.texts import problem_text

SCOPES = ("candidates", "corpus")
PROBLEM = (
    "problem_id", "source", "source_id", "statement", "solution", "answer", "language", "licence", "metadata",
    "content_hash",
)  # fmt: skip
QREL = (
    "query_id", "document_id", "class", "relevance", "std_error", "judge", "schedule", "provider", "model",
    "content_hash",
)  # fmt: skip


@dataclass(frozen=True)
class Collection:
    """One benchmark with everything an export or an evaluation needs.

    Attributes
    ----------
    name, variant, build_id
        Which benchmark, and the build it comes from.
    problems
        {problem id: record} of every query and document.
    query_ids
        In the benchmark's order.
    document_ids
        In ascending order: all candidates, or all eligible problems.
    qrels
        One dictionary a query and candidate (columns :data:`QREL`), ordered by query id and document id;
        ``relevance`` is None while the pair is not judged, ``content_hash`` is of the pair of texts.
    domains
        {query id: its domains}.
    domain_columns
        (domain, its column on the leaderboard), in order.
    """

    name: str
    variant: str
    build_id: str
    problems: Mapping[str, Mapping[str, Any]]
    query_ids: Sequence[str]
    document_ids: Sequence[str]
    qrels: Sequence[Mapping[str, Any]]
    domains: Mapping[str, Sequence[str]] = field(default_factory=dict)
    domain_columns: Sequence[tuple[str, str]] = ()

    @cached_property
    def candidates(self) -> dict[str, list[str]]:
        """{query id: its candidates in ascending order}."""
        found: dict[str, list[str]] = {query_id: [] for query_id in self.query_ids}
        for row in self.qrels:
            found.setdefault(row["query_id"], []).append(row["document_id"])
        return found

    @property
    def judge(self) -> str | None:
        """Names of the judges behind the relevances, joined by `` + ``."""
        return " + ".join(sorted({row["judge"] for row in self.qrels if row["judge"]})) or None

    @property
    def share_judged(self) -> float | None:
        """Share of candidates that have a relevance."""
        judged = sum(row["relevance"] is not None for row in self.qrels)
        return judged / len(self.qrels) if self.qrels else None

    def text(self, problem_id: str, form: str) -> str:
        """Return the text of a problem in a form (see :mod:`warehouse.texts`)."""
        record = self.problems[problem_id]
        return problem_text(form, record["statement"], record["solution"])

    def allowed(self, query_id: str, scope: str) -> Sequence[str]:
        """Return the documents a query may rank: its candidates, or all but itself and copies of its text."""
        if scope == "candidates":
            return self.candidates[query_id]
        own = self.problems[query_id]["content_hash"]
        return [one for one in self.document_ids if one != query_id and self.problems[one]["content_hash"] != own]

    @cached_property
    def licences(self) -> dict[str, list[str]]:
        """{source: licences its problems bear, ``not stated`` where they bear none}."""
        found: dict[str, set[str]] = {}
        for record in self.problems.values():
            found.setdefault(record["source"], set()).add(record["licence"] or "not stated")
        return {source: sorted(licences) for source, licences in sorted(found.items())}


def load_collection(settings: Settings, benchmark: str | None = None, scope: str = "candidates") -> Collection:
    """Read a benchmark from the snapshot.

    Parameters
    ----------
    benchmark
        Name of the benchmark; None for that of the settings.
    scope
        ``candidates``: documents are the candidates of all queries; ``corpus``: all eligible problems.

    Raises
    ------
    SaberError
        When there is no such benchmark, it has no queries, or a text is gone.
    """
    if scope not in SCOPES:
        raise SaberError(f"No scope is called {scope!r}. Known: {', '.join(SCOPES)}.")
    with Marts(settings) as marts:
        if benchmark in (None, settings.benchmark.name):
            return _from_marts(marts, scope)
        return _from_imports(marts, str(benchmark), scope)


def _from_marts(marts: Marts, scope: str) -> Collection:
    queries = [
        row["query_id"]
        for row in marts.rows(f"select query_id from {marts.name('benchmark.queries')} order by position")
    ]
    qrels = marts.rows(f"select * from {marts.name('benchmark.qrels')} order by query_id, document_id")
    if not queries or not qrels:
        raise SaberError("The benchmark has no queries with candidates yet. See: saber status")
    documents = f"select distinct document_id as problem_id from {marts.name('benchmark.candidates')}"
    if scope == "corpus":
        documents = f"select problem_id from {marts.name('signals.eligible_problems')}"
    document_ids = [row["problem_id"] for row in marts.rows(f"{documents} order by 1")]
    problems = _problems(marts, {*queries, *document_ids})
    return Collection(
        name=qrels[0]["benchmark"],
        variant=qrels[0]["variant"],
        build_id=marts.build_id(),
        problems=problems,
        query_ids=queries,
        document_ids=document_ids,
        qrels=_qrels(qrels, problems),
        domains=_domains(marts, queries),
        domain_columns=_domain_columns(marts),
    )


def _from_imports(marts: Marts, benchmark: str, scope: str) -> Collection:
    landed = marts.name("staging.stg_qrels")
    # Qrels of another import of the same benchmark are another variant; the one landed last counts.
    latest = marts.value("select arg_max(variant, sequence) from landing.qrels where benchmark = ?", [benchmark])
    rows = marts.rows(
        f"select * from {landed} where benchmark = ? and variant is not distinct from ? "
        "order by query_id, document_id",
        [benchmark, latest],
    )
    if not rows:
        known = [row["benchmark"] for row in marts.rows(f"select distinct benchmark from {landed} order by 1")]
        own = marts.settings.benchmark.name
        raise SaberError(
            f"No benchmark {benchmark!r} has been built or imported (after an import: dbt build). "
            f"Known: {', '.join([own, *known])}."
        )
    queries = sorted({row["query_id"] for row in rows})
    document_ids = sorted({row["document_id"] for row in rows})
    if scope == "corpus":
        sources = sorted({one.partition("/")[0] for one in document_ids})
        document_ids = [
            row["problem_id"]
            for row in marts.rows(
                f"select problem_id from {marts.name('staging.stg_problems')} "
                "where source in (select unnest($sources)) order by 1",
                {"sources": sources},
            )
        ]
        document_ids = sorted({*document_ids} - ({*queries} - {row["document_id"] for row in rows}))
    problems = _problems(marts, {*queries, *document_ids, *(row["document_id"] for row in rows)})
    return Collection(
        name=benchmark,
        variant=str(latest),
        build_id=marts.build_id(),
        problems=problems,
        query_ids=queries,
        document_ids=document_ids,
        qrels=_qrels([{**row, "judge": row["judge"] or row["origin"] or "imported"} for row in rows], problems),
        domains=_domains(marts, queries),
        domain_columns=_domain_columns(marts),
    )


def _qrels(rows: Sequence[Mapping[str, Any]], problems: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **{name: row.get(name) for name in QREL},
            "content_hash": pair_hash(
                problems[row["query_id"]]["content_hash"], problems[row["document_id"]]["content_hash"]
            ),
        }
        for row in rows
    ]


def _problems(marts: Marts, ids: set[str]) -> dict[str, dict[str, Any]]:
    marts.connection.register("wanted_problems", pa.table({"problem_id": pa.array(sorted(ids), pa.string())}))
    rows = marts.rows(
        f"select {', '.join(PROBLEM)} from {marts.name('staging.stg_problems')} "
        "semi join wanted_problems using (problem_id)"
    )
    marts.connection.unregister("wanted_problems")
    found = {row["problem_id"]: row for row in rows}
    if lost := sorted(ids - found.keys()):
        raise SaberError(f"No text has landed for {', '.join(lost[:5])} ({len(lost)} in all). Run dbt build again.")
    return found


def _domains(marts: Marts, queries: Sequence[str]) -> dict[str, list[str]]:
    rows = marts.rows(
        f"select problem_id, domain from {marts.name('signals.problem_domains')} "
        "where problem_id in (select unnest($queries)) order by 1, 2",
        {"queries": list(queries)},
    )
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["problem_id"], []).append(row["domain"])
    return found


def _domain_columns(marts: Marts) -> list[tuple[str, str]]:
    rows = marts.rows(
        f"select domain, domain_column from {marts.name('ontology.domains')} group by all order by min(position)"
    )
    return [(row["domain"], row["domain_column"]) for row in rows]
