"""Deciding landed verdicts once more from the call log, without a single request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotate.calls.log import CallLog
from annotate.tournament.asking import Ask, Asker
from annotate.tournament.field import read_landed
from annotate.tournament.setup import Setup
from warehouse.landing import Landing
from warehouse.schemas import TABLES

_PARSED = ("verdict", "score", "reason", "call_id", "prompt_version")
_ROWS_AT_ONCE = 20_000


@dataclass(frozen=True)
class Reparsed:
    """What was read again.

    Attributes
    ----------
    pairs
        Pairs that had landed.
    rows
        Rows that their replies give.
    rows_changed
        Those of them that came out otherwise than they had landed, and were landed anew.
    not_in_log
        Pairs whose replies are not in the log; their rows stand as they are.
    unusable
        Calls whose landed replies are no good.
    """

    pairs: int
    rows: int
    rows_changed: int
    not_in_log: int
    unusable: int


async def reparse_judgments(setup: Setup, landing: Landing, job_id: str) -> Reparsed:
    """Read the raw replies behind every landed verdict of a variant again and land the rows that differ.

    The pairs are those that have landed, not those of a schedule played anew: where another reading changes
    a verdict, later rounds stand as they were played.
    """
    source = setup.provenance
    landed = read_landed(landing, setup.field, setup.judge_names, source.schedule, source.variant)
    asks = [
        Ask(query, first, second, number)
        for (query, first, second), number in zip(
            landed.results.pairs.tolist(), landed.results.rounds.tolist(), strict=True
        )
    ]
    before = _rows(landing, source.variant)
    asker = Asker(setup.field, setup.judges, source)
    log = CallLog(landing, setup.provider, job_id, validate=asker.validate, send=False, progress=False)
    changed: list[dict[str, Any]] = []
    n_rows = n_changed = missing = 0
    async for decided in asker.decide(log, asks, len(asks)):
        missing += decided.verdict is None
        n_rows += len(decided.rows)
        for row in decided.rows:
            if before.get(_key(row)) != tuple(row[column] for column in _PARSED):
                changed.append(row)
        if len(changed) >= _ROWS_AT_ONCE:
            n_changed += _land(landing, changed, job_id)
    n_changed += _land(landing, changed, job_id)
    return Reparsed(len(asks), n_rows, n_changed, missing, log.counts.quarantined)


def _rows(landing: Landing, variant: str) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    quoted = variant.replace("'", "''")
    rows = landing.read("judgments", where=f"variant = '{quoted}'").to_pylist()
    return {_key(row): tuple(row[column] for column in _PARSED) for row in rows}


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[column] for column in TABLES["judgments"].key)


def _land(landing: Landing, rows: list[dict[str, Any]], job_id: str) -> int:
    count = len(rows)
    if count:
        landing.append("judgments", rows, job_id)
        rows.clear()
    return count
