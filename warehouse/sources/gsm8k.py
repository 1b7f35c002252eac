"""GSM8K: the answer column is a worked solution that ends in "#### 72" and holds calculator notes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from warehouse.readers import Row
from warehouse.sources.draft import Draft
from warehouse.sources.generic import Generic

_CALCULATOR = re.compile(r"<<[^<>\n]*>>")


class Gsm8k(Generic):
    """Parts the final answer from the solution and takes the calculator notes out."""

    name = "gsm8k"
    roles: ClassVar = {"solution": "answer", "answer": ""}

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By the "####" before the final answer."""
        head = rows[:20]
        marked = sum("\n#### " in str(row.fields.get("answer")) for row in head)
        return {"question", "answer"} == columns - {"id", "idx"} and 2 * marked > len(head)

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Split at the last "####"."""
        solution, mark, answer = (draft.solution or "").rpartition("\n#### ")
        if mark:
            draft.solution = _CALCULATOR.sub("", solution).strip() or None
            draft.answer = answer.strip() or None
