"""Runs that have landed, as systems read them that build on others: fusion and rerankers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from annotate.retrieval.base import Context, Query, Task
from warehouse.errors import SaberError
from warehouse.identity import pair_hash


@dataclass(frozen=True)
class LandedRun:
    """A landed run.

    Attributes
    ----------
    last_sequence
        Largest sequence of its rows: it grows when any of its queries is ranked again.
    """

    run_id: str
    last_sequence: int


def find_run(context: Context, named: str, setting: str, scope: str) -> LandedRun:
    """Return the run of a system, or the run of an id, in a setting and scope of the benchmark in use.

    Raises
    ------
    SaberError
        When none has landed, or a system's name fits several runs (other parameters or statistics).
    """
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"""
            select run_id, max(sequence)
            from ({context.landing.scan_sql("runs")})
            where setting = ? and scope = ? and variant = ? and (system = ? or run_id = ?)
            group by run_id
            order by run_id
            """,
            [setting, scope, context.variant, named, named],
        ).fetchall()
    if not rows:
        raise SaberError(
            f"No run of {named!r} has landed for setting {setting}, scope {scope}. "
            f"Land it first: saber retrieve --system {named.split('.')[0]} --setting {setting} --scope {scope}"
        )
    if len(rows) > 1:
        ids = ", ".join(row[0] for row in rows)
        raise SaberError(f"{named!r} fits several runs: {ids}. Name one of them by its id, with its --setting.")
    return LandedRun(*rows[0])


def read_rankings(context: Context, run: LandedRun, task: Task) -> dict[str, list[int]]:
    """Return {query id: positions of its documents in :attr:`Task.documents`, best first} of a landed run.

    Queries the run lacks are absent.

    Raises
    ------
    SaberError
        When a query's ranking is older than its candidates or their texts.
    """
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"""
            with
                latest as (
                    select query_id, document_id, score, content_hash
                    from ({context.landing.scan_sql("runs")})
                    where run_id = ?
                    qualify job_id = arg_max(job_id, sequence) over (partition by query_id)
                )
            select
                query_id,
                list(document_id order by score desc, document_id asc),
                list(content_hash order by score desc, document_id asc)
            from latest
            group by query_id
            """,
            [run.run_id],
        ).fetchall()
    queries = {query.text.problem_id: query for query in task.queries}
    position = {text.problem_id: at for at, text in enumerate(task.documents)}
    found: dict[str, list[int]] = {}
    for query_id, document_ids, hashes in rows:
        if query_id in queries:
            positions = [position.get(document_id, -1) for document_id in document_ids]
            if not _is_current(queries[query_id], positions, hashes, task):
                raise SaberError(
                    f"Run {run.run_id} is older than the candidates or texts of query {query_id}. "
                    "Run its system again first."
                )
            found[query_id] = positions
    return found


def _is_current(query: Query, positions: Sequence[int], hashes: Sequence[str], task: Task) -> bool:
    allowed = set(query.documents.tolist())
    if not allowed.issuperset(positions) or (task.scope == "candidates" and len(positions) < len(allowed)):
        return False
    seen = query.text.content_hash
    return all(
        landed == pair_hash(seen, task.documents[at].content_hash)
        for at, landed in zip(positions, hashes, strict=True)
    )
