"""``saber import KIND PATH…``: land annotations, judgments, relevances and runs made elsewhere."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from warehouse.cli.common import Subparsers, add_common, note, settings_from
from warehouse.texts import SETTINGS

if TYPE_CHECKING:
    from warehouse.imports.job import Imported

_KINDS = {
    "problems": "problems of a collection or export (anything else: saber ingest problems)",
    "topics": "topic assignments",
    "summaries": "summaries of solutions",
    "judgments": "verdicts on pairs, grades, choices of people",
    "ratings": "ratings of documents",
    "qrels": "relevances of another benchmark: TREC, BEIR, MTEB, SABER-Math as released",
    "runs": "rankings of retrieval systems: TREC, tables, our own exports",
    "scores": "scores of systems on leaderboards published elsewhere",
}
_MADE = ("topics", "summaries", "judgments", "ratings")
_SHOWN = 20


def register(commands: Subparsers) -> None:
    """Add ``import`` with its kinds."""
    parser = commands.add_parser("import", help="land annotations, judgments, relevances or runs made elsewhere")
    kinds = parser.add_subparsers(title="kinds", metavar="KIND", required=True)
    for kind, purpose in _KINDS.items():
        one = kinds.add_parser(kind, help=purpose)
        one.add_argument("paths", nargs="+", metavar="PATH")
        one.add_argument("--format", choices=("rows", "trec", "beir", "saber"), help="layout (default: recognised)")
        one.add_argument("--dry-run", action="store_true", help="read, check and report, land nothing")
        one.add_argument("--map", metavar="OURS=THEIRS,…", help="names of columns, e.g. document_id=docno")
        if kind == "problems":
            _add_problem_flags(one)
        else:
            _add_flags(one, kind)
        add_common(one)
        one.set_defaults(run=_problems if kind == "problems" else _run, kind=kind)


def _add_problem_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", metavar="NAME", help="name of the source, part of every id")
    parser.add_argument("--language", help="language of rows that name none")
    parser.add_argument("--licence", help="licence of rows that name none")


def _add_flags(parser: argparse.ArgumentParser, kind: str) -> None:
    parser.add_argument("--keep-good", action="store_true", help="land the other rows when some have a fault")
    parser.set_defaults(split="test", escaped_ids=False)
    if kind == "scores":
        parser.add_argument("--leaderboard", metavar="NAME", help="leaderboard of rows that name none")
        parser.add_argument("--measure", help="measure of rows that name none, e.g. nDCG@10")
        parser.add_argument(
            "--origin", help="where the scores stand, e.g. a paper's table (default: file and digest)"
        )
        return
    parser.add_argument("--escaped-ids", action="store_true", help="ids are percent-encoded, as exports write them")
    parser.add_argument("--provider", help="who made the rows (a provider of saber.toml or a name of your own)")
    parser.add_argument("--model", help="the model that made them")
    if kind in _MADE:
        parser.add_argument("--prompt-version", help="the prompt behind them (default: file and digest)")
        parser.add_argument(
            "--as-selected",
            action="store_true",
            help="land under the variant the settings select, so that the marts read the rows",
        )
    if kind not in ("topics", "summaries"):
        parser.add_argument("--benchmark", metavar="NAME", help="benchmark of the rows")
        parser.add_argument("--source", metavar="NAME", help="ids become NAME/query:ID and NAME/document:ID")
    if kind in ("judgments", "ratings", "qrels"):
        parser.add_argument("--judge", help="name of the judge")
        parser.add_argument("--schedule", help="which pairs were judged: swiss, random, exhaustive or another name")
    if kind == "qrels":
        parser.add_argument("--gains", action="store_true", help="the numbers are gains, 1000 (2^relevance - 1)")
        parser.add_argument("--split", default="test", help="split of a BEIR or MTEB folder (default: test)")
    if kind == "runs":
        parser.add_argument("--system", metavar="NAME", help="name of the system (default: the file's tag)")
        parser.add_argument("--setting", help=f"texts that the system saw: {', '.join(SETTINGS)}")
        parser.add_argument("--scope", choices=("candidates", "corpus"), help="what it ranked (default: candidates)")
        parser.add_argument("--idf", choices=("corpus", "candidates", "none"), help="where its statistics came from")


def _run(args: argparse.Namespace) -> int:
    # Imported here: other commands need not wait for it.
    from warehouse.imports.context import Given
    from warehouse.imports.job import import_rows

    given = Given(**{name: getattr(args, name) for name in Given.__dataclass_fields__ if hasattr(args, name)})
    found = import_rows(settings_from(args), args, given)
    _tell(found, args.json)
    return 0


def _problems(args: argparse.Namespace) -> int:
    from warehouse.imports.problems import import_problems

    return import_problems(settings_from(args), args)


def _tell(found: Imported, as_json: bool) -> None:
    if as_json:
        shown = {**vars(found), "faults": [str(fault) for fault in found.faults]}
        print(json.dumps(shown, ensure_ascii=False))
        return
    for fault in found.faults[:_SHOWN]:
        note(f"left out {fault}")
    if len(found.faults) > _SHOWN:
        note(f"... and {len(found.faults) - _SHOWN} more; all are in landing.source_rows")
    if found.unchecked:
        note(f"{found.unchecked} rows name no content_hash: they are taken to be about the present texts")
    for run, count in found.missing_queries.items():
        note(f"run {run} lacks {count} queries, which score 0")
    landed = "nothing landed (dry run)" if found.landed is None else f"{found.landed} new or changed rows landed"
    print(f"{found.kind}: {found.good} rows from {_few(found.files)}; {landed}; variant {_few(found.variants)}")
    if found.landed:
        print("Marts follow at the next dbt build.")


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "") or "-"
