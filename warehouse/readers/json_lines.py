"""JSON Lines: one JSON object a line. Row numbers are line numbers."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.readers.json_values import BadValueError, decode_at, records
from warehouse.readers.records import Item, Limits, Note, Opened, Rejection, Row
from warehouse.readers.text import Line, decode, lines, open_text


def read(opened: Opened, limits: Limits, encoding: str | None = None) -> Iterator[Item]:
    """Yield the rows of a JSON Lines file; a bad line is rejected and the next one read."""
    handle, offset, remark = open_text(opened.path, limits, encoding)
    if remark:
        yield Note(opened.name, None, "encoding", remark)
    with handle:
        for line in lines(handle, offset, limits):
            yield from _line(opened.name, line, limits)


def _line(file: str, line: Line, limits: Limits) -> Iterator[Item]:
    number, offset = line.number, line.offset
    if line.data is None:
        detail = f"longer than the limit of {limits.record_bytes} bytes"
        yield Rejection(file, number, "line too long", detail, number, offset)
        return
    text, bad = decode(line.data)
    if bad is not None:
        detail = f"not UTF-8 from byte {offset + bad} on, read as Windows-1252; name --encoding if that is wrong"
        yield Note(file, number, "encoding", detail, number, offset + bad)
    text = text.strip().removeprefix("\x1e")  # U+001E begins each record of RFC 7464 sequences
    if not text:
        return
    try:
        remarks: list[str] = []
        value, end = decode_at(text, 0, remarks)
        if text[end:].strip():
            raise BadValueError("extra data after the object", end, False)
    except BadValueError as error:
        cut = error.ends_early and not line.ended
        at = offset + len(text[: error.position].encode("utf-8", "replace"))
        detail = "the last line is cut before its end" if cut else str(error)
        yield Rejection(file, number, "cut" if cut else "not JSON", detail, number, at)
        return
    for remark in dict.fromkeys(remarks):
        yield Note(file, number, "value", remark, number, offset)
    for fields in list(records(value)) or [None]:  # an empty list is a line that holds no record
        if fields is None:
            yield Rejection(file, number, "not a record", "the value is no JSON object", number, offset)
        else:
            yield Row(file, number, fields, number, offset)
