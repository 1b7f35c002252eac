"""Scores of systems on leaderboards published elsewhere, to be compared with ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from warehouse.imports.kinds import Kind, Row
from warehouse.imports.records import Record


class Scores(Kind):
    """External scores: a row a system and measure."""

    table = "external_scores"
    key = ("leaderboard", "system", "measure")
    aliases: ClassVar[dict[str, tuple[str, ...]]] = {
        "system": ("model",),
        "measure": ("metric", "column"),
        "value": ("score",),
    }

    def convert(self, record: Record) -> Iterator[Row]:
        """Give one row; without an origin of its own the file is where it comes from."""
        fields = self.fields(record)
        yield {
            "leaderboard": fields.text("leaderboard"),
            "system": fields.text("system"),
            "measure": fields.text("measure"),
            "value": fields.real("value"),
            "origin": fields.optional_text("origin") or record.origin,
        }
