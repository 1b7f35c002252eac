"""IMO-Bench (AnswerBench, ProofBench): CSV with short answers, categories and grading guidelines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from warehouse.readers import Row
from warehouse.sources.generic import Generic


class ImoBench(Generic):
    """The short answer is the answer; AnswerBench has no solutions."""

    name = "imo-bench"
    roles: ClassVar = {"solution": "solution", "answer": "short_answer"}

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By problem id, short answer and category."""
        return {"problem_id", "problem", "short_answer", "category"} <= columns
