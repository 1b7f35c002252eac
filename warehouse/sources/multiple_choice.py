"""Multiple choice (AGIEval and its like): options in a list, the letter of the right one in ``label``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.readers import Row
from warehouse.sources.draft import Draft, text_of, texts_of
from warehouse.sources.generic import Generic


class MultipleChoice(Generic):
    """Sets the options below the question and gives the right option as the answer."""

    name = "multiple-choice"

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By question, options and label."""
        return {"question", "options", "label"} <= columns

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Join passage, question and options; look into ``other`` for a solution."""
        options = texts_of(self.cell(fields, "options"))
        passage, label = text_of(self.cell(fields, "passage")), text_of(self.cell(fields, "label"))
        if draft.statement:
            draft.statement = "\n".join(part for part in (passage, draft.statement, *options) if part)
        if label and draft.answer is None:
            place = ord(label.strip()[:1].upper()) - ord("A")
            draft.answer = options[place] if 0 <= place < len(options) else label
        other = self.cell(fields, "other")
        if draft.solution is None and isinstance(other, dict):
            draft.solution = text_of(other.get("solution"))
        draft.metadata["question_type"] = "multiple choice"
