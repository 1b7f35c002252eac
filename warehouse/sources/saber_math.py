"""SABER-Math as released: queries whose ``candidates`` are 0-based row positions in the documents.

Positions run on over the files of one ingest, so a set in several Parquet shards must be ingested at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.readers import Row
from warehouse.sources.draft import Draft
from warehouse.sources.generic import Generic


class SaberMathQueries(Generic):
    """Query n is ``query:n``; its candidates are named like the documents (``document:17``)."""

    name = "saber-queries"
    _kind = "query"

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By candidates and their relevance scores."""
        return {"problem", "candidates", "relevance_scores"} <= columns

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Name the row by its position and its candidates by theirs."""
        draft.id, draft.id_is_whole = f"{self._kind}:{position}", True
        candidates = self.cell(fields, "candidates")
        if isinstance(candidates, list):
            draft.metadata["candidates"] = [f"document:{place}" for place in candidates]


class SaberMathDocuments(SaberMathQueries):
    """Document n is ``document:n``; the columns tell nothing, so this reader is chosen by name."""

    name = "saber-documents"
    _kind = "document"

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """Never by itself."""
        return False
