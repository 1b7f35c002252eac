"""NuminaMath-1.5: the olympiads split without synthetic, multiple-choice and invalid rows, as in the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from warehouse.readers import Row
from warehouse.sources.draft import Draft, Dropped
from warehouse.sources.generic import Generic

_PLACEHOLDERS = frozenset(("proof", "notfound", "not found"))


class Numina(Generic):
    """Keeps valid, natural, open problems of the kept splits; each reason for dropping is counted."""

    name = "numina"
    splits: ClassVar[frozenset[str] | None] = frozenset(("olympiads",))

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By the validity columns, which no other data set has."""
        return {"problem", "problem_is_valid", "solution_is_valid", "question_type"} <= columns

    def drops(self, fields: Mapping[str, Any]) -> Dropped | None:
        """Drop other splits, synthetic rows, multiple choice, invalid problems and solutions, in this order."""
        split = str(self.cell(fields, "source"))
        if self.splits is not None and split not in self.splits:
            return Dropped("other split", f"source {split!r} is not one of {', '.join(sorted(self.splits))}")
        if str(self.cell(fields, "synthetic")).lower() == "true":
            return Dropped("synthetic", "the row is marked synthetic")
        if str(self.cell(fields, "question_type")).upper() == "MCQ":
            return Dropped("multiple choice", "the question type is MCQ")
        for part in ("problem", "solution"):
            said = self.cell(fields, f"{part}_is_valid")
            if str(said).lower() not in ("yes", "true"):
                return Dropped(f"invalid {part}", f"{part}_is_valid is {said!r}")
        return None

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Forget placeholders for an answer."""
        if (draft.answer or "").strip().lower() in _PLACEHOLDERS:
            draft.answer = None


class NuminaAll(Numina):
    """All splits, by name only (``--reader numina-all``)."""

    name = "numina-all"
    splits = None

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """Never by itself: the paper uses one split."""
        return False
