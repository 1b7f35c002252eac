"""What a source reader makes of one row: a draft of a problem, or the reason why the row is dropped."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

# Texts that say "there is none" (data sets write null in many ways).
_NULLS = frozenset(("", "null", "nan", "n/a", "[]", "{}"))
_ABSENT = _NULLS | frozenset(("none", "none.", "na", "-", "--", "no solution", "no solution."))


@dataclass
class Draft:
    """A problem before it gets its hash.

    Attributes
    ----------
    id : str, optional
        Id within the file; with ``id_is_whole`` within the source.
    metadata : dict
        Every column that is not one of the texts.
    """

    statement: str | None
    solution: str | None = None
    answer: str | None = None
    id: str | None = None
    id_is_whole: bool = False
    language: str | None = None
    licence: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Dropped:
    """A row the source leaves out by design (synthetic, multiple choice, ...)."""

    kind: str
    detail: str


def text_of(value: Any) -> str | None:
    """Read a cell as text: None when it holds none or only a word for "nothing".

    Numbers become their shortest form (18.0 -> "18"); of a list the first text counts (further solutions
    stay in the metadata); of a chat the last message that is the user's.
    """
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return None if value.strip().lower() in _ABSENT else value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list):
        if value and all(isinstance(item, dict) and "content" in item for item in value):
            return text_of(next((m["content"] for m in reversed(value) if m.get("role") == "user"), None))
        return next((text for item in value if (text := text_of(item))), None)
    return None


def texts_of(value: Any) -> list[str]:
    """Read a cell as a list of texts, those that say nothing left out."""
    values = value if isinstance(value, list) else [value]
    return [text for item in values if (text := text_of(item))]


def answer_of(value: Any) -> str | None:
    """Read a cell as one answer: several values are joined, truth values are words, "None" is an answer."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return None if value.strip().lower() in _NULLS else value
    if isinstance(value, list):
        return ", ".join(text for item in value if (text := answer_of(item))) or None
    return text_of(value)


def id_of(value: Any) -> str | None:
    """Read a cell as an id: text or a whole number."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else None
    return str(value).strip() or None if isinstance(value, str | int) else None


def metadata_text(metadata: dict[str, Any]) -> str:
    """Metadata as JSON text: empty cells left out, bytes (images) by their length alone."""
    kept = {key: _plain(value) for key, value in metadata.items() if not _is_empty(value)}
    return json.dumps(kept, ensure_ascii=False, default=str)


def _number(value: float) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {}) or (isinstance(value, float) and math.isnan(value))


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": len(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
