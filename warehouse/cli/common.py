"""What every command shares: common flags, the job record, read-only connections, printed tables."""

from __future__ import annotations

import argparse
import json
import math
import re
import secrets
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import duckdb

from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.settings import Settings, load_settings

_URL_USER = re.compile(r"(\w+://)[^/\s?#]*@")
_URL_QUERY = re.compile(r"(\w+://[^\s?#]*)[?#]\S*")

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the flags every command takes."""
    parser.add_argument("--home", metavar="DIR", help="warehouse home (default: $SABER_HOME, else data/)")
    parser.add_argument("--variant", metavar="NAME", help="settings variant, a table [variants.NAME] of saber.toml")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def whole_number(least: int) -> Callable[[str], int]:
    """Make the reader of a flag that takes a whole number of at least `least`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"must be a whole number, not {text!r}") from error
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, not {number}")
        return number

    return read


def settings_from(args: argparse.Namespace) -> Settings:
    """Load the settings a command runs under."""
    return load_settings(home=args.home, variant=args.variant)


def new_job_id(command: str) -> str:
    """Return a job id that sorts by time: command, UTC time, random tail."""
    return f"{command}-{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


class Job:
    """A job's rows in the landed table ``jobs``: one when it starts and one when it ends."""

    def __init__(self, landing: Landing, settings: Settings, command: str, args: argparse.Namespace) -> None:
        self.job_id = new_job_id(command.replace(" ", "-"))
        self.summary: dict[str, Any] = {}
        self.started = False
        self._landing = landing
        self._row = {
            "command": command,
            "arguments": json.dumps(_plain(vars(args)), sort_keys=True),
            "settings": json.dumps(settings.as_rows(), sort_keys=True),
        }

    def start(self) -> None:
        """Land that the job has work to do; a job without any leaves no trace."""
        if not self.started:
            self.started = True
            self.land("started")

    def land(self, state: str) -> None:
        """Land the job's state: started, done, incomplete or failed."""
        row = {
            **self._row,
            "state": state,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "summary": json.dumps(self.summary, sort_keys=True, default=str),
        }
        self._landing.append("jobs", [row], self.job_id)


@contextmanager
def job(landing: Landing, settings: Settings, command: str, args: argparse.Namespace) -> Iterator[Job]:
    """Record a job that calls ``start()`` once it has work; an exception lands as ``failed`` and goes on."""
    record = Job(landing, settings, command, args)
    begun = time.monotonic()
    try:
        yield record
    except BaseException as error:
        record.summary["error"] = str(error) or type(error).__name__
        if record.started:
            record.land("failed")
        raise
    record.summary["seconds"] = round(time.monotonic() - begun, 3)
    if record.started:
        record.land("incomplete" if record.summary.get("incomplete") else "done")


def dbt_build(variant: str) -> str:
    """Return the command that builds the marts of a settings variant ("" = the default)."""
    return f"dbt build --vars '{{variant: {variant}}}'" if variant else "dbt build"


def open_warehouse(settings: Settings) -> duckdb.DuckDBPyConnection:
    """Open ``warehouse.duckdb`` read-only, for the jobs that read what ``dbt build`` made.

    Raises
    ------
    SaberError
        When it does not exist yet, or a ``dbt build`` holds it.
    """
    return _open(settings.home / "warehouse.duckdb", "dbt build")


def open_snapshot(settings: Settings) -> duckdb.DuckDBPyConnection:
    """Open ``snapshot.duckdb`` read-only; it stays readable while ``dbt build`` runs."""
    return _open(settings.home / "snapshot.duckdb", "dbt build")


def _open(path: Path, maker: str) -> duckdb.DuckDBPyConnection:
    if not path.exists():
        raise SaberError(f"{path} does not exist yet. Make it: {maker}")
    try:
        return duckdb.connect(str(path), read_only=True)
    except duckdb.IOException as error:
        raise SaberError(f"{path} is held by another process: {str(error).splitlines()[0]}") from error


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[Any]], as_json: bool = False) -> None:
    """Print rows as an aligned table, or as a JSON list of objects."""
    listed = [list(row) for row in rows]
    if as_json:
        names = _distinct(columns)
        objects = [dict(zip(names, map(_finite, row), strict=True)) for row in listed]
        print(json.dumps(objects, default=str, ensure_ascii=False))
        return
    cells = [list(columns), *[[_cell(value) for value in row] for row in listed]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    numeric = [
        all(isinstance(row[i], int | float | None) for row in listed) and bool(listed) for i in range(len(columns))
    ]
    for number, row in enumerate(cells):
        padded = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        print("  ".join(padded).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))


def _distinct(columns: Sequence[str]) -> list[str]:
    """Number a column's second and later namesakes, as DuckDB does: an object holds a name once."""
    found: list[str] = []
    for column in columns:
        later = (f"{column}_{number}" for number in count(1))
        found.append(
            column if column not in found else next(name for name in later if name not in {*found, *columns})
        )
    return found


def _finite(value: Any) -> Any:
    """Return None for what JSON has no number for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return {key: _finite(item) for key, item in value.items()} if isinstance(value, dict) else value


def note(message: str) -> None:
    """Print a line of progress or explanation to stderr, leaving stdout to results."""
    print(message, file=sys.stderr, flush=True)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4f}"
    # Names and texts are other people's: a control character could move a terminal's cursor or change its colours.
    text = "".join(
        sign if unicodedata.category(sign) != "Cc" else " " if sign in "\n\r\t" else "�" for sign in str(value)
    )
    return text if len(text) <= 100 else text[:97] + "..."


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {key: _without_secrets(value) for key, value in values.items() if key != "run" and not callable(value)}


def _without_secrets(value: Any) -> Any:
    """Take users, passwords and queries out of URLs: a query may hold a key or a signature."""
    if isinstance(value, str):
        return _URL_QUERY.sub(r"\1", _URL_USER.sub(r"\1", value))
    return [_without_secrets(item) for item in value] if isinstance(value, list | tuple) else value
