"""The benchmark as retrieval sees it: queries, candidates and texts, copied out of the warehouse at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import duckdb
import numpy as np

from annotate.retrieval.base import IntArray, Query, Text
from warehouse.cli.common import dbt_build, open_warehouse
from warehouse.errors import SaberError
from warehouse.identity import pair_hash
from warehouse.landing import Landing
from warehouse.settings import Settings
from warehouse.texts import PARTS, RULES, forms, problem_text
from warehouse.variants import benchmark_variant, ontology_in_use

_BUILD = "Bring it up to date: dbt build"


@dataclass(frozen=True)
class Benchmark:
    """Queries and candidates over the eligible problems.

    Attributes
    ----------
    name, variant
        Stamped on every run.
    problem_ids, hashes, statements, solutions
        The eligible problems in ascending order of their ids, parallel.
    queries
        Positions of the queries among the problems, in the benchmark's order.
    candidates
        {position of a query: positions of its candidates, ascending}.
    formulas
        What parts mathematics from words: ``rules``, or the model that put formulas into delimiters.
    delimited
        {problem id: statement in delimiters} of that model.
    """

    name: str
    variant: str
    problem_ids: Sequence[str]
    hashes: Sequence[str]
    statements: Sequence[str]
    solutions: Sequence[str | None]
    queries: Sequence[int]
    candidates: dict[int, IntArray]
    formulas: str = RULES
    delimited: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the ids and texts of all eligible problems, 12 hexadecimal digits."""
        digest = hashlib.sha256()
        for problem_id, content in zip(self.problem_ids, self.hashes, strict=True):
            digest.update(f"{problem_id}\x1f{content}\x1e".encode())
        return digest.hexdigest()[:12]

    @cached_property
    def delimited_fingerprint(self) -> str:
        """Hash of the statements in delimiters, 12 hexadecimal digits."""
        return hashlib.sha256(json.dumps(self.delimited, sort_keys=True).encode()).hexdigest()[:12]

    @cached_property
    def _with_hash(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for position, content in enumerate(self.hashes):
            found.setdefault(content, []).append(position)
        return found

    def allowed(self, query: int, scope: str) -> IntArray:
        """Return the positions a query may rank: its candidates, or all but itself and texts equal to its own."""
        if scope == "candidates":
            return self.candidates.get(query, np.empty(0, np.int64))
        same = self._with_hash[self.hashes[query]]
        return np.delete(np.arange(len(self.problem_ids), dtype=np.int64), same)

    def pair_hash(self, query: int, document: int) -> str:
        """Hash the texts behind one row of a run."""
        return pair_hash(self.hashes[query], self.hashes[document])

    def texts(self, form: str, positions: Sequence[int] | IntArray) -> list[Text]:
        """Return the texts of problems in a form (see :func:`warehouse.texts.problem_text`)."""
        return [Text(self.problem_ids[at], self._text(form, at), self.hashes[at]) for at in positions]

    def _text(self, form: str, at: int) -> str:
        statement = self.statements[at]
        if form in PARTS:
            statement = self.delimited.get(self.problem_ids[at], statement)
        return problem_text(form, statement, self.solutions[at])

    def collection(
        self, setting: str, scope: str, idf: str, queries: Sequence[int]
    ) -> tuple[list[Text], list[Query]]:
        """Return the documents that ranking `queries` needs, and the queries over them.

        Statistics from the corpus, and the scope ``corpus``, need every eligible problem; otherwise the
        candidates of these queries are enough, so a dense system embeds no more than it must.
        """
        query_form, document_form = forms(setting)
        allowed = [self.allowed(query, scope) for query in queries]
        if scope == "corpus" or idf == "corpus":
            needed = np.arange(len(self.problem_ids), dtype=np.int64)
        else:
            needed = np.unique(np.concatenate([np.empty(0, np.int64), *allowed]))
        texts = self.texts(query_form, queries)
        renumbered = [np.searchsorted(needed, positions).astype(np.int64) for positions in allowed]
        return self.texts(document_form, needed), [
            Query(text, positions) for text, positions in zip(texts, renumbered, strict=True)
        ]


def read_benchmark(settings: Settings, landing: Landing) -> Benchmark:
    """Copy the benchmark out of ``warehouse.duckdb`` and close the file, so that no build has to wait.

    Raises
    ------
    SaberError
        When the warehouse has not been built, or was built with settings of another variant.
    """
    bring = f"Bring it up to date: {dbt_build(settings.variant)}"
    with open_warehouse(settings) as connection:
        try:
            problems = connection.sql(
                f"""
                select eligible.problem_id, eligible.content_hash, texts.statement, texts.solution
                from {_schema("signals", settings)}.eligible_problems as eligible
                inner join {_schema("staging", settings)}.stg_problems as texts using (problem_id)
                order by problem_id
                """
            ).to_arrow_table()
            marts = _schema("benchmark", settings)
            queries = connection.sql(f"select query_id from {marts}.queries order by position").to_arrow_table()
            candidates = connection.sql(
                f"select query_id, document_id, variant from {marts}.candidates order by query_id, document_id"
            ).to_arrow_table()
        except duckdb.CatalogException as error:
            raise SaberError(f"The warehouse is not built as far as benchmark.candidates. {bring}") from error
    variant = benchmark_variant(settings, ontology_in_use(settings, landing))
    built = set(candidates["variant"].unique().to_pylist())
    if built - {variant}:
        raise SaberError(
            f"benchmark.candidates was built as variant {', '.join(sorted(built))}, "
            f"but the settings in force are variant {variant}. {bring}"
        )
    found = assemble(
        settings.benchmark.name,
        variant,
        problems.to_pydict(),
        queries["query_id"].to_pylist(),
        list(zip(candidates["query_id"].to_pylist(), candidates["document_id"].to_pylist(), strict=True)),
    )
    formulas = settings.evaluation.formulas
    return replace(found, formulas=formulas, delimited=_delimited(landing, formulas, found))


def _delimited(landing: Landing, model: str, benchmark: Benchmark) -> dict[str, str]:
    """Return the queries' statements that a model delimited, as ``staging.stg_delimited_statements`` does."""
    if model == RULES:
        return {}
    hashes = {benchmark.problem_ids[at]: benchmark.hashes[at] for at in benchmark.queries}
    rows = [row for row in landing.read("delimited_statements").to_pylist() if row["model"] == model]
    last = {row["problem_id"]: row for row in sorted(rows, key=lambda row: row["sequence"])}
    return {problem: row["statement"] for problem, row in last.items() if hashes.get(problem) == row["content_hash"]}


def _schema(name: str, settings: Settings) -> str:
    """Return the schema of a mart, quoted; a settings variant has its own (macro generate_schema_name)."""
    suffix = "__" + settings.variant.replace("-", "_") if settings.variant else ""
    return f'"{name}{suffix}"'


def assemble(
    name: str,
    variant: str,
    problems: dict[str, list[str]],
    query_ids: Sequence[str],
    candidates: Sequence[tuple[str, str]],
) -> Benchmark:
    """Number the problems and check that queries and candidates are among them.

    `problems` has the columns problem_id, content_hash, statement and solution.
    """
    order = sorted(range(len(problems["problem_id"])), key=problems["problem_id"].__getitem__)
    columns = {column: [values[at] for at in order] for column, values in problems.items()}
    position = {problem_id: at for at, problem_id in enumerate(columns["problem_id"])}
    named = {*query_ids, *(identifier for pair in candidates for identifier in pair)}
    unknown = sorted(named - position.keys())
    if unknown:
        raise SaberError(
            f"{len(unknown)} queries or candidates are no eligible problems: {', '.join(unknown[:5])}. {_BUILD}"
        )
    by_query: dict[int, list[int]] = {}
    for query_id, document_id in candidates:
        by_query.setdefault(position[query_id], []).append(position[document_id])
    return Benchmark(
        name,
        variant,
        columns["problem_id"],
        columns["content_hash"],
        columns["statement"],
        columns["solution"],
        [position[query_id] for query_id in query_ids],
        {query: np.array(sorted(documents), dtype=np.int64) for query, documents in by_query.items()},
    )
