"""``saber deduplicate`` and ``saber originality``: find copies in the corpus, and overlaps with reference texts."""

from __future__ import annotations

import argparse
import json
from typing import Any

from warehouse.cli.common import Subparsers, add_common, job, print_rows, settings_from
from warehouse.deduplication import Duplicates, find_duplicates
from warehouse.deduplication.originality import check_originality
from warehouse.landing import Landing
from warehouse.settings import Settings
from warehouse.sources import ingest_problems
from warehouse.variants import duplicates_variant

_SINGLE = "single"


def register(commands: Subparsers) -> None:
    """Add ``deduplicate`` and ``originality``."""
    copies = commands.add_parser("deduplicate", help="find copies over all sources; one of each group survives")
    copies.add_argument("--dry-run", action="store_true", help="report, land nothing")
    add_common(copies)
    copies.set_defaults(run=_deduplicate)

    originality = commands.add_parser("originality", help="flag statements that overlap with a reference corpus")
    originality.add_argument("reference", nargs="+", metavar="PATH", help="files or folders of reference problems")
    originality.add_argument("--name", required=True, help="what the reference is called")
    originality.add_argument("--dry-run", action="store_true", help="report, land nothing")
    add_common(originality)
    originality.set_defaults(run=_originality)


def corpus_records(landing: Landing) -> list[dict[str, Any]]:
    """Return the latest version of every problem whose source has not been retracted."""
    withdrawn = {row["source"] for row in landing.read("tombstones").to_pylist() if row["action"] == "retract"}
    return [row for row in landing.read("problems").to_pylist() if row["source"] not in withdrawn]


def _deduplicate(args: argparse.Namespace) -> int:
    settings = settings_from(args)
    landing = Landing(settings.home)
    records = corpus_records(landing)
    corpus = settings.corpus
    found = find_duplicates(
        records, corpus.source_priority, corpus.duplicate_threshold, workers=settings.signals.workers
    )
    summary = {"problems": len(records), **found.counts, "seconds": round(sum(found.seconds.values()), 2)}
    if not args.dry_run:
        summary["landed"] = _land(settings, landing, records, found, args)
    if args.json:
        print(json.dumps(summary))
    else:
        print_rows(("deduplication", "count"), list(summary.items()))
    return 0


def _land(
    settings: Settings,
    landing: Landing,
    records: list[dict[str, Any]],
    found: Duplicates,
    args: argparse.Namespace,
) -> int:
    variant = duplicates_variant(settings)
    hashes = {record["problem_id"]: record["content_hash"] for record in records}
    rows = [
        {
            **row,
            "survivor_hash": hashes[row["group_id"]],
            "content_hash": hashes[row["problem_id"]],
            "variant": variant,
        }
        for row in found.groups
    ]
    grouped = {row["problem_id"] for row in rows}
    for earlier in landing.read("duplicates").to_pylist():
        problem = earlier["problem_id"]
        if earlier["variant"] == variant and problem not in grouped and problem in hashes:
            rows.append(
                {
                    "problem_id": problem,
                    "group_id": problem,
                    "is_survivor": True,
                    "kind": _SINGLE,
                    "similarity": 1.0,
                    "survivor_hash": hashes[problem],
                    "content_hash": hashes[problem],
                    "variant": variant,
                }
            )
    near = [{**_near(row), "content_hash": hashes[row["first_id"]], "variant": variant} for row in found.near]
    with job(landing, settings, "deduplicate", args) as record:
        landed = landing.append_new("duplicates", rows, record.job_id).rows
        landed += landing.append_new("near_duplicates", near, record.job_id).rows
        record.summary = {"landed": landed, **found.counts}
        if landed:
            record.start()
        return landed


def _near(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("first_id", "second_id", "kind", "similarity", "masked_similarity")}


def _originality(args: argparse.Namespace) -> int:
    settings = settings_from(args)
    landing = Landing(settings.home)
    records = corpus_records(landing)
    reference = ingest_problems(args.reference, "reference").rows
    flags = check_originality(records, reference)
    if not args.dry_run:
        hashes = {record["problem_id"]: record["content_hash"] for record in records}
        rows = [
            {
                **{name: flag[name] for name in ("problem_id", "reference_id", "share", "overlap")},
                "reference": args.name,
                "content_hash": hashes[flag["problem_id"]],
                "variant": args.name,
            }
            for flag in flags
        ]
        with job(landing, settings, "originality", args) as record:
            if landing.append_new("originality_flags", rows, record.job_id).rows:
                record.start()
    if args.json:
        print(json.dumps({"problems": len(records), "reference": len(reference), "flags": flags}, ensure_ascii=False))
    else:
        columns = ("problem_id", "reference_id", "share", "overlap")
        print_rows(columns, [[flag[name] for name in columns] for flag in flags[:50]])
        print(f"{len(flags)} of {len(records)} statements overlap with {len(reference)} reference texts")
    return 0
