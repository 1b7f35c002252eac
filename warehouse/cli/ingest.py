"""``saber ingest problems|ontology|sample``: land corpora and ontologies."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from importlib import resources
from typing import Any

from warehouse.cleaning import CleanedProblems, clean_problems
from warehouse.cli.common import Subparsers, add_common, job, note, print_rows, settings_from
from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.ontologies import Ontology, read_ontology, unfold
from warehouse.review import land_items, review_item
from warehouse.settings import Settings
from warehouse.sources import Ingested, ingest_problems, parse_mapping
from warehouse.sources.facts import source_facts
from warehouse.sources.landed import land_sourced
from warehouse.sources.registry import BY_NAME

READ = "read"
_SHOWN = 20


def register(commands: Subparsers) -> None:
    """Add ``ingest`` with its three kinds."""
    ingest = commands.add_parser("ingest", help="land problems or an ontology")
    kinds = ingest.add_subparsers(title="kinds", metavar="KIND", required=True)

    problems = kinds.add_parser("problems", help="land problems from JSONL, JSON, CSV, TSV, Parquet or folders")
    problems.add_argument("paths", nargs="+", metavar="PATH")
    problems.add_argument("--source", required=True, metavar="NAME", help="name of the source, part of every id")
    problems.add_argument("--map", metavar="ROLE=COLUMN,…", help="e.g. statement=problem,solution=answer")
    problems.add_argument("--glob", metavar="PATTERN", help="which files of a folder to take")
    problems.add_argument("--encoding", help="encoding of text files (default: guessed and reported)")
    problems.add_argument("--language", help="language of rows that name none")
    problems.add_argument("--licence", help="licence of rows that name none")
    problems.add_argument("--reader", metavar="NAME", help=f"layout: {', '.join(BY_NAME)} (default: recognised)")
    problems.add_argument("--no-clean", action="store_true", help="land the texts as they stand in the files")
    problems.add_argument("--dry-run", action="store_true", help="read and report, land nothing")
    add_common(problems)
    problems.set_defaults(run=_problems)

    ontology = kinds.add_parser("ontology", help="land a nested tree.json or parent,child edges")
    ontology.add_argument("path", metavar="PATH")
    ontology.add_argument("--name", required=True, metavar="NAME")
    ontology.add_argument("--dry-run", action="store_true", help="read, check and report, land nothing")
    add_common(ontology)
    ontology.set_defaults(run=_ontology)

    sample = kinds.add_parser("sample", help="land the built-in sample corpus and ontology")
    add_common(sample)
    sample.set_defaults(run=_sample)


def _problems(args: argparse.Namespace) -> int:
    settings = settings_from(args)
    facts = source_facts(settings, args.source, args.language, args.licence)
    found = ingest_problems(
        args.paths,
        args.source,
        mapping=parse_mapping(args.map) if args.map else None,
        glob=args.glob,
        encoding=args.encoding,
        language=facts.language,
        licence=facts.licence,
        reader=args.reader,
    )
    cleaned = CleanedProblems(found.rows, []) if args.no_clean else clean_problems(found.rows)
    found.rows = cleaned.rows
    summary = {"source": args.source, **found.counts, "cleaning": cleaned.counts, "quality": quality(found.rows)}
    if not args.dry_run:
        summary["landed"] = _land_problems(settings, found, cleaned, args)
    _report(found, summary, args.json)
    return 1 if found.refused else 0


def _land_problems(settings: Settings, found: Ingested, cleaned: CleanedProblems, args: argparse.Namespace) -> int:
    landing = Landing(settings.home)
    with job(landing, settings, "ingest problems", args) as record:
        rejected = [
            {
                "source": args.source,
                "file": rejection.file,
                "row_number": rejection.number,
                "step": "read",
                "reason": f"{rejection.kind}: {rejection.detail}",
                "n_rows": rejection.rows,
            }
            for rejection in found.rejections
        ] + [
            {
                "source": args.source,
                "file": skipped.file,
                "step": "refused" if skipped.refused else "skipped",
                "reason": skipped.reason,
                "n_rows": 0,
            }
            for skipped in found.skipped_files
        ]
        steps = [
            {
                "source": args.source,
                "step": f"clean: {count['step']}@{count['version']}",
                "reason": count["field"],
                "n_rows": count["rows"],
            }
            for count in cleaned.counts
        ]
        landed = land_sourced(landing, found.rows, record.job_id)
        noted = landing.append_new("source_rows", rejected + steps, record.job_id).rows
        noted += land_items(landing, _for_review(found, args.source), record.job_id, _looked_at(found, args.source))
        record.summary = {"landed": landed, **found.counts}
        if landed or noted:
            record.start()
        return landed


def _for_review(found: Ingested, source: str) -> list[dict[str, Any]]:
    """Documents whose problems and solutions do not match, with where to look."""
    return [
        review_item(source, remark.file, READ, "counts differ", remark.detail)
        for remark in found.notes
        if remark.kind == "review"
    ]


def _looked_at(found: Ingested, source: str) -> list[tuple[str, str, str]]:
    return [(source, file.file, READ) for file in found.files]


def _report(found: Ingested, summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(summary, ensure_ascii=False))
        return
    columns = ("file", "format", "reader", "rows in", "kept", "rejected", "no solution")
    rows = [
        (f.file, f.format, f.reader, f.rows_in, f.kept, sum(f.rejected.values()), f.without_solution)
        for f in found.files
    ]
    print_rows(columns, rows)
    for skipped in found.skipped_files:
        note(f"{'refused' if skipped.refused else 'skipped'} {skipped.file}: {skipped.reason}")
    for rejection in found.rejections[:_SHOWN]:
        note(f"rejected {rejection}")
    if len(found.rejections) > _SHOWN:
        note(f"... and {len(found.rejections) - _SHOWN} more rejected; all are in landing.source_rows")
    for count in summary["cleaning"]:
        print(f"cleaned {count['rows']} x {count['field']}: {count['step']}")
    for name, value in summary["quality"].items():
        print(f"{name}: {value}")
    landed = summary.get("landed")
    for remark in found.notes:
        if remark.kind == "review":
            note(f"for review {remark.file}: {remark.detail}")
    unlicensed = sum(not row["licence"] for row in found.rows)
    if unlicensed:
        note(
            f"{unlicensed} rows have no licence, which exports should name: give it with --licence, or as licence of "
            f"[sources.{summary['source']}] in saber.toml"
        )
    print(
        f"{summary['source']}: {summary['rows_in']} rows in = {summary['kept']} kept + "
        f"{summary['rejected']} rejected; "
        + ("nothing landed (dry run)" if landed is None else f"{landed} new or changed rows landed")
    )


def _ontology(args: argparse.Namespace) -> int:
    settings = settings_from(args)
    reading = read_ontology(args.path, args.name, root=settings.ontology.root)
    topics = unfold(reading.edges, max_topics=settings.ontology.max_topics)
    for warning in reading.warnings:
        note(f"warning: {warning}")
    landed = None if args.dry_run else land_ontology(settings, reading, args)
    summary = {
        "ontology": args.name,
        "edges": len(reading.edges),
        "topics": len(topics),
        "depth": max(topic.depth for topic in topics),
        "landed": landed,
    }
    if args.json:
        print(json.dumps(summary, ensure_ascii=False))
    else:
        print(
            f"{args.name}: {summary['edges']} edges unfold into {summary['topics']} topics, "
            f"depth {summary['depth']}; "
            + ("nothing landed (dry run)" if landed is None else f"{landed} new edges landed")
        )
    return 0


def land_ontology(settings: Settings, reading: Ontology, args: argparse.Namespace) -> int:
    """Land the edges of an ontology, unless the same edges under the same name have landed."""
    landing = Landing(settings.home)
    with job(landing, settings, "ingest ontology", args) as record:
        landed = landing.append_new("ontology_edges", reading.rows(), record.job_id).rows
        record.summary = {"landed": landed}
        if landed:
            record.start()
        return landed


def quality(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Summarise problem records: languages, lengths, answers; the views of `analysis` say the same in SQL."""
    if not rows:
        return {}
    lengths = sorted(len(row["statement"]) for row in rows)
    languages = Counter(row["language"] or "unknown" for row in rows)
    return {
        "languages": dict(languages.most_common()),
        "statement characters (least, median, most)": [lengths[0], lengths[len(lengths) // 2], lengths[-1]],
        "with a solution": sum(bool(row["solution"]) for row in rows),
        "with an answer": sum(bool(row["answer"]) for row in rows),
    }


def _sample(args: argparse.Namespace) -> int:
    folder = resources.files("warehouse.sample")
    for name in ("problems.jsonl", "ontology.csv"):
        if not folder.joinpath(name).is_file():
            raise SaberError(f"The sample file {name} is missing. Reinstall: make clean build")
    problems = argparse.Namespace(
        **vars(args),
        paths=[str(folder.joinpath("problems.jsonl"))],
        source="sample",
        map=None,
        glob=None,
        encoding=None,
        language="en",
        licence="Apache-2.0",
        reader=None,
        no_clean=False,
        dry_run=False,
    )
    ontology = argparse.Namespace(
        **vars(args), name="sample", path=str(folder.joinpath("ontology.csv")), dry_run=False
    )
    return _problems(problems) or _ontology(ontology)
