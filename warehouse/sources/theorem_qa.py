"""TheoremQA: questions with typed answers; "explanation" is a file name, not a solution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from warehouse.readers import Row
from warehouse.sources.generic import Generic


class TheoremQa(Generic):
    """No worked solutions; theorem, subfield and answer type stay in the metadata."""

    name = "theorem-qa"
    roles: ClassVar = {"solution": ""}

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By theorem, subfield and answer type."""
        return {"question", "answer", "theorem", "subfield", "answer_type"} <= columns
