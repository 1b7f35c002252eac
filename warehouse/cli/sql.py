"""``saber sql``: ask the snapshot, once or at a prompt."""

from __future__ import annotations

import argparse
import csv
import sys

import duckdb

from warehouse.cli.common import Subparsers, add_common, open_snapshot, print_rows, settings_from
from warehouse.errors import SaberError


def register(commands: Subparsers) -> None:
    """Add ``sql``."""
    parser = commands.add_parser("sql", help="run a query over the snapshot, or open a prompt")
    parser.add_argument("query", nargs="?", metavar="SELECT", help="one query; without it a prompt opens")
    parser.add_argument("--csv", action="store_true", help="print the result as CSV")
    parser.add_argument("--limit", type=int, default=200, help="rows shown as a table (default 200; 0 = all)")
    add_common(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    if args.limit < 0:
        raise SaberError(f"--limit must be 0 (all rows) or more, not {args.limit}.")
    if args.query is not None and not args.query.strip(" \t\r\n;"):
        raise SaberError("The query is empty. Give a SELECT, or none for a prompt.")
    connection = open_snapshot(settings_from(args))
    if args.query is None:
        return _prompt(connection, args)
    try:
        _answer(connection, args.query, args)
    except duckdb.Error as error:
        raise SaberError(f"the query failed: {error}") from error
    return 0


def _answer(connection: duckdb.DuckDBPyConnection, query: str, args: argparse.Namespace) -> None:
    result = connection.execute(query)
    if result.description is None:
        return
    columns = [column[0] for column in result.description]
    rows = result.fetchall()
    if args.csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(columns)
        writer.writerows([[_inert(value) for value in row] for row in rows])
        return
    shown = rows[: args.limit] if args.limit and not args.json else rows
    print_rows(columns, shown, args.json)
    if len(shown) < len(rows):
        print(f"... {len(rows) - len(shown)} more rows (--limit 0 shows all)")


def _inert(value: object) -> object:
    # A spreadsheet runs cells that begin like a formula, and problems come from strangers.
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value


def _prompt(connection: duckdb.DuckDBPyConnection, args: argparse.Namespace) -> int:
    if sys.stdin.isatty():
        import readline  # noqa: F401  (line editing and history at the prompt)

        print("End a query with ';'. Tables: select * from duckdb_tables(); Leave with Ctrl-D.")
    pending, failed = "", False
    while True:
        try:
            line = input("saber> " if not pending else "   ... ") if sys.stdin.isatty() else input()
        except EOFError:
            break
        pending = f"{pending}\n{line}" if pending else line
        if not pending.rstrip().endswith(";"):
            continue
        if not pending.strip(" \t\r\n;"):
            pending = ""
            continue
        failed |= not _answered(connection, pending, args)
        pending = ""
    if pending.strip():
        failed |= not _answered(connection, pending, args)
    return 1 if failed and not sys.stdin.isatty() else 0


def _answered(connection: duckdb.DuckDBPyConnection, query: str, args: argparse.Namespace) -> bool:
    try:
        _answer(connection, query, args)
    except duckdb.Error as error:
        print(f"saber: {error}", file=sys.stderr)
        return False
    return True
