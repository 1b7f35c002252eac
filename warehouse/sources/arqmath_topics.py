"""ARQMath topics (XML): a title and a question in HTML; the topic number is the id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from warehouse.readers import Row
from warehouse.sources.draft import Draft, text_of
from warehouse.sources.generic import Generic


class ArqmathTopics(Generic):
    """The statement is the title and the question, as a reader of the site sees them."""

    name = "arqmath-topics"
    roles: ClassVar = {"id": "number"}

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By number, title and question."""
        return {"number", "title", "question"} <= columns

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Put the title before the question; part the tags."""
        title, tags = text_of(self.cell(fields, "title")), text_of(self.cell(fields, "tags"))
        if title and draft.statement:
            draft.statement = f"{title}\n\n{draft.statement}"
        if tags:
            draft.metadata["tags"] = [tag.strip() for tag in tags.split(",")]
