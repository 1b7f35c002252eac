"""Statements of the benchmark's queries with their formulas in delimiters, landed beside the problems.

The split of a query into mathematics and words reads them where ``evaluation.formulas`` names the model. The problems
stay as they are, so nothing that was judged or ranked grows stale.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb

from annotate.sourcing.job import StepJob
from annotate.sourcing.setup import Asking
from annotate.sourcing.step import Change, Problem, Step
from warehouse.cli.common import dbt_build, open_warehouse
from warehouse.errors import SaberError


class QueryStatements:
    """The queries whose statements a step wants and has not done: as `Candidates`, without their solutions."""

    def __init__(self, asking: Asking, step: Step, source: str | None = None) -> None:
        self._step = step
        queries = _query_ids(asking)
        rows = asking.landing.read("problems").to_pylist()
        self._problems = [
            {**row, "solution": None}
            for row in rows
            if row["problem_id"] in queries and source in (None, row["source"])
        ]
        landed = asking.landing.read("delimited_statements").to_pylist()
        self._landed = {
            (row["problem_id"], row["content_hash"]) for row in landed if row["variant"] == asking.variant
        }
        self.done = 0
        self.unwanted = 0

    def __enter__(self) -> QueryStatements:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield what is to be done, counting on the way what is done already and what needs no delimiters."""
        self.done = self.unwanted = 0
        for problem in self._problems:
            if (problem["problem_id"], problem["content_hash"]) in self._landed:
                self.done += 1
            elif self._step.wants(problem):
                yield problem
            else:
                self.unwanted += 1


def _query_ids(asking: Asking) -> set[str]:
    variant = asking.settings.variant
    schema = "benchmark" + ("__" + variant.replace("-", "_") if variant else "")
    with open_warehouse(asking.settings) as connection:
        try:
            rows = connection.execute(f'select query_id from "{schema}".queries').fetchall()
        except duckdb.CatalogException as error:
            raise SaberError(f"There are no queries yet. Build the benchmark: {dbt_build(variant)}") from error
    return {row[0] for row in rows}


class DelimitedJob(StepJob):
    """Lands the statement alone."""

    table = "delimited_statements"

    def __init__(self, asking: Asking, log: Any, step: Step, job_id: str) -> None:
        super().__init__(asking.landing, log, step, asking.prompt, asking.variant, job_id)
        self._asking = asking

    def _row(self, problem: Problem, calls: list[str], change: Change) -> dict[str, Any]:
        return {
            "problem_id": problem["problem_id"],
            "statement": change.fields["statement"],
            "provider": self._asking.provider_name,
            "model": self._asking.provider.model,
            "prompt_version": self._prompt.version,
            "call_id": calls[-1],
            "content_hash": problem["content_hash"],
            "variant": self._variant,
        }
