"""HARP: contest problems keyed by year, contest and number, with several human solutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.readers import Row
from warehouse.sources.draft import Draft
from warehouse.sources.generic import Generic


class Harp(Generic):
    """Makes the contest key the id ("1972/USAMO/1"), as HARP's own label files do."""

    name = "harp"

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By year, contest and number beside the problem."""
        return {"year", "contest", "number", "problem"} <= columns

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Build the id."""
        draft.id = "/".join(str(self.cell(fields, key)) for key in ("year", "contest", "number"))
