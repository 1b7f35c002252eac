"""MATH (Hendrycks et al.): problem, level, type, solution; the answer is the last box of the solution."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.cleaning.latex import boxed_answer
from warehouse.readers import Row
from warehouse.sources.draft import Draft
from warehouse.sources.generic import Generic


class CompetitionMath(Generic):
    """Keeps the subject and the level (1 to 5) in the metadata and takes the answer from the box."""

    name = "math"

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By level and type (or subject) beside problem and solution, nothing of a contest."""
        return (
            {"problem", "solution", "level"} <= columns
            and bool({"type", "subject"} & columns)
            and (not {"contest", "year", "reward_model"} & columns)
        )

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Add level, subject and answer."""
        level = re.search(r"\d", str(self.cell(fields, "level")))
        draft.metadata["level"] = int(level.group()) if level else None
        draft.metadata["subject"] = self.cell(fields, "type") or self.cell(fields, "subject")
        draft.metadata.pop("type", None)
        draft.answer = draft.answer or boxed_answer(draft.solution or "")
