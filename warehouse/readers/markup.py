"""XML: every child of the root element is a record, its attributes and its children's texts the fields."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any

from warehouse.readers.records import Item, Limits, Opened, RefusedError, Rejection, Row


def read(opened: Opened, limits: Limits, encoding: str | None = None) -> Iterator[Item]:
    """Yield the records of an XML file; those before a cut or an error are kept.

    Raises
    ------
    RefusedError
        For a document type that declares entities: they can unpack to any size.
    """
    with opened.path.open("rb") as handle:
        if b"<!ENTITY" in handle.read(1 << 16):
            raise RefusedError("declares XML entities, which can unpack to any size; remove the declaration")
        handle.seek(0)
        number, depth = 0, 0
        try:
            for event, element in ElementTree.iterparse(handle, events=("start", "end")):
                depth += 1 if event == "start" else -1
                if event == "end" and depth == 1:
                    number += 1
                    yield _row(opened.name, number, element, limits)
                    element.clear()
        except ElementTree.ParseError as error:
            line, column = error.position
            kind = "cut" if error.code in _ENDS_EARLY else "not XML"
            detail = (
                f"{error.msg if hasattr(error, 'msg') else error} at column {column}; {number} records before it kept"
            )
            if kind == "cut" and depth <= 1:
                # Between records nothing is lost but the closing tag.
                return
            yield Rejection(opened.name, number + 1, kind, detail, line)


# Expat: 3 no element found, 5 unclosed token, 13 unclosed CDATA section.
_ENDS_EARLY = frozenset((3, 5, 13))


def _row(file: str, number: int, element: ElementTree.Element, limits: Limits) -> Item:
    fields: dict[str, Any] = dict(element.attrib)
    for child in element:
        text = "".join(child.itertext())
        fields[child.tag] = text if child.tag not in fields else f"{fields[child.tag]}\n{text}"
    if not len(element) and element.text and element.text.strip():
        fields[element.tag] = element.text
    if sum(len(str(value)) for value in fields.values()) > limits.record_bytes:
        return Rejection(file, number, "record too long", f"longer than the limit of {limits.record_bytes} bytes")
    return Row(file, number, fields)
