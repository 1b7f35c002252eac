"""``saber compact`` and ``saber purge``: merge landed files; delete a home's landing for good."""

from __future__ import annotations

import argparse
import json
import shutil

from warehouse.cli.common import Subparsers, add_common, settings_from
from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.schemas import TABLES


def register(commands: Subparsers) -> None:
    """Add ``compact`` and ``purge``."""
    compact = commands.add_parser("compact", help="merge each landed table's files into one")
    compact.add_argument("--table", choices=sorted(TABLES), help="only this table")
    add_common(compact)
    compact.set_defaults(run=_compact)

    purge = commands.add_parser("purge", help="delete everything in the home, landing included")
    purge.add_argument("--yes", action="store_true", help="really delete")
    add_common(purge)
    purge.set_defaults(run=_purge)


def _compact(args: argparse.Namespace) -> int:
    landing = Landing(settings_from(args).home)
    tables = [args.table] if args.table else list(TABLES)
    merged = {table: landing.compact(table) for table in tables}
    if args.json:
        print(json.dumps(merged))
    else:
        for table, count in merged.items():
            if count:
                print(f"{table}: {count} files merged into one")
        print("Run dbt build again: its views name the merged files' predecessors.")
    return 0


def _purge(args: argparse.Namespace) -> int:
    home = settings_from(args).home
    names = ("landing", "marts", "warehouse.duckdb", "warehouse.duckdb.wal", "snapshot.duckdb")
    present = [home / name for name in names if (home / name).exists()]
    if not args.yes:
        raise SaberError(f"This would delete {', '.join(map(str, present)) or 'nothing'}. Add --yes to do it.")
    for path in present:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    print(f"{home}: {len(present)} entries deleted")
    return 0
