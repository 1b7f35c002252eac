"""AMO-Bench: original olympiad problems; the prompt column ends in instructions on the answer's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from warehouse.cleaning.credits import strip_instructions
from warehouse.cleaning.latex import boxed_answer
from warehouse.readers import Row
from warehouse.sources.draft import Draft
from warehouse.sources.generic import Generic


class AmoBench(Generic):
    """Takes the instructions off the prompt; keeps the answer type, on which grading depends."""

    name = "amo-bench"
    roles: ClassVar = {"statement": "prompt", "id": "question_id"}

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By question id, prompt and answer type."""
        return {"question_id", "prompt", "answer_type"} <= columns

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        r"""Strip the instructions; take the answer out of its ``\boxed{}``."""
        draft.statement = strip_instructions(draft.statement) if draft.statement else None
        draft.answer = draft.answer and (boxed_answer(draft.answer) or draft.answer)
