"""A tiny warehouse home for tests of the page: a snapshot with two queries, candidates and ratings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

from warehouse.identity import content_hash
from warehouse.landing import Landing
from warehouse.settings import Settings, load_settings

QUERIES = ("s/q1", "s/q2")
TEXTS = {
    "s/q1": (
        r"Find all real $x$ with $x^2-5x+6=0$.",
        "Factor:\n\n\\[x^2-5x+6=(x-2)(x-3).\\]\n\nSo $x=2$ or $x=3$.",
    ),
    "s/q2": (r"How many subsets has a set of \(n\) elements?", r"Each element is in or out: $$2^n.$$"),
}


def document(number: int) -> tuple[str, str]:
    return (
        f"Solve $x^2-{number + 3}x+{number + 2}=0$ for real $x$.",
        f"The roots have the sum ${number + 3}$ and the product ${number + 2}$, so they are $1$ and ${number + 2}$.",
    )


@dataclass
class WebHome:
    """A home whose snapshot can be made anew.

    Attributes
    ----------
    path
        The home's folder.
    texts
        {problem: (statement, solution)}; queries are named in ``QUERIES``, all others are candidates of both.
    ratings
        {(query, document): relevance}; absent ones have none.
    variant
        Variant of the benchmark.
    """

    path: Path
    texts: dict[str, tuple[str, str]]
    ratings: dict[tuple[str, str], float]
    variant: str = "b1"
    schema: str = ""

    @property
    def settings(self) -> Settings:
        return load_settings(self.path)

    @property
    def landing(self) -> Landing:
        return Landing(self.path)

    @property
    def documents(self) -> list[str]:
        return sorted(set(self.texts) - set(QUERIES))

    def hash_of(self, problem: str) -> str:
        return content_hash(*self.texts[problem])

    def write(self) -> WebHome:
        """Write the snapshot, by a new file renamed over the old one, as a build does."""
        following = self.path / ".snapshot.next.duckdb"
        with duckdb.connect(str(following)) as connection:
            staging, benchmark = f"staging{self.schema}", f"benchmark{self.schema}"
            connection.execute(f"create schema {staging}; create schema {benchmark}")
            connection.execute(
                f"create table {staging}.stg_problems "
                "(problem_id varchar, statement varchar, solution varchar, content_hash varchar)"
            )
            problems = [[problem, *texts, self.hash_of(problem)] for problem, texts in self.texts.items()]
            connection.executemany(f"insert into {staging}.stg_problems values (?, ?, ?, ?)", problems)
            columns = "benchmark varchar, variant varchar, query_id varchar, document_id varchar"
            connection.execute(f"create table {benchmark}.candidates ({columns})")
            connection.execute(f"create table {benchmark}.qrels ({columns}, relevance double)")
            for query in QUERIES:
                for candidate in self.documents:
                    row = ["test", self.variant, query, candidate]
                    connection.execute(f"insert into {benchmark}.candidates values (?, ?, ?, ?)", row)
                    relevance = self.ratings.get((query, candidate))
                    connection.execute(f"insert into {benchmark}.qrels values (?, ?, ?, ?, ?)", [*row, relevance])
        following.rename(self.path / "snapshot.duckdb")
        return self


def make_home(path: Path, documents: int = 12, rated: bool = True) -> WebHome:
    """Make a home with `documents` candidates of each of two queries."""
    texts = TEXTS | {f"s/d{number:02}": document(number) for number in range(documents)}
    ratings = {
        (query, f"s/d{number:02}"): 5 * number / max(documents - 1, 1)
        for query in QUERIES
        for number in range(documents)
        if rated
    }
    return WebHome(path, texts, ratings).write()
