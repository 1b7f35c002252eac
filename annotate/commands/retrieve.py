"""``saber retrieve``: rank documents for the benchmark's queries and land the runs."""

from __future__ import annotations

import argparse
from dataclasses import asdict, fields

from warehouse.cli.common import Subparsers, add_common, note, print_rows
from warehouse.errors import SaberError


def register(commands: Subparsers) -> None:
    """Add ``retrieve``."""
    parser = commands.add_parser("retrieve", help="rank documents for the queries with retrieval systems")
    parser.add_argument("--system", nargs="+", metavar="NAME", help="systems to run (--list shows them)")
    parser.add_argument(
        "--setting", nargs="+", metavar="NAME", help="form of query text - document text (default: all three)"
    )
    parser.add_argument(
        "--scope",
        choices=("candidates", "corpus"),
        default="candidates",
        help="rank each query's candidates (default) or all eligible problems",
    )
    parser.add_argument(
        "--idf",
        choices=("corpus", "candidates"),
        help="where lexical statistics come from (default: retrieval.idf of the settings)",
    )
    parser.add_argument("--top", type=int, metavar="N", help="documents a query in scope corpus (default: 1000)")
    parser.add_argument(
        "--param",
        nargs="+",
        default=[],
        metavar="[SYSTEM.]KEY=VALUE",
        help="parameters of systems; other values are another run",
    )
    parser.add_argument("--list", action="store_true", help="list the systems and their parameters")
    add_common(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    # Imported here: the systems and SciPy would make every other command slow to start.
    if args.list:
        return _list(args.json)
    if not args.system:
        raise SaberError("Name the systems to run: --system NAME… (saber retrieve --list shows them).")
    from annotate.retrieval.job import Outcome, retrieve

    outcomes = retrieve(args)
    columns = [field.name for field in fields(Outcome)]
    print_rows(columns, [list(asdict(outcome).values()) for outcome in outcomes], args.json)
    missing = sum(outcome.missing for outcome in outcomes)
    if missing:
        note(f"{missing} queries got no ranking; run the same command to try them again.")
    return 1 if missing else 0


def _list(as_json: bool) -> int:
    from annotate.retrieval.registry import system_class, system_names

    rows = []
    for name in system_names():
        try:
            kind = system_class(name)
        except SaberError as error:  # another package's fault hides none of the others
            rows.append([name, "", f"unavailable: {error}"])
            continue
        summary = (kind.__doc__ or "").strip().split("\n\n")[0]
        rows.append([name, ", ".join(field.name for field in fields(kind)), summary])
    print_rows(("system", "parameters", "description"), rows, as_json)
    return 0
