"""Sources of problems: one small module a layout, one entrance, :func:`ingest_problems`."""

from warehouse.sources.columns import parse_mapping
from warehouse.sources.ingest import FileCount, Ingested, ingest_problems

__all__ = ["FileCount", "Ingested", "ingest_problems", "parse_mapping"]
