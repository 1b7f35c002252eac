"""Landing of problems as their source gives them, without undoing what later steps made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from warehouse.landing import Landing

# Metadata are parsed only where a step has noted itself.
AS_SOURCED = """
case
    when metadata like '%"steps"%'
    then
        coalesce(json_array_length(metadata, '$.steps'), 0) = 0
        or (
            json_array_length(metadata, '$.steps') = 1
            and json_extract_string(metadata, '$.steps[0].step') = 'segment'
        )
    else true
end
"""
"""SQL over ``problems``: whether a version is as the source gave it (segmentation is how a document gives it)."""


def land_sourced(landing: Landing, rows: Iterable[Mapping[str, Any]], job_id: str) -> int:
    """Land those problem records whose source changed; return how many.

    A record is held against the latest version that its source gave, not against the versions that steps such as
    translation made of it: reading a file again must not bring the untranslated text back.
    """
    return landing.append_new("problems", rows, job_id, where=AS_SOURCED).rows
