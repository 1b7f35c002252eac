"""From paths to problem records: every row read is either kept or rejected with a reason, none vanishes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warehouse.errors import SaberError
from warehouse.identity import content_hash
from warehouse.readers import (
    DEFAULT_LIMITS,
    Limits,
    Note,
    Reading,
    RefusedError,
    Rejection,
    Row,
    SkippedFile,
    open_files,
)
from warehouse.sources.columns import HEADER_NAMES
from warehouse.sources.draft import Draft, Dropped, id_of, metadata_text
from warehouse.sources.registry import choose

_SOURCE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")


@dataclass
class FileCount:
    """What one file gave: rows in = kept + rejected."""

    file: str
    format: str
    reader: str
    rows_in: int = 0
    kept: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    without_solution: int = 0


@dataclass
class Ingested:
    """What an ingest gave: records to land, and an account of everything else.

    Attributes
    ----------
    rows : list of dict
        Problem records (columns of the landed table ``problems``).
    rejections : list of Rejection
        Rows that were not kept, each with its file, number and reason.
    skipped_files : list of SkippedFile
        Files that gave no rows; ``refused`` ones are failures.
    notes : list of Note
        Remarks on rows that were kept.
    files : list of FileCount
        One count a file.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    skipped_files: list[SkippedFile] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    files: list[FileCount] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, Any]:
        """Totals over all files; ``rows_in`` = ``kept`` + ``rejected`` always."""
        reasons: Counter[str] = sum((file.rejected for file in self.files), Counter())
        return {
            "files": len(self.files),
            "skipped_files": len(self.skipped_files),
            "rows_in": sum(file.rows_in for file in self.files),
            "kept": sum(file.kept for file in self.files),
            "rejected": sum(reasons.values()),
            "rejected_by_reason": dict(sorted(reasons.items())),
            "without_solution": sum(file.without_solution for file in self.files),
        }

    @property
    def damaged(self) -> int:
        """Rows lost because a file is cut or broken; those left out by design do not count."""
        return sum(rejection.rows for rejection in self.rejections if rejection.is_damage)

    @property
    def refused(self) -> list[SkippedFile]:
        """Files that may hold problems but could not be read: a command that meets one has failed."""
        return [file for file in self.skipped_files if file.refused]


@dataclass(frozen=True)
class _Options:
    """What the caller asked for, for every file alike."""

    source: str
    mapping: Mapping[str, str] | None
    language: str | None
    licence: str | None
    reader: str | None


@dataclass
class _Kept:
    """What the ingest remembers of the rows kept so far, to tell repeats and clashing ids."""

    place_of_hash: dict[tuple[str, str], str] = field(default_factory=dict)
    hash_of_id: dict[str, str] = field(default_factory=dict)


def ingest_problems(
    paths: Sequence[str | Path],
    source: str,
    mapping: Mapping[str, str] | None = None,
    glob: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    encoding: str | None = None,
    language: str | None = None,
    licence: str | None = None,
    reader: str | None = None,
) -> Ingested:
    """Read problems from files and folders.

    Parameters
    ----------
    paths : sequence of str or Path
        Files, folders and patterns.
    source : str
        Name of the source; the problem id is ``source/source_id``.
    mapping : mapping of str to str, optional
        Role (statement, solution, answer, id, language, licence) to column.
    glob : str, optional
        Which files of a folder to take.
    limits : Limits
        What a file may ask of the machine.
    encoding : str, optional
        Encoding of text files; guessed when absent.
    language, licence : str, optional
        Values for rows that name none themselves.
    reader : str, optional
        Name of the layout (``registry.SOURCES``); recognised by the columns when absent.

    Returns
    -------
    Ingested

    Raises
    ------
    SaberError
        For a path that does not exist, a source name that cannot be part of an id, an unknown reader or encoding.
    """
    if not _SOURCE_NAME.match(source):
        raise SaberError(f"{source!r} is no source name. Use letters, digits, '.', '_' and '-'.")
    if encoding is not None:
        _check_encoding(encoding)
    result, kept = Ingested(), _Kept()
    options = _Options(source, mapping, language, licence, reader)
    known = HEADER_NAMES | {name.lower() for name in (mapping or {}).values()}
    for reading in open_files(paths, glob, limits, encoding, frozenset(known)):
        if isinstance(reading, SkippedFile):
            result.skipped_files.append(reading)
        else:
            _read_file(reading, options, result, kept)
    return result


def _read_file(
    reading: Reading,
    options: _Options,
    result: Ingested,
    kept: _Kept,
) -> None:
    rows: list[Row] = []
    rejections: list[Rejection] = []
    notes: list[Note] = []
    try:
        for item in reading.items:
            target: list[Any] = rows if isinstance(item, Row) else notes if isinstance(item, Note) else rejections
            target.append(item)
    except (RefusedError, OSError) as error:
        result.skipped_files.append(SkippedFile(reading.name, str(error), refused=True))
        return
    names = list(dict.fromkeys(name for row in rows for name in row.fields))
    reader = choose(reading.name, names, rows, options.reader, options.mapping)
    reader.rows_before = sum(file.rows_in for file in result.files if file.reader == reader.name)
    if rows and not reader.matches():
        result.skipped_files.append(SkippedFile(reading.name, _no_statement(names, options.mapping)))
        return
    if not rows and not rejections:
        result.skipped_files.append(SkippedFile(reading.name, "no rows"))
        return
    count = FileCount(reading.name, reading.format, reader.name)
    count.rows_in = len(rows) + sum(rejection.rows for rejection in rejections)
    rows = reader.prepare(rows)
    drafts = [reader.convert(row) for row in rows]
    _number(drafts, rows, reader.columns.id)
    for row, draft in zip(rows, drafts, strict=True):
        outcome = _record(row, draft, reading.stem, options, kept)
        if isinstance(outcome, Rejection):
            rejections.append(outcome)
        else:
            count.kept += 1
            count.without_solution += outcome["solution"] is None
            result.rows.append(outcome)
    for rejection in rejections:
        count.rejected[rejection.kind] += rejection.rows
    if count.rows_in != count.kept + sum(count.rejected.values()):
        raise AssertionError(f"{reading.name}: rows in are not rows kept plus rows rejected")
    result.files.append(count)
    result.rejections.extend(sorted(rejections, key=lambda rejection: rejection.number or 0))
    result.notes.extend(notes)


def _check_encoding(encoding: str) -> None:
    try:
        b"a".decode(encoding)
    except UnicodeError:
        return  # one byte is no text in a wide encoding
    except (LookupError, ValueError) as error:
        raise SaberError(f"There is no text encoding {encoding!r}. Name one such as latin-1 or utf-16.") from error


def _no_statement(names: Sequence[str], mapping: Mapping[str, str] | None) -> str:
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    if mapping and "statement" in mapping:
        return f"no column {mapping['statement']!r} as --map asks; the columns are {shown}"
    return f"no statement column among {shown}; name one with --map statement=COLUMN if it holds problems"


def _number(drafts: Sequence[Draft | Dropped], rows: Sequence[Row], candidates: Sequence[str]) -> None:
    """Give the drafts the ids of the first id column that is complete and without repeats."""
    for column in candidates:
        ids = [id_of(row.fields.get(column)) for row in rows]
        if all(ids) and len(set(ids)) == len(ids):
            for draft, found in zip(drafts, ids, strict=True):
                if isinstance(draft, Draft) and draft.id is None:
                    draft.id = found
            return


def _record(
    row: Row, draft: Draft | Dropped, stem: str, options: _Options, kept: _Kept
) -> dict[str, Any] | Rejection:
    """The problem record of a draft, or why there is none."""
    if isinstance(draft, Dropped):
        return Rejection(row.file, row.number, draft.kind, draft.detail, row.line, row.byte_offset)
    if draft.statement is None:
        detail = "the statement is empty"
        return Rejection(row.file, row.number, "no statement", detail, row.line, row.byte_offset)
    hashed = content_hash(draft.statement, draft.solution)
    source_id = f"h{hashed[:16]}"
    if draft.id is not None:
        source_id = draft.id if draft.id_is_whole else f"{stem}:{draft.id}"
    if kept.hash_of_id.get(source_id, hashed) != hashed:
        source_id = f"h{hashed[:16]}"  # another file of the same name used the id for another text
    earlier = kept.place_of_hash.get((source_id, hashed))
    if earlier is not None:
        detail = f"the same text and id as {earlier}"
        return Rejection(row.file, row.number, "repeated", detail, row.line, row.byte_offset)
    kept.place_of_hash[source_id, hashed] = f"{row.file} row {row.number}"
    kept.hash_of_id[source_id] = hashed
    return {
        "problem_id": f"{options.source}/{source_id}",
        "source": options.source,
        "source_id": source_id,
        "statement": draft.statement,
        "solution": draft.solution,
        "answer": draft.answer,
        "language": draft.language or options.language,
        "licence": draft.licence or options.licence,
        "metadata": metadata_text({**draft.metadata, "_file": row.file, "_row": row.number}),
        "content_hash": hashed,
    }
