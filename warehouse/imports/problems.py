"""Problems of a test collection: our exports, BEIR and MTEB folders, SABER-Math as released; the rest is ingested."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from warehouse.cli.common import job
from warehouse.collection import PROBLEM
from warehouse.errors import SaberError
from warehouse.exports.folder import read_manifest
from warehouse.identity import content_hash
from warehouse.imports.published import parts_of
from warehouse.landing import Landing
from warehouse.readers import Rejection, Row, SkippedFile, open_files
from warehouse.settings import Settings

_DATA = (".jsonl", ".parquet", ".json")
_ROLES = {"corpus": "document", "queries": "query"}


def import_problems(settings: Settings, args: argparse.Namespace) -> int:
    """Land problems; return the exit code.

    A query and a document of a collection from elsewhere become ``source/query:ID`` and ``source/document:ID``, since
    such collections number both from the same start; records of our own exports keep their ids.
    """
    if args.format == "saber":
        return _published(args)
    folders = [Path(path).expanduser() for path in args.paths]
    if len(folders) == 1 and folders[0].is_dir() and args.map is None:
        manifest = read_manifest(folders[0])
        if manifest is not None:
            return _land(settings, args, list(_exported(folders[0], manifest)))
        roles = _collection_files(folders[0])
        if roles:
            return _land(settings, args, list(_foreign(roles, _source(args), args)))
    return _ingest(args, args.paths)


def _published(args: argparse.Namespace) -> int:
    queries, documents = parts_of(args.paths)
    codes = [
        # Texts land as released: candidates and scores are about exactly these.
        _ingest(args, list(map(str, files)), "--reader", reader, "--no-clean")
        for files, reader in ((documents, "saber-documents"), (queries, "saber-queries"))
        if files
    ]
    return max(codes, default=0)


def _ingest(args: argparse.Namespace, paths: Sequence[str], *further: str) -> int:
    from warehouse.cli import build_parser

    words = ["ingest", "problems", *paths, "--source", _source(args), *further]
    for flag in ("map", "language", "licence", "home", "variant"):
        if getattr(args, flag) is not None:
            words += [f"--{flag}", getattr(args, flag)]
    words += [f"--{flag.replace('_', '-')}" for flag in ("dry_run", "json") if getattr(args, flag)]
    parsed = build_parser().parse_args(words)
    return int(parsed.run(parsed))


def _source(args: argparse.Namespace) -> str:
    if not args.source:
        raise SaberError("A name for the source is needed: --source NAME.")
    return str(args.source)


def _land(settings: Settings, args: argparse.Namespace, rows: list[dict[str, Any]]) -> int:
    landing = Landing(settings.home)
    landed = None
    if not args.dry_run:
        with job(landing, settings, "import problems", args) as record:
            landed = landing.append_new("problems", rows, record.job_id).rows
            record.summary = {"rows": len(rows), "landed": landed}
            if landed:
                record.start()
    if args.json:
        print(json.dumps({"kind": "problems", "good": len(rows), "landed": landed}))
    else:
        told = "nothing landed (dry run)" if landed is None else f"{landed} new or changed rows landed"
        print(f"problems: {len(rows)} rows from {', '.join(args.paths)}; {told}")
    return 0


def _exported(folder: Path, manifest: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the records of an export, each checked against its hash."""
    if (folder / "data" / "problems.parquet").is_file():
        found = [(place, fields) for place, fields in _rows([folder / "data" / "problems.parquet"])]
    elif (folder / "corpus.jsonl").is_file():
        files = [folder / "corpus.jsonl", folder / "queries.jsonl"]
        found = [(place, fields.get("metadata") or {}) for place, fields in _rows(files)]
    else:
        raise SaberError(
            f"{folder} is an export of kind {manifest['saber_export']}, which holds no texts. "
            "Export the problems too: saber export beir DIR"
        )
    seen: set[str] = set()
    for place, fields in found:
        record = {name: fields.get(name) for name in PROBLEM}
        if not record["problem_id"] or record["statement"] is None:
            raise SaberError(f"{place}: the record has no problem_id or no statement. Export again.")
        if content_hash(record["statement"], record["solution"]) != record["content_hash"]:
            raise SaberError(
                f"{place}: the text of {record['problem_id']} was changed after the export. Export again."
            )
        if record["problem_id"] not in seen:
            seen.add(record["problem_id"])
            yield record


def _collection_files(folder: Path) -> dict[str, list[Path]]:
    """Return {role: files} of a BEIR or MTEB folder: corpus and queries, by their names or folders."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        parts = [part.lower() for part in path.relative_to(folder).parts]
        role = next((role for role in _ROLES if any(part.startswith(role) for part in parts)), None)
        if path.is_file() and path.suffix.lower() in _DATA and role is not None:
            found.setdefault(role, []).append(path)
    return found if set(found) == set(_ROLES) else {}


def _foreign(roles: dict[str, list[Path]], source: str, args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for role, files in roles.items():
        seen: set[str] = set()
        for place, fields in _rows(files):
            identifier = next((str(fields[name]) for name in ("_id", "id") if fields.get(name) is not None), None)
            text = "\n\n".join(part for part in (fields.get("title"), fields.get("text")) if part)
            if identifier is None or not text:
                raise SaberError(f"{place}: the record has no _id or no text. Mend the file; nothing has landed.")
            if identifier in seen:
                raise SaberError(f"{place}: the id {identifier!r} stands twice. Mend the file; nothing has landed.")
            seen.add(identifier)
            yield {
                "problem_id": f"{source}/{_ROLES[role]}:{identifier}",
                "source": source,
                "source_id": f"{_ROLES[role]}:{identifier}",
                "statement": text,
                "language": args.language,
                "licence": args.licence,
                "metadata": json.dumps(fields.get("metadata") or {}, ensure_ascii=False, default=str),
                "content_hash": content_hash(text, None),
            }


def _rows(files: Sequence[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    for reading in open_files(files):
        if isinstance(reading, SkippedFile):
            raise SaberError(f"{reading}.")
        for item in reading.items:
            if isinstance(item, Rejection):
                raise SaberError(f"{item}. Mend the file; nothing has landed.")
            if isinstance(item, Row):
                yield f"{item.file} row {item.number}", item.fields
