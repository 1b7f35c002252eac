"""What an export is asked for, and what every manifest says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

from warehouse.collection import Collection, load_collection
from warehouse.exports.gains import gain
from warehouse.runs import Runs
from warehouse.settings import Settings
from warehouse.texts import MAIN_SETTING, forms


@dataclass(frozen=True)
class ExportRequest:
    """One export.

    Attributes
    ----------
    settings
        Whose home and variant to read.
    benchmark
        Name of the benchmark; None for that of the settings.
    setting
        Which texts queries and documents show (see :mod:`warehouse.texts`).
    scope
        Documents: ``candidates`` of the queries, or the whole eligible ``corpus``.
    run_ids
        Runs to export; None for all.
    """

    settings: Settings
    benchmark: str | None = None
    setting: str = MAIN_SETTING
    scope: str = "candidates"
    run_ids: Sequence[str] | None = None

    @cached_property
    def collection(self) -> Collection:
        """The benchmark."""
        return load_collection(self.settings, self.benchmark, self.scope)

    @cached_property
    def runs(self) -> Runs:
        """The runs."""
        return Runs(self.settings, self.collection, self.run_ids)

    @property
    def query_form(self) -> str:
        """Form of the queries' texts."""
        return forms(self.setting)[0]

    @property
    def document_form(self) -> str:
        """Form of the documents' texts."""
        return forms(self.setting)[1]

    def graded(self) -> list[tuple[str, str, int]]:
        """Return (query, document, integer gain) of every judged pair."""
        return [
            (row["query_id"], row["document_id"], gain(row["relevance"]))
            for row in self.collection.qrels
            if row["relevance"] is not None
        ]

    def manifest(self, kind: str, ids: str) -> dict[str, Any]:
        """Return what the manifest of any export says."""
        collection = self.collection
        return {
            "saber_export": kind,
            "package": f"saber-warehouse {version('saber-warehouse')}",
            "benchmark": collection.name,
            "variant": collection.variant,
            "build_id": collection.build_id,
            "setting": self.setting,
            "scope": self.scope,
            "ids": ids,
            "gain": "round(1000 * (2^relevance - 1))",
            "judge": collection.judge,
            "share_judged": collection.share_judged,
            "queries": len(collection.query_ids),
            "documents": len(collection.document_ids),
            "judged_pairs": len(self.graded()),
            "licences": collection.licences,
        }
