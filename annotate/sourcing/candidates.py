"""The problems that a step has to do, and whether they are still what they were when it asked about them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb

from annotate.sourcing.step import Step, metadata_of
from warehouse.landing import Landing

_BATCH = 2_000
_FIELDS = (
    "problem_id, source, source_id, statement, solution, answer, language, licence, metadata, content_hash, sequence"
)


class Candidates:
    """Latest versions of problems that a step wants and has not done, in the order in which they landed.

    Parameters
    ----------
    source
        Only problems of this source; None = of all that have not been withdrawn.
    """

    def __init__(self, landing: Landing, step: Step, source: str | None = None) -> None:
        self._step = step
        self._connection = duckdb.connect()
        self._connection.execute("set preserve_insertion_order = true")
        self._connection.execute(f"create temp view landed as {landing.scan_sql('problems')}")
        self._connection.execute(f"create temp view tombstones as {landing.scan_sql('tombstones')}")
        self._connection.execute(_LATEST, [source, source])
        self.done = 0
        self.unwanted = 0

    def __enter__(self) -> Candidates:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield what is to be done, counting on the way what is done already and what the step does not want."""
        self.done = self.unwanted = 0
        cursor = self._connection.execute(
            f"select {_FIELDS} from landed semi join latest using (sequence) "
            f"where {self._step.where} order by sequence"
        )
        names = [column[0] for column in cursor.description or ()]
        while rows := cursor.fetchmany(_BATCH):
            for values in rows:
                problem = dict(zip(names, values, strict=True))
                if is_done(problem, self._step.name):
                    self.done += 1
                elif self._step.wants(problem):
                    yield problem
                else:
                    self.unwanted += 1


def is_done(problem: Mapping[str, Any], step: str) -> bool:
    """Whether the step has made this version of a problem or one before it."""
    if '"steps"' not in (problem["metadata"] or ""):
        return False
    return any(entry.get("step") == step for entry in steps_of(problem))


def steps_of(problem: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the steps noted in the metadata, in their order."""
    found = metadata_of(problem).get("steps")
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def latest_sequences(landing: Landing, problem_ids: Sequence[str]) -> dict[str, int]:
    """Return the sequence of the latest version of each problem."""
    with duckdb.connect() as connection:
        found = connection.execute(
            f"select problem_id, max(sequence) from ({landing.scan_sql('problems')}) "
            "where problem_id in (select unnest(from_json(?, '[\"varchar\"]'))) group by problem_id",
            [json.dumps(list(problem_ids))],
        ).fetchall()
    return dict(found)


_LATEST = """
create temp table latest as
with
    retracted as (
        select source from tombstones group by source having arg_max(action, sequence) = 'retract'
    ),
    newest as (select max(sequence) as sequence, arg_max(source, sequence) as source from landed group by problem_id)
select sequence
from newest
where source not in (select source from retracted) and (? is null or source = ?)
"""
