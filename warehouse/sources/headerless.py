"""Two columns without a header: texts with numbers (MGSM) or ids with texts (query files)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any, ClassVar

from warehouse.readers import Row
from warehouse.sources.draft import Draft
from warehouse.sources.generic import Generic

_NUMBER = re.compile(r"-?[\d.,]+%?\Z")
_ID = re.compile(r"\S{1,200}\Z")
_LANGUAGE = re.compile(r"(?:^|[_.-])([a-z]{2})(?:[_.-]|\Z)")
_TEXT_LENGTH = 40


class TextAndAnswer(Generic):
    """First column a text, second a number; a two-letter part of the file name is the language.

    The row number is the id, so that the same problem in two languages has the same number.
    """

    name = "text-and-answer"
    roles: ClassVar = {"statement": "column_1", "answer": "column_2", "solution": ""}

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By the cells: long texts, then numbers throughout."""
        return columns == {"column_1", "column_2"} and _long(rows, "column_1") and _all(rows, "column_2", _NUMBER)

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Take the language from the file's name and the id from the row's."""
        language = _LANGUAGE.search(self.file.rpartition("!")[2].rpartition(".")[0])
        draft.language = draft.language or (language.group(1) if language else None)
        draft.id = str(position - self.rows_before + 1)


class IdAndText(Generic):
    """First column an id without spaces, all different; second a text."""

    name = "id-and-text"
    roles: ClassVar = {"statement": "column_2", "id": "column_1", "solution": "", "answer": ""}

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By the cells: distinct ids, then long texts."""
        ids = [row.fields.get("column_1") for row in rows]
        shaped = columns == {"column_1", "column_2"} and _all(rows, "column_1", _ID) and len(set(ids)) == len(ids)
        return shaped and _long(rows, "column_2")


def _long(rows: Sequence[Row], name: str) -> bool:
    return bool(rows) and mean(len(str(row.fields.get(name) or "")) for row in rows) >= _TEXT_LENGTH


def _all(rows: Sequence[Row], name: str, pattern: re.Pattern[str]) -> bool:
    return all(pattern.match(str(row.fields.get(name) or "")) for row in rows)
