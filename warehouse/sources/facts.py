"""What is known of a source and not of its rows: licence and language, by flag or by ``[sources.NAME]``."""

from __future__ import annotations

from typing import NamedTuple

from warehouse.settings import Settings


class SourceFacts(NamedTuple):
    """Values for rows that name none themselves."""

    language: str | None
    licence: str | None


def source_facts(
    settings: Settings, source: str, language: str | None = None, licence: str | None = None
) -> SourceFacts:
    """Return what holds for the rows of a source: the flags of the command, else the settings."""
    table = settings.sources.get(source, {})
    return SourceFacts(language or table.get("language"), licence or table.get("licence"))
