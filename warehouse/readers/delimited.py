"""CSV and TSV, with and without a header, read by Python's csv module in its strict mode.

The csv module is chosen over faster readers because it alone tells, record by record, what is wrong and on
which line, and goes on with the next one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from warehouse.readers.records import Item, Limits, Note, Opened, Rejection, Row
from warehouse.readers.text import decode, lines, open_text

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}
_NAME = re.compile(r"[^\W\d][\w .()/#-]{0,39}\Z")


@dataclass(frozen=True)
class Dialect:
    """How a delimited file is written: what parts its fields, whether quotes mean anything, its header."""

    delimiter: str
    quoted: bool
    header: bool


def read(
    opened: Opened, limits: Limits, encoding: str | None = None, names: frozenset[str] = frozenset()
) -> Iterator[Item]:
    """Yield the rows of a delimited file.

    Parameters
    ----------
    names : frozenset of str
        Lower-case column names; a first record that bears one of them is a header.

    Notes
    -----
    Columns without a header are called ``column_1``, ``column_2``, ... A record whose number of fields
    differs from the first one's is rejected (empty fields too many at its end are cut off), as is one
    whose quote is never closed: what such a quote swallowed cannot be told apart.
    """
    csv.field_size_limit(max(csv.field_size_limit(), limits.record_bytes))
    handle, offset, remark = open_text(opened.path, limits, encoding)
    if remark:
        yield Note(opened.name, None, "encoding", remark)
    with handle:
        position = handle.tell()
        sample = decode(handle.read(1 << 18))[0]
        handle.seek(position)
        dialect = guess(sample, names, opened.name)
        yield from _rows(_Feed(opened.name, handle, offset, limits), dialect)


def guess(sample: str, names: frozenset[str], file_name: str) -> Dialect:
    """Tell the dialect from the beginning of a file."""
    complete = sample.splitlines(keepends=True)
    complete = complete[:-1] if len(complete) > 1 and len(sample) >= 1 << 18 else complete
    preferred = "\t" if file_name.lower().endswith((".tsv", ".tab")) else ","
    delimiter = max(DELIMITERS, key=lambda sign: (*_fit(complete, sign), sign == preferred))
    quoted = delimiter != "\t" or _tab_quotes(complete)
    first = next(_parsed(complete, delimiter, quoted), [])
    return Dialect(delimiter, quoted, is_header(first, names))


def is_header(first: list[str], names: frozenset[str]) -> bool:
    """Whether a record names columns: one known name, or short names throughout, distinct or one of them known."""
    cells = [cell.strip().lower() for cell in first]
    known = any(plain(cell) in names for cell in cells)
    named = len(cells) > 1 and all(cell.isascii() and _NAME.match(cell) for cell in cells)
    distinct = len(set(cells)) == len(cells)
    return bool(cells) and ((distinct and (known or named)) or (known and named))


def plain(name: str) -> str:
    """Column name for comparison: lower case, spaces and hyphens as underscores."""
    return re.sub(r"[\s\-]+", "_", name.strip().lower())


def _fit(complete: list[str], delimiter: str) -> tuple[int, int]:
    """(records as wide as the first, width), (0, 0) when the delimiter parts nothing."""
    widths = [
        len(record) for _, record in zip(range(50), _parsed(complete, delimiter, delimiter != "\t"), strict=False)
    ]
    if not widths or widths[0] < 2:
        return 0, 0
    return sum(width == widths[0] for width in widths), widths[0]


def _parsed(complete: list[str], delimiter: str, quoted: bool) -> Iterator[list[str]]:
    reader = csv.reader(complete, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    try:
        yield from (record for record in reader if record)
    except csv.Error:
        return


def _tab_quotes(complete: list[str]) -> bool:
    """Whether quotes enclose fields: in most TSV files they are plain characters of the text."""
    cells = [cell.strip() for line in complete for cell in line.split("\t") if '"' in cell]
    enclosed = [cell for cell in cells if len(cell) > 1 and cell.startswith('"') and cell.endswith('"')]
    return bool(cells) and len(enclosed) == len(cells)


class _Feed:
    """Lines for the csv module that remember where the record at hand began."""

    def __init__(self, name: str, handle: IO[bytes], offset: int, limits: Limits) -> None:
        self.name, self.limits = name, limits
        self._lines = lines(handle, offset, limits)
        self.line: int | None = None
        self.offset: int | None = None
        self.last = 0
        self.items: list[Item] = []

    def mark(self) -> None:
        self.line = self.offset = None

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.last = line.number
            if line.data is None:
                detail = f"longer than the limit of {self.limits.record_bytes} bytes"
                self.items.append(Rejection(self.name, None, "line too long", detail, line.number, line.offset))
                if self.line is None:
                    continue
                return  # inside a quoted field: what follows would be read with the wrong quotes
            if self.line is None:
                self.line, self.offset = line.number, line.offset
            text, bad = decode(line.data)
            if bad is not None:
                detail = (
                    f"not UTF-8 at byte {line.offset + bad}, read as Windows-1252; name --encoding if that is wrong"
                )
                self.items.append(Note(self.name, None, "encoding", detail, line.number, line.offset + bad))
            yield text


def _rows(feed: _Feed, dialect: Dialect) -> Iterator[Item]:
    reader = csv.reader(
        feed,
        delimiter=dialect.delimiter,
        quoting=csv.QUOTE_MINIMAL if dialect.quoted else csv.QUOTE_NONE,
        strict=dialect.quoted,
    )
    columns: list[str] | None = None
    number = 0
    while True:
        feed.mark()
        try:
            record: list[str] | None = next(reader, None)
        except csv.Error as error:
            yield from _drain(feed)
            number += 1
            yield _broken(feed, number, str(error))
            continue
        yield from _drain(feed)
        if record is None:
            return
        if not any(cell.strip() for cell in record):
            continue
        if columns is None:
            columns = _columns(record, dialect.header)
            if dialect.header:
                renamed = [name for name, cell in zip(columns, record, strict=True) if cell.strip() not in ("", name)]
                if renamed:
                    detail = f"a column name stands more than once, the later ones are called {', '.join(renamed)}"
                    yield Note(feed.name, None, "header", detail, feed.line, feed.offset)
                continue
        number += 1
        yield _row(feed, number, columns, record)


def _drain(feed: _Feed) -> Iterator[Item]:
    yield from feed.items
    feed.items.clear()


def _broken(feed: _Feed, number: int, reason: str) -> Rejection:
    if reason == "unexpected end of data":
        detail = f"a quote opened here is never closed; the lines up to {feed.last} were taken as one field"
        return Rejection(feed.name, number, "cut inside a quote", detail, feed.line, feed.offset)
    if "field larger" in reason:
        detail = f"longer than the limit of {feed.limits.record_bytes} bytes, perhaps a quote that is never closed"
        return Rejection(feed.name, number, "record too long", detail, feed.line, feed.offset)
    if "expected after" in reason:
        reason = "text follows a closing quote; a quote is missing or is not doubled"
    return Rejection(feed.name, number, "quoting", reason, feed.line, feed.offset)


def _columns(record: list[str], header: bool) -> list[str]:
    if not header:
        return [f"column_{index}" for index in range(1, len(record) + 1)]
    columns: list[str] = []
    for index, cell in enumerate(record, start=1):
        name = cell.strip() or f"column_{index}"
        # The first column of a name keeps it; a later one must not overwrite it.
        columns.append(name if name not in columns else f"{name}_{index}")
    return columns


def _row(feed: _Feed, number: int, columns: list[str], record: list[str]) -> Item:
    while len(record) > len(columns) and not record[-1].strip():
        record.pop()
    if len(record) != len(columns):
        detail = f"{len(record)} fields where the first record has {len(columns)}"
        return Rejection(feed.name, number, "field count", detail, feed.line, feed.offset)
    fields: dict[str, Any] = {name: value or None for name, value in zip(columns, record, strict=True)}
    return Row(feed.name, number, fields, feed.line, feed.offset)
