"""JSON documents: a list of objects, an object of objects, a wrapper, or several values one after another.

The document is stepped through member by member, so that the records before a cut or an error are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from warehouse.readers.json_values import KEY, BadValueError, decode_at, records
from warehouse.readers.records import Item, Limits, Note, Opened, RefusedError, Rejection, Row
from warehouse.readers.text import decode, open_text

_SPACE = re.compile(r"[ \t\r\n\x1e]*")


def read(opened: Opened, limits: Limits, encoding: str | None = None) -> Iterator[Item]:
    """Yield the rows of a JSON document, numbered in the order they stand in the file.

    Raises
    ------
    RefusedError
        When the document is larger than ``limits.document_bytes``.
    """
    handle, offset, remark = open_text(opened.path, limits, encoding)
    with handle:
        data = handle.read(limits.document_bytes + 1)
    if len(data) > limits.document_bytes:
        raise RefusedError(f"a JSON document of more than {limits.document_bytes} bytes; turn it into JSON Lines")
    if remark:
        yield Note(opened.name, None, "encoding", remark)
    text, bad = decode(data)
    if bad is not None:
        detail = f"not UTF-8 from byte {offset + bad} on, read as Windows-1252; name --encoding if that is wrong"
        yield Note(opened.name, None, "encoding", detail, None, offset + bad)
    del data
    yield from _document(opened.name, text, offset, limits)


def _document(file: str, text: str, offset: int, limits: Limits) -> Iterator[Item]:
    cursor, number = _Cursor(text), 0
    try:
        while cursor.skip():
            for fields, length in _top(cursor):
                number += 1
                for remark in cursor.remarked():
                    yield Note(file, number, "value", remark)
                if fields is None:
                    yield Rejection(file, number, "not a record", "the value is no JSON object")
                elif length > limits.record_bytes:
                    detail = f"longer than the limit of {limits.record_bytes} bytes"
                    yield Rejection(file, number, "record too long", detail)
                else:
                    yield Row(file, number, fields)
    except BadValueError as error:
        at = offset + len(text[: error.position].encode("utf-8", "replace"))
        line = text.count("\n", 0, error.position) + 1
        kind = "cut" if error.ends_early else "not JSON"
        what = "the document ends inside a value" if error.ends_early else str(error)
        detail = f"{what}; the {number} records before it are kept, nothing after it was read"
        yield Rejection(file, number + 1, kind, detail, line, at)


def _top(cursor: _Cursor) -> Iterator[tuple[dict[str, Any] | None, int]]:
    """Yield (record, length in characters) for the records of the next value of the document."""
    sign = cursor.text[cursor.position]
    if sign == "[":
        for _, value, length in cursor.members():
            yield (value if isinstance(value, dict) else None), length
        return
    if sign != "{":
        cursor.value()
        yield None, 0
        return
    held: list[tuple[str, Any, int]] = []  # no dict: two records may bear one key
    failure = None
    try:
        for key, value, length in cursor.members():
            held.append((key, value, length))
    except BadValueError as error:
        failure = error
    if all(isinstance(value, dict) for _, value, _ in held):
        for key, value, length in held:
            yield {KEY: key, **value}, length
    elif failure is None:
        cursor.remark_repeated([key for key, _, _ in held])
        for fields in records({key: value for key, value, _ in held}):
            yield fields, 0
    if failure is not None:
        raise failure


class _Cursor:
    """A place in a JSON text that moves forward value by value."""

    def __init__(self, text: str) -> None:
        self.text, self.position = text, 0
        self._remarks: list[str] = []

    def skip(self) -> bool:
        """Step over white space; False at the end of the text."""
        found = _SPACE.match(self.text, self.position)
        self.position = found.end() if found else self.position
        return self.position < len(self.text)

    def value(self) -> Any:
        """Decode the value here and step behind it."""
        value, self.position = decode_at(self.text, self.position, self._remarks)
        return value

    def remarked(self) -> list[str]:
        """Hand out, once each, the remarks on what was decoded since the last call."""
        remarks, self._remarks = list(dict.fromkeys(self._remarks)), []
        return remarks

    def remark_repeated(self, keys: list[str]) -> None:
        """Remark on keys of an object that stand more than once."""
        repeated = sorted({key for key in keys if keys.count(key) > 1}) if len(set(keys)) < len(keys) else []
        if repeated:
            shown = ", ".join(map(repr, repeated[:3]))
            self._remarks.append(f"key {shown} stands more than once, the last one counts")

    def members(self) -> Iterator[tuple[str, Any, int]]:
        """Yield (key, value, length) of the list or object here and step behind it; keys of lists are ""."""
        opening = self.text[self.position]
        closing = "]" if opening == "[" else "}"
        self.position += 1
        if self._next(closing):
            self.position += 1
            return
        while True:
            begins, key = self.position, ""
            if opening == "{":
                key = self._key()
            value = self.value()
            yield key, value, self.position - begins
            if self._next(closing):
                self.position += 1
                return
            self._expect(",")
            # A comma before the closing bracket is no JSON, but hand-edited files have it and mean no harm.
            if self._next(closing):
                self.position += 1
                return

    def _key(self) -> str:
        begins = self.position
        key = self.value()
        if not isinstance(key, str):
            raise BadValueError("a key is no string", begins, False)
        self._expect(":")
        self._next("")
        return key

    def _next(self, sign: str) -> bool:
        if not self.skip():
            raise BadValueError("the text ends", self.position, True)
        return bool(sign) and self.text[self.position] == sign

    def _expect(self, sign: str) -> None:
        if not self._next(sign):
            raise BadValueError(f"expected {sign!r}", self.position, False)
        self.position += 1
