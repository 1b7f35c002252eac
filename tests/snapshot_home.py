"""A warehouse home with a snapshot made by hand: what exports, imports, evaluation and traces read, without dbt."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from warehouse.dbt_plugin import show_landing
from warehouse.identity import content_hash, pair_hash
from warehouse.landing import Landing
from warehouse.settings import ROOT, Settings, load_settings
from warehouse.variants import Variants, ontology_in_use, selected_variants

EDGES = [(None, "M"), ("M", "A"), ("M", "B"), ("A", "A1"), ("A", "A2"), ("B", "B1")]
SETTINGS = """
[benchmark]
name = "test-bench"
[domains.test]
Alpha = ["A"]
Beta = ["B"]
"""
# The relevances of three queries over five documents, hand-made; s/3 has one candidate without a judgment.
RELEVANCES: dict[str, dict[str, float | None]] = {
    "s/1": {"s/4": 5.0, "s/5": 2.5, "s/6": 0.0},
    "s/2": {"s/4": 0.0, "s/5": 5.0, "s/7": 1.25},
    "s/3": {"s/6": 5.0, "s/7": 0.0, "s/8": None},
}
PROBLEMS = {f"s/{n}": (f"Statement {n} of problem number {n}.", f"Solution {n}.") for n in range(1, 9)}


class SnapshotHome:
    """A home in a temporary folder; ``build`` writes its snapshot anew from what has landed.

    Parameters
    ----------
    path
        The folder.
    problems
        {problem id: (statement, solution)}.
    relevances
        {query: {candidate: relevance}} of the built benchmark.
    domains
        {problem: its domains}.
    """

    def __init__(
        self,
        path: Path,
        problems: Mapping[str, tuple[str, str | None]] = PROBLEMS,
        relevances: Mapping[str, Mapping[str, float | None]] = RELEVANCES,
        domains: Mapping[str, Sequence[str]] | None = None,
        settings: str = SETTINGS,
        judge: str = "pairwise",
    ) -> None:
        self.path = path / "home"
        self.path.mkdir(parents=True, exist_ok=True)
        self.settings_file = path / "saber.toml"
        self.settings_file.write_text(settings, "utf-8")
        self.landing = Landing(self.path)
        self.relevances, self.judge = relevances, judge
        self.domains = (
            domains if domains is not None else {"s/1": ["Alpha"], "s/2": ["Alpha", "Beta"], "s/3": ["Beta"]}
        )
        self.hashes = {one: content_hash(*texts) for one, texts in problems.items()}
        rows = [
            {
                "problem_id": one,
                "source": one.partition("/")[0],
                "source_id": one.partition("/")[2],
                "statement": statement,
                "solution": solution,
                "language": "en",
                "licence": "CC-BY-4.0",
                "metadata": '{"level": 3}',
                "content_hash": self.hashes[one],
            }
            for one, (statement, solution) in problems.items()
        ]
        self.landing.append("problems", rows, "test")
        edges = [{"ontology": "test", "parent": parent, "child": child, "label": child} for parent, child in EDGES]
        self.landing.append("ontology_edges", edges, "test")
        self.build()

    def copy(self, path: Path) -> SnapshotHome:
        """Return a copy in another folder; until ``build`` its snapshot reads the original's landed rows."""
        shutil.copytree(self.path.parent, path, dirs_exist_ok=True)
        other = copy.copy(self)
        other.path, other.settings_file = path / "home", path / "saber.toml"
        other.landing = Landing(other.path)
        return other

    @property
    def settings(self) -> Settings:
        """The settings of this home."""
        return load_settings(self.path, path=self.settings_file)

    @property
    def variants(self) -> Variants:
        """The variants that the settings select."""
        return selected_variants(self.settings, ontology_in_use(self.settings, self.landing))

    @property
    def environment(self) -> dict[str, str]:
        """The environment under which commands see this home."""
        return {**os.environ, "SABER_HOME": str(self.path), "SABER_SETTINGS": str(self.settings_file)}

    def pair(self, *ids: str) -> str:
        """Return the hash of the texts behind a row."""
        return pair_hash(*(self.hashes[one] for one in ids))

    def build(self) -> None:
        """Write the snapshot as a dbt build would leave it."""
        place = self.path / "snapshot.duckdb"
        place.unlink(missing_ok=True)
        with duckdb.connect(str(place)) as connection:
            show_landing(connection, self.settings, self.landing)
            for schema in ("staging", "ontology", "signals", "benchmark", "evaluation", "analysis"):
                connection.execute(f"create schema {schema}")
            for statement in _VIEWS:
                connection.execute(statement)
            self._benchmark(connection)

    def _benchmark(self, connection: duckdb.DuckDBPyConnection) -> None:
        variant = self.variants
        for position, query in enumerate(self.relevances, 1):
            connection.execute("insert into benchmark.queries values (?, 'Alpha', ?)", [query, position])
        qrels = [
            [self.settings.benchmark.name, variant.benchmark, query, document, "both", relevance]
            + ([None] * 6 if relevance is None else [0.5, self.judge, "swiss", "server", "judge-1", variant.ratings])
            + [None if relevance is None else "rate-1"]
            for query, documents in self.relevances.items()
            for document, relevance in documents.items()
        ]
        if qrels:
            connection.executemany(f"insert into benchmark.qrels values ({', '.join('?' * 13)})", qrels)
        for problem, domains in self.domains.items():
            for domain in domains:
                connection.execute(
                    "insert into signals.problem_domains values (?, ?, ?)", [problem, domain, 1 / len(domains)]
                )

    def run_rows(self, run_id: str, scores: Mapping[str, Mapping[str, float]], **given: Any) -> list[dict[str, Any]]:
        """Return landed rows of a run: {query: {document: score}}."""
        base = {
            "run_id": run_id, "benchmark": self.settings.benchmark.name, "setting": "statement-full",
            "scope": "candidates", "idf": "none", "system": run_id, "params": "{}",
            "variant": self.variants.benchmark, **given,
        }  # fmt: skip
        return [
            {
                **base,
                "query_id": query,
                "document_id": document,
                "score": score,
                "rank": rank,
                "latency_s": 0.1 / 3,
                "content_hash": self.pair(query, document),
            }
            for query, documents in scores.items()
            for rank, (document, score) in enumerate(sorted(documents.items(), key=lambda d: (-d[1], d[0])), 1)
        ]

    def saber(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a ``saber`` command on this home, in a process of its own."""
        command = [sys.executable, "-m", "warehouse.cli", *arguments]
        return subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)


_VIEWS = (
    """
    create view staging.stg_problems as
    select *, coalesce(trim(solution), '') <> '' as has_solution from landing.problems
    qualify row_number() over (partition by problem_id order by sequence desc) = 1
    """,
    """
    create view staging.stg_qrels as
    select
        benchmark, query_id, document_id, variant, relevance, gain, origin,
        judge, schedule, provider, model, std_error, class
    from landing.qrels
    qualify row_number() over (partition by benchmark, query_id, document_id, variant order by sequence desc) = 1
    """,
    "create view signals.eligible_problems as select problem_id, content_hash from staging.stg_problems",
    "create table signals.problem_domains (problem_id varchar, domain varchar, weight double)",
    "create view ontology.domains as select position, domain, domain_column, branch from landing.domain_map",
    "create table benchmark.queries (query_id varchar, quota_domain varchar, position integer)",
    """
    create table benchmark.qrels (
        benchmark varchar, variant varchar, query_id varchar, document_id varchar, class varchar, relevance double,
        std_error double, judge varchar, schedule varchar, provider varchar, model varchar, ratings_variant varchar,
        job_id varchar
    )
    """,
    """
    create view benchmark.candidates as
    select benchmark, variant, query_id, document_id, class from benchmark.qrels
    """,
)
