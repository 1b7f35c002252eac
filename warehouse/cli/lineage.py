"""``saber lineage RELATION.COLUMN``: where a column comes from, read off the compiled SQL."""

from __future__ import annotations

import argparse
import json
import re

from warehouse.cli.common import Subparsers, add_common
from warehouse.compiled import compiled_project
from warehouse.lineage import Step, column_lineage, load_project


def register(commands: Subparsers) -> None:
    """Add ``lineage``."""
    parser = commands.add_parser("lineage", help="trace a column through the models to landed tables")
    parser.add_argument("column", metavar="RELATION.COLUMN", help="e.g. evaluation.leaderboard.overall")
    add_common(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    # A variant's schemas hold the same models, so their columns come from the same places.
    column = re.sub(r"^(\w+?)__\w+(?=\.)", r"\1", args.column) if args.column.count(".") == 2 else args.column
    step = column_lineage(load_project(compiled_project()), column)
    if args.json:
        print(json.dumps(step.as_dict(), ensure_ascii=False))
    else:
        _show(step, 0, set())
    return 0


def _show(step: Step, depth: int, shown: set[str]) -> None:
    repeated = step.name in shown and step.sources
    print(f"{'  ' * depth}{step.name}  [{step.kind}]{'  (shown above)' if repeated else ''}")
    if repeated:
        return
    shown.add(step.name)
    for source in step.sources:
        _show(source, depth + 1, shown)
