"""A warehouse home with just the tables that retrieval reads, without a dbt build."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import numpy as np

from annotate.retrieval.base import Context, Query, System, Task, Text
from annotate.retrieval.benchmark import Benchmark, read_benchmark
from warehouse.identity import content_hash
from warehouse.landing import Landing
from warehouse.settings import Settings, load_settings
from warehouse.variants import benchmark_variant, ontology_in_use

PROBLEMS = {
    "s/1": ("Find the roots of $x^2 - 5x + 6 = 0$.", "Factor into $(x-2)(x-3)$ and read off the roots."),
    "s/2": ("Find the roots of $x^2 + x - 6 = 0$.", "Factor the quadratic into linear factors."),
    "s/3": ("A triangle has sides 3, 4 and 5. Find its area.", "It is right-angled, so the area is 6."),
    "s/4": ("How many subsets has a set of 5 elements?", "Each element is in or out, so $2^5$."),
    "s/5": ("A triangle has angles in ratio 1:2:3.", "The angles sum to 180 degrees."),
    "s/6": ("Count the primes below 20.", "List them: there are 8."),
}


class RetrievalHome:
    """Problems, queries and candidates in a temporary ``warehouse.duckdb``."""

    def __init__(
        self,
        path: Path,
        problems: Mapping[str, tuple[str, str | None]] = PROBLEMS,
        candidates: Mapping[str, Sequence[str]] | None = None,
        settings: str = "",
    ) -> None:
        self.home = path / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        file = path / "saber.toml"
        file.write_text(settings, "utf-8")
        self.settings: Settings = load_settings(self.home, path=file)
        self.landing = Landing(self.home)
        default = {"s/1": ["s/2", "s/3", "s/4"], "s/3": ["s/1", "s/5", "s/6"]}
        self.build(problems, default if candidates is None else candidates)

    def build(
        self,
        problems: Mapping[str, tuple[str, str | None]],
        candidates: Mapping[str, Sequence[str]],
        variant: str | None = None,
    ) -> None:
        """Write the tables anew, as a later dbt build would."""
        stamp = variant or benchmark_variant(self.settings, ontology_in_use(self.settings, self.landing))
        with duckdb.connect(str(self.home / "warehouse.duckdb")) as connection:
            for schema in ("signals", "staging", "benchmark"):
                connection.execute(f"create schema if not exists {schema}")
            for name, columns in {
                "staging.stg_problems": "problem_id varchar, statement varchar, solution varchar",
                "signals.eligible_problems": "problem_id varchar, content_hash varchar",
                "benchmark.queries": "query_id varchar, position integer",
                "benchmark.candidates": "query_id varchar, document_id varchar, benchmark varchar, variant varchar",
            }.items():
                connection.execute(f"create or replace table {name} ({columns})")
            for problem, (statement, solution) in problems.items():
                content = content_hash(statement, solution)
                connection.execute(
                    "insert into staging.stg_problems values (?, ?, ?)", [problem, statement, solution]
                )
                connection.execute("insert into signals.eligible_problems values (?, ?)", [problem, content])
            for position, (query, documents) in enumerate(candidates.items(), 1):
                connection.execute("insert into benchmark.queries values (?, ?)", [query, position])
                for document in documents:
                    connection.execute(
                        "insert into benchmark.candidates values (?, ?, ?, ?)",
                        [query, document, self.settings.benchmark.name, stamp],
                    )

    def benchmark(self) -> Benchmark:
        """Read the tables as a job does."""
        return read_benchmark(self.settings, self.landing)

    def context(self, job_id: str = "test") -> Context:
        """Return the context a system gets."""
        variant = benchmark_variant(self.settings, ontology_in_use(self.settings, self.landing))
        return Context(self.settings, self.landing, job_id, variant)

    def arguments(self, *systems: str, **given: object) -> argparse.Namespace:
        """Return the arguments of ``saber retrieve`` as the command line would parse them."""
        values: dict[str, object] = {
            "system": list(systems),
            "setting": ["statement-statement"],
            "scope": "candidates",
            "idf": None,
            "top": None,
            "param": [],
            "list": False,
            "json": False,
            "variant": None,
            "home": str(self.home),
        }
        return argparse.Namespace(**{**values, **given})


def task_of(
    documents: Sequence[str],
    queries: Sequence[str],
    context: Context,
    idf: str = "corpus",
    candidates: Sequence[Sequence[int]] | None = None,
) -> Task:
    """Return a task over bare texts; documents are d0, d1, …, queries q0, q1, …."""
    everything = [range(len(documents))] * len(queries)
    return Task(
        setting="statement-statement",
        scope="candidates",
        idf=idf,
        top=1000,
        documents=[Text(f"d{number}", text) for number, text in enumerate(documents)],
        queries=[
            Query(Text(f"q{number}", text), np.array(positions, dtype=np.int64))
            for number, (text, positions) in enumerate(zip(queries, candidates or everything, strict=True))
        ],
        context=context,
    )


def scores_of(system: System, task: Task) -> list[list[float]]:
    """Return the scores of every query in the order of its documents."""
    found = []
    for scored in system.run(task):
        by_position = dict(zip(scored.positions.tolist(), scored.scores.tolist(), strict=True))
        found.append([by_position[at] for at in scored.query.documents.tolist()])
    return found
