"""Readers of file formats: they yield every record of a file as a row or a rejection, and never raise half-way.

``open_files`` is the entrance: paths, folders and patterns in; per file a :class:`Reading` (an iterator of
rows, rejections and notes) or a :class:`SkippedFile` out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warehouse.readers import delimited, json_document, json_lines, markdown, markup, parquet, tex
from warehouse.readers.files import find_files
from warehouse.readers.packed import packing, plain_name, unpacked
from warehouse.readers.records import (
    DEFAULT_LIMITS,
    Item,
    Limits,
    Note,
    Opened,
    RefusedError,
    Rejection,
    Row,
    SkippedFile,
)
from warehouse.readers.remote import fetched, is_remote
from warehouse.readers.sniff import sniff
from warehouse.readers.text import foreign_characters, without_surrogates

__all__ = [
    "DEFAULT_LIMITS",
    "Item",
    "Limits",
    "Note",
    "Reading",
    "RefusedError",
    "Rejection",
    "Row",
    "SkippedFile",
    "open_files",
]

_UNREAD = {
    "empty": "the file is empty",
    "binary": "binary data of no known format",
    "pdf": "a PDF; cut it into problems with saber source segment, or turn it into text with saber source markdown",
    "text": "no table, JSON or Parquet",
    "markup": "XML or HTML without records",
    "markdown": "Markdown without headings such as 'Problem 1' and 'Solution'",
    "tex": "TeX without problem environments",
}
_POINTER = "a Git LFS pointer in the place of the data; fetch the data with git lfs pull"
_DOCUMENTS = {"markdown": markdown.read, "tex": tex.read, "markup": markup.read}
_DATA = (".parquet", ".jsonl", ".json", ".csv", ".tsv", ".ndjson")


@dataclass
class Reading:
    """One file being read: its name, the stem its ids begin with, its true format, where its bytes lie."""

    name: str
    stem: str
    format: str
    path: Path
    items: Iterator[Item]


def open_files(
    paths: Sequence[str | Path],
    glob: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    encoding: str | None = None,
    names: frozenset[str] = frozenset(),
) -> Iterator[Reading | SkippedFile]:
    """Open every file the paths stand for, in a fixed order.

    Parameters
    ----------
    paths : sequence of str or Path
        Files, folders, patterns, and addresses (``hf://``, ``s3://``, ``https://``).
    glob : str, optional
        Which files of a folder to take.
    limits : Limits
        What a file may ask of the machine.
    encoding : str, optional
        Encoding of text files; guessed when absent.
    names : frozenset of str
        Column names that tell a header from a first row.

    Yields
    ------
    Reading or SkippedFile
        A reading must be consumed before the next one is asked for (packed files live that long).
    """
    for path in paths:
        if is_remote(path):
            with fetched(str(path), limits) as local:
                yield from _open_local(local, glob, limits, encoding, names)
    local_paths = [path for path in paths if not is_remote(path)]
    if local_paths:
        yield from _open_local(local_paths, glob, limits, encoding, names)


def _open_local(
    paths: Sequence[str | Path], glob: str | None, limits: Limits, encoding: str | None, names: frozenset[str]
) -> Iterator[Reading | SkippedFile]:
    for found in find_files(paths, glob):
        if isinstance(found, SkippedFile):
            yield found
            continue
        try:
            with found.open("rb") as handle:
                kind = packing(handle.read(8))
        except OSError as error:
            yield SkippedFile(found.name, f"cannot be opened: {error.strerror}", refused=True)
            continue
        if kind is None:
            yield _reading(found, found.name, limits, encoding, names)
            continue
        with unpacked(found, found.name, kind, limits) as members:
            for member in members:
                if isinstance(member, SkippedFile):
                    yield member
                    continue
                name, path = member
                with path.open("rb") as handle:
                    nested = packing(handle.read(8))
                if nested:
                    yield SkippedFile(name, f"{nested} inside a packed file; unpack it once", refused=True)
                else:
                    yield _reading(path, name, limits, encoding, names)


def _reading(
    path: Path, name: str, limits: Limits, encoding: str | None, names: frozenset[str]
) -> Reading | SkippedFile:
    form = sniff(path, name, names, encoding)
    stem = Path(plain_name(name.rpartition("!")[2])).stem
    opened = Opened(name, stem, form, path, path.stat().st_size)
    if form == "parquet":
        items: Iterator[Item] = parquet.read(opened, limits)
    elif form == "json-lines":
        items = json_lines.read(opened, limits, encoding)
    elif form == "json":
        items = json_document.read(opened, limits, encoding)
    elif form == "delimited":
        items = delimited.read(opened, limits, encoding, names)
    elif form in _DOCUMENTS:
        try:
            found = list(_DOCUMENTS[form](opened, limits, encoding))
        except RefusedError as error:
            return SkippedFile(name, str(error), refused=True)
        if not any(isinstance(item, Row) for item in found):
            return SkippedFile(name, _UNREAD[form])
        items = (_bounded(item, limits) for item in found)
    else:
        data_file = form in ("binary", "text") and name.lower().endswith(_DATA)
        reason = _POINTER if form == "text" and _is_pointer(path) else _UNREAD[form]
        return SkippedFile(name, reason, refused=form == "pdf" or data_file)
    return Reading(name, stem, form, path, _inspected(items))


def _bounded(item: Item, limits: Limits) -> Item:
    """The row of a document, or its rejection when it is longer than any record may be."""
    if not isinstance(item, Row) or sum(len(v) for v in item.fields.values() if isinstance(v, str)) <= (
        limits.record_bytes
    ):
        return item
    detail = f"longer than the limit of {limits.record_bytes} bytes"
    return Rejection(item.file, item.number, "record too long", detail, item.line, item.byte_offset)


def _is_pointer(path: Path) -> bool:
    with path.open("rb") as handle:
        return handle.read(40).startswith(b"version https://git-lfs")


def _inspected(items: Iterator[Item]) -> Iterator[Item]:
    """Add a note to every row that holds characters which do not belong in text."""
    for item in items:
        if isinstance(item, Row):
            foreign = foreign_characters(item.fields)
            if foreign:
                yield Note(item.file, item.number, "characters", foreign, item.line, item.byte_offset)
                item = replace(item, fields=without_surrogates(item.fields))
        yield item
