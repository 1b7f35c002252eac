"""``saber export trec|beir|mteb|hf|parquet DIR``: the benchmark for other tools, or the marts as Parquet."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from warehouse.cli.common import Subparsers, add_common, settings_from
from warehouse.errors import SaberError
from warehouse.texts import MAIN_SETTING, SETTINGS

_KINDS = {
    "trec": "qrels and run files",
    "beir": "corpus.jsonl, queries.jsonl, qrels/test.tsv",
    "mteb": "a task that mteb evaluates from the folder",
    "hf": "a data set folder that datasets.load_dataset reads",
    "parquet": "every mart as a Parquet file",
}


def register(commands: Subparsers) -> None:
    """Add ``export``."""
    parser = commands.add_parser("export", help="write the benchmark or the marts for other tools")
    kinds = parser.add_subparsers(title="formats", metavar="FORMAT", required=True)
    for kind, purpose in _KINDS.items():
        one = kinds.add_parser(kind, help=purpose)
        one.set_defaults(run=_run, kind=kind)
        if kind == "parquet":
            one.add_argument(
                "directory", nargs="?", metavar="DIR", help="folder to make (default: marts/ in the home)"
            )
        else:
            one.add_argument("directory", metavar="DIR", help="folder to make; an earlier export in it is replaced")
            one.add_argument(
                "--benchmark", metavar="NAME", help="another benchmark, imported with saber import qrels"
            )
            one.add_argument(
                "--setting", default=MAIN_SETTING, choices=tuple(SETTINGS), help=f"texts (default {MAIN_SETTING})"
            )
            one.add_argument(
                "--scope",
                default="candidates",
                choices=("candidates", "corpus"),
                help="documents: the candidates of all queries (default) or every eligible problem",
            )
        if kind in ("trec", "hf"):
            one.add_argument("--run", dest="runs", nargs="+", metavar="RUN_ID", help="runs to write (default: all)")
        add_common(one)


def _run(args: argparse.Namespace) -> int:
    # Imported here: other commands need not wait for what exports need.
    from warehouse.exports import FORMATS, ExportRequest, marts
    from warehouse.exports.folder import export_folder

    settings = settings_from(args)
    target = Path(args.directory or settings.home / "marts")
    if target.expanduser().absolute() in (settings.home, settings.home / "landing"):
        raise SaberError(f"{target} is the warehouse itself. Name another folder.")
    with export_folder(target) as folder:
        if args.kind == "parquet":
            marts.write(folder, settings)
        else:
            runs = getattr(args, "runs", None)
            request = ExportRequest(settings, args.benchmark, args.setting, args.scope, runs)
            FORMATS[args.kind](folder, request)
        size = sum(path.stat().st_size for path in folder.path.rglob("*") if path.is_file())
    _tell({"directory": str(target), "bytes": size, **folder.manifest}, args.json)
    return 0


def _tell(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(facts, ensure_ascii=False))
        return
    if facts["saber_export"] == "parquet":
        what = f"{len(facts['rows'])} relations, {sum(facts['rows'].values()):,} rows"
    else:
        what = f"{facts['queries']} queries, {facts['documents']} documents, {facts['judged_pairs']} graded pairs"
        what += f", {len(facts['runs'])} runs" if facts.get("runs") else ""
    print(f"{facts['directory']}: {what}, {facts['bytes'] / 1e6:.1f} MB")
