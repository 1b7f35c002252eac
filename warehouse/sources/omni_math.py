"""Omni-MATH: problems with several domain paths ("Mathematics -> Algebra -> ...") and a difficulty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.readers import Row
from warehouse.sources.draft import Draft, texts_of
from warehouse.sources.generic import Generic


class OmniMath(Generic):
    """Keeps every domain path as a list of its steps, the root left out."""

    name = "omni-math"

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By domain, difficulty and source beside the problem."""
        return {"domain", "difficulty", "problem", "solution", "source"} <= columns

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Split the domain paths; call the source a contest."""
        paths = [[step.strip() for step in path.split("->")] for path in texts_of(self.cell(fields, "domain"))]
        draft.metadata["domains"] = [path[1:] if path[0] == "Mathematics" else path for path in paths]
        draft.metadata["contest"] = self.cell(fields, "source")
        draft.metadata.pop("domain", None)
        draft.metadata.pop("source", None)
