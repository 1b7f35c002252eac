"""``saber source markdown|review|undo``: what needs no model, and the list of what needs a person."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from warehouse.cli.common import Subparsers, add_common, job, note, print_rows, settings_from
from warehouse.errors import SaberError

if TYPE_CHECKING:
    from warehouse.documents import Document

STEPS = ("best-solution", "translate", "format", "complete")


def register_plain(steps: Subparsers) -> None:
    """Add ``markdown``, ``review`` and ``undo``."""
    markdown = steps.add_parser("markdown", help="turn PDF files into Markdown, to look at before cutting them")
    markdown.add_argument("paths", nargs="+", metavar="PATH")
    markdown.add_argument("--out", required=True, metavar="DIR", help="folder for the Markdown files")
    markdown.add_argument("--glob", metavar="PATTERN", help="which files of a folder to take")
    markdown.add_argument("--ocr", metavar="NAME", help="converter that an installed package offers")
    add_common(markdown)
    markdown.set_defaults(run=_markdown)

    review = steps.add_parser("review", help="list what waits for a person, or settle it")
    review.add_argument("--settle", nargs="+", metavar="DOCUMENT", help="documents or problems found well")
    review.add_argument("--reason", help="settle only items of this reason")
    add_common(review)
    review.set_defaults(run=_review)

    undo = steps.add_parser("undo", help="bring back what problems were before a step changed them")
    undo.add_argument("step", choices=STEPS)
    undo.add_argument("--source", metavar="NAME", help="only problems of this source")
    undo.add_argument("--dry-run", action="store_true", help="count, land nothing")
    add_common(undo)
    undo.set_defaults(run=_undo)


def documents_of(args: argparse.Namespace) -> tuple[list[Document], int]:
    """Open the documents of a command, with a note on each that could not be read; and how many were refused."""
    from warehouse.documents import Document, converter_named, open_documents

    found: list[Document] = []
    refused = 0
    encoding = getattr(args, "encoding", None)
    for document in open_documents(args.paths, args.glob, converter_named(args.ocr), encoding=encoding):
        if isinstance(document, Document):
            found.append(document)
            for remark in document.notes:
                note(f"{document.name}: {remark}")
            if document.blank_pages:
                pages = ", ".join(map(str, document.blank_pages))
                note(f"{document.name}: no text on page {pages}; a converter that reads images may help (--ocr)")
        else:
            refused += document.refused
            note(f"{'refused' if document.refused else 'skipped'} {document.file}: {document.reason}")
    if not found and not refused:
        raise SaberError(f"There is no document among {', '.join(map(str, args.paths))}. Check the paths and --glob.")
    return found, refused


def _markdown(args: argparse.Namespace) -> int:
    from pathlib import Path

    documents, refused = documents_of(args)
    folder = Path(args.out).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    written: list[tuple[str, str, int, int, int]] = []
    for document in documents:
        target = folder / f"{document.stem}.md"
        if document.format != "pdf":
            note(f"skipped {document.name}: it is {document.format} already")
            continue
        if str(target) in {row[1] for row in written}:
            raise SaberError(f"Two documents are called {document.stem}. Turn them into Markdown in two folders.")
        target.write_text(document.text + "\n", encoding="utf-8")
        pages = len(document.page_starts)
        written.append((document.name, str(target), pages, len(document.lines), len(document.blank_pages)))
    print_rows(("document", "markdown", "pages", "lines", "pages without text"), written, args.json)
    return 1 if refused or any(row[-1] for row in written) else 0


def _review(args: argparse.Namespace) -> int:
    from warehouse.landing import Landing
    from warehouse.review import open_items, settle

    settings = settings_from(args)
    landing = Landing(settings.home)
    if args.settle:
        with job(landing, settings, "source review", args) as record:
            settled = settle(landing, args.settle, record.job_id, args.reason)
            if settled:
                record.start()
            record.summary["settled"] = len(settled)
        show(args, {"settled": len(settled)})
        unknown = sorted(set(args.settle) - set(settled))
        if unknown:
            note(f"Nothing is open about {', '.join(unknown)}.")
        return 1 if unknown else 0
    columns = ("source", "document", "step", "reason", "first_line", "last_line", "detail")
    items = sorted(open_items(landing), key=lambda item: (item["source"], item["document"], item["step"]))
    print_rows(columns, [[item[column] for column in columns] for item in items], args.json)
    return 0


def _undo(args: argparse.Namespace) -> int:
    from annotate.sourcing.versions import versions_before
    from warehouse.landing import Landing

    settings = settings_from(args)
    landing = Landing(settings.home)
    rows = versions_before(landing, args.step, args.source)
    if not args.dry_run and rows:
        with job(landing, settings, "source undo", args) as record:
            record.start()
            landing.append("problems", rows, record.job_id)
            record.summary["problems"] = len(rows)
    show(args, {"step": args.step, "problems": len(rows), "landed": 0 if args.dry_run else len(rows)})
    return 0


def show(args: argparse.Namespace, result: dict[str, Any]) -> None:
    """Print the result of a command."""
    if args.json:
        print(json.dumps(result, default=str, ensure_ascii=False))
        return
    for key, value in result.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} {count}" for name, count in value.items() if count) or "none"
        if isinstance(value, float):
            value = f"{value:.4g}"
        print(f"{key.replace('_', ' '):<20}{'unknown' if value is None else value}")
