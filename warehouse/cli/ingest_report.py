"""What an ingest read, kept, rejected and changed: shown to the user, and landed for ``analysis.ingest_audit``."""

from __future__ import annotations

import json
from typing import Any

from warehouse.cleaning import CleanedProblems
from warehouse.cli.common import note, print_rows
from warehouse.review import review_item
from warehouse.sources import Ingested

READ = "read"
_SHOWN = 20


def audit_rows(found: Ingested, cleaned: CleanedProblems, source: str) -> list[dict[str, Any]]:
    """Rows for the landed table ``source_rows``: rejections, remarks, files without rows, cleaning steps."""
    rejected = [
        {
            "file": rejection.file,
            "row_number": rejection.number,
            "step": READ,
            "reason": f"{rejection.kind}: {rejection.detail}",
            "n_rows": rejection.rows,
        }
        for rejection in found.rejections
    ]
    noted = [
        {
            "file": remark.file,
            "row_number": remark.number,
            "step": "noted",
            "reason": f"{remark.kind}: {remark.detail}",
            "n_rows": 1,
        }
        for remark in found.notes
    ]
    unread = [
        {
            "file": skipped.file,
            "step": "refused" if skipped.refused else "skipped",
            "reason": skipped.reason,
            "n_rows": 0,
        }
        for skipped in found.skipped_files
    ]
    steps = [
        {
            "step": f"clean: {count['step']}@{count['version']}",
            "reason": count["field"],
            "n_rows": count["rows"],
        }
        for count in cleaned.counts
    ]
    rows: list[dict[str, Any]] = [*rejected, *noted, *unread, *steps]
    return [{"source": source, **row} for row in rows]


def review_rows(found: Ingested, source: str) -> list[dict[str, Any]]:
    """Items for the review list: documents whose problems and solutions do not match."""
    return [
        review_item(source, remark.file, READ, "counts differ", remark.detail)
        for remark in found.notes
        if remark.kind == "review"
    ]


def report(found: Ingested, summary: dict[str, Any], as_json: bool) -> None:
    """Print what an ingest did; what the user should know of goes to stderr."""
    _tell(found, summary["source"])
    if as_json:
        print(json.dumps(summary, ensure_ascii=False))
        return
    columns = ("file", "format", "reader", "rows in", "kept", "rejected", "no solution")
    rows = [
        (f.file, f.format, f.reader, f.rows_in, f.kept, sum(f.rejected.values()), f.without_solution)
        for f in found.files
    ]
    print_rows(columns, rows)
    for count in summary["cleaning"]:
        print(f"cleaned {count['rows']} x {count['field']}: {count['step']}")
    for name, value in summary["quality"].items():
        print(f"{name}: {value}")
    landed = summary.get("landed")
    print(
        f"{summary['source']}: {summary['rows_in']} rows in = {summary['kept']} kept + "
        f"{summary['rejected']} rejected; "
        + ("nothing landed (dry run)" if landed is None else f"{landed} new or changed rows landed")
    )


def _tell(found: Ingested, source: str) -> None:
    for skipped in found.skipped_files:
        note(f"{'refused' if skipped.refused else 'skipped'} {skipped.file}: {skipped.reason}")
    _some("rejected", [str(rejection) for rejection in found.rejections])
    _some("noted", [str(remark) for remark in found.notes if remark.kind != "review"])
    _some("for review", [f"{remark.file}: {remark.detail}" for remark in found.notes if remark.kind == "review"])
    if found.damaged:
        note(
            f"{found.damaged} {'row is' if found.damaged == 1 else 'rows are'} damaged; the others are kept. Repair "
            "the file, or leave out what is damaged with --accept-damaged"
        )
    unlicensed = sum(not row["licence"] for row in found.rows)
    if unlicensed:
        note(
            f"{unlicensed} rows have no licence, which exports should name: give it with --licence, or as licence of "
            f"[sources.{source}] in saber.toml"
        )
    if not found.counts["rows_in"] and not found.refused:
        note("no problems were found: check the paths, or name the columns with --map statement=COLUMN")


def _some(word: str, lines: list[str]) -> None:
    for line in lines[:_SHOWN]:
        note(f"{word} {line}")
    if len(lines) > _SHOWN:
        note(f"... and {len(lines) - _SHOWN} more {word}; all are in landing.source_rows")
