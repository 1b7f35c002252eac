"""What JSON Lines and JSON documents share: decoding a value, and finding the records inside one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

KEY = "_key"  # where the key of an object of objects is kept

_WRAPPERS = frozenset(("data", "rows", "records", "items", "examples", "instances", "problems", "questions"))

# A bare NaN or Infinity is no JSON; Python would read it as a number that no later step expects.
DECODER = json.JSONDecoder(parse_constant=lambda _: None, strict=False)


class BadValueError(Exception):
    """A value that is no JSON; carries the character where decoding stopped."""

    def __init__(self, message: str, position: int, ends_early: bool) -> None:
        super().__init__(message)
        self.position, self.ends_early = position, ends_early


def decode_at(text: str, position: int) -> tuple[Any, int]:
    """Decode the JSON value that begins at ``position``; return it and where it ends.

    Raises
    ------
    BadValueError
        On anything Python's decoder refuses, nesting beyond its stack and absurd integers included.
    """
    try:
        return DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        ends_early = not text[error.pos :].strip() or error.msg.startswith("Unterminated string")
        raise BadValueError(error.msg.lower(), error.pos, ends_early) from error
    except (RecursionError, ValueError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error).split(";")[0].lower()
        raise BadValueError(reason, position, False) from error


def records(value: Any) -> Iterator[dict[str, Any] | None]:
    """Yield the records that one value holds, None for each thing that is no record.

    An object whose values are all objects is a collection (``{"Problem_1": {...}}``): each inner object
    is a record and keeps its key under ``_key``. An object with a list called "data" or the like is a wrapper.
    """
    if isinstance(value, list):
        for item in value:
            yield item if isinstance(item, dict) else None
    elif not isinstance(value, dict):
        yield None
    elif value and all(isinstance(inner, dict) for inner in value.values()):
        for key, inner in value.items():
            yield {KEY: key, **inner}
    elif (wrapped := _wrapped(value)) is not None:
        yield from records(wrapped)
    else:
        yield value


def _wrapped(value: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The records of a wrapper such as {"version": 1, "data": [{...}, ...]}; None for any other object."""
    wrapping = [key for key in value if key.lower() in _WRAPPERS]
    inner = value[wrapping[0]] if len(wrapping) == 1 else None
    if isinstance(inner, list) and inner and all(isinstance(item, dict) for item in inner):
        return inner
    return None
