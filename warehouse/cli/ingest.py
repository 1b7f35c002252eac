"""``saber ingest problems|ontology|sample``: land corpora and ontologies."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from importlib import resources
from typing import Any

from udfs.answers import answer_type
from warehouse.cleaning import CleanedProblems, clean_problems
from warehouse.cli.common import Subparsers, add_common, job, note, settings_from
from warehouse.cli.ingest_report import READ, audit_rows, report, review_rows
from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.ontologies import Ontology, read_ontology, unfold
from warehouse.review import land_items
from warehouse.settings import Settings
from warehouse.sources import Ingested, ingest_problems, parse_mapping
from warehouse.sources.facts import source_facts
from warehouse.sources.landed import land_sourced
from warehouse.sources.registry import BY_NAME


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
    problems.add_argument("--accept-damaged", action="store_true", help="exit 0 although damaged rows were left out")
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
    summary = {
        "source": args.source,
        **found.counts,
        "cleaning": cleaned.counts,
        "damaged": found.damaged,
        "quality": quality(found.rows),
    }
    if not args.dry_run:
        summary["landed"] = _land_problems(settings, found, cleaned, args)
    report(found, summary, args.json)
    done = found.counts["rows_in"] and not found.refused and (args.accept_damaged or not found.damaged)
    return 0 if done else 1


def _land_problems(settings: Settings, found: Ingested, cleaned: CleanedProblems, args: argparse.Namespace) -> int:
    landing = Landing(settings.home)
    with job(landing, settings, "ingest problems", args) as record:
        landed = land_sourced(landing, found.rows, record.job_id)
        noted = landing.append_new("source_rows", audit_rows(found, cleaned, args.source), record.job_id).rows
        looked_at = [(args.source, file.file, READ) for file in found.files]
        noted += land_items(landing, review_rows(found, args.source), record.job_id, looked_at)
        record.summary = {"landed": landed, **found.counts}
        if landed or noted:
            record.start()
        return landed


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
        "answer types": dict(Counter(answer_type(row["answer"]) for row in rows).most_common()),
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
        accept_damaged=False,
        dry_run=False,
    )
    ontology = argparse.Namespace(
        **vars(args), name="sample", path=str(folder.joinpath("ontology.csv")), dry_run=False
    )
    return _problems(problems) or _ontology(ontology)
