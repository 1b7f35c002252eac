"""Rebuilding parsed tables from the call log: past jobs are replayed with sending forbidden.

A job is a deterministic function of the problems, the settings and the replies, so replaying it from the log
gives its rows again under the parsing rules of today. That is also right where one reply served several rows
(the same pair under two schedules, the same text under two ids), which no reply by itself could tell.

A job registers, for the purpose of its calls, the command that asks them and a function that replays it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb

from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.settings import Settings, load_settings

# Arguments that choose what a run asked; the others (limits, concurrency, output) do not change any request.
_CHOOSING = ("provider", "model", "base_url", "prompt", "judge", "schedule", "answer_only", "variant")
_WIDEST: dict[str, Callable[[Iterable[Any]], Any]] = {"rounds": max, "both_orders": any, "finish": any}


@dataclass(frozen=True)
class Replay:
    """A past job to be replayed from the log.

    Attributes
    ----------
    settings
        The settings that were in force.
    arguments
        Its arguments: provider, model, base_url, prompt, judge, schedule, ... Where several runs made up one
        job (rounds added later), the widest.
    landing, job_id
        Where the rows land and under which job.
    """

    settings: Settings
    arguments: Mapping[str, Any]
    landing: Landing
    job_id: str


@dataclass(frozen=True)
class Replayed:
    """What a replay rebuilt.

    Attributes
    ----------
    table
        The parsed table.
    rows
        Rows landed.
    missing
        Calls that are not in the log: never asked, or asked in other words.
    failed
        Calls whose landed replies are no good.
    """

    table: str
    rows: int
    missing: int
    failed: int


Parser = Callable[[Replay], Replayed]


@dataclass(frozen=True)
class _Registered:
    command: str
    parser: Parser


_PARSERS: dict[str, _Registered] = {}


def register_parser(purpose: str, command: str, parser: Parser) -> None:
    """Register how the calls of `purpose`, made by the command `command`, become rows again.

    Raises
    ------
    ValueError
        When the purpose has another parser.
    """
    if _PARSERS.get(purpose, _Registered(command, parser)) != _Registered(command, parser):
        raise ValueError(f"purpose {purpose!r} has a parser already")
    _PARSERS[purpose] = _Registered(command, parser)


def purposes() -> tuple[str, ...]:
    """Return the registered purposes, in the order in which one stage follows another."""
    return tuple(_PARSERS)


def replay(purpose: str, landing: Landing, job_id: str) -> list[tuple[Mapping[str, Any], Replayed]]:
    """Replay every past job of `purpose`; nothing is sent.

    Returns
    -------
    list
        (arguments, what was rebuilt) for each.
    """
    registered = _PARSERS[purpose]
    done: list[tuple[Mapping[str, Any], Replayed]] = []
    for settings, arguments in past_jobs(landing, registered.command):
        job = Replay(settings, arguments, landing, job_id)
        done.append(({k: arguments.get(k) for k in _CHOOSING if arguments.get(k)}, registered.parser(job)))
    return done


def past_jobs(landing: Landing, command: str) -> list[tuple[Settings, dict[str, Any]]]:
    """Return the distinct jobs of a command that have run, each with the settings it ran under.

    Raises
    ------
    SaberError
        When the settings of a job are no longer understood.
    """
    with duckdb.connect() as connection:
        found = connection.execute(
            f"select arguments, settings from ({landing.scan_sql('jobs')}) where command = ? order by sequence",
            [command],
        ).fetchall()
    runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for arguments, settings in found:
        given = json.loads(arguments)
        chosen = {name: given.get(name) for name in _CHOOSING}
        runs[json.dumps([chosen, json.loads(settings)], sort_keys=True)].append(given)
    return [_merged(landing, key, given) for key, given in runs.items()]


def _merged(landing: Landing, key: str, runs: list[dict[str, Any]]) -> tuple[Settings, dict[str, Any]]:
    chosen, then = json.loads(key)
    for name, widest in _WIDEST.items():
        values = [run[name] for run in runs if run.get(name) is not None]
        if values:
            chosen[name] = widest(values)
    try:
        settings = load_settings(landing.home, chosen["variant"] or "", overrides=then)
    except SaberError as error:
        raise SaberError(f"A past job cannot be replayed under the settings it had: {error}") from error
    return settings, chosen
