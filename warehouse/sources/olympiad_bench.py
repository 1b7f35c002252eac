"""OlympiadBench: lists of solutions and answers, a context before the question, units, images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from warehouse.readers import Row
from warehouse.sources.draft import Draft, answer_of, text_of
from warehouse.sources.generic import Generic

_LANGUAGES = {"english": "en", "chinese": "zh"}


class OlympiadBench(Generic):
    """Puts the context before the question and the unit behind the answer."""

    name = "olympiad-bench"
    roles: ClassVar = {"answer": "final_answer"}

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By subfield, context and answer type."""
        return {"subfield", "context", "answer_type", "solution"} <= columns

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Join context, unit and language; keep images as references."""
        context, unit = text_of(self.cell(fields, "context")), text_of(self.cell(fields, "unit"))
        if context and draft.statement:
            draft.statement = f"{context}\n\n{draft.statement}"
        if draft.answer is None:
            reward = self.cell(fields, "reward_model")
            draft.answer = answer_of(reward.get("ground_truth")) if isinstance(reward, dict) else None
        if unit and draft.answer:
            draft.answer = f"{draft.answer} {unit}"
        draft.language = _LANGUAGES.get((draft.language or "").lower(), draft.language)
        for key in ("prompt", "extra_info", "reward_model", "ability", "final_answer"):
            draft.metadata.pop(key, None)
