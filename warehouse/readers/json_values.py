"""What JSON Lines and JSON documents share: decoding a value, and finding the records inside one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

KEY = "_key"  # where the key of an object of objects is kept

_WRAPPERS = frozenset(("data", "rows", "records", "items", "examples", "instances", "problems", "questions"))

# Later steps walk through values by recursion; no data set nests its records anywhere near as deeply.
DEEPEST = 100


class BadValueError(Exception):
    """A value that is no JSON; carries the character where decoding stopped."""

    def __init__(self, message: str, position: int, ends_early: bool) -> None:
        super().__init__(message)
        self.position, self.ends_early = position, ends_early


def decode_at(text: str, position: int, remarks: list[str] | None = None) -> tuple[Any, int]:
    """Decode the JSON value that begins at ``position``; return it and where it ends.

    Parameters
    ----------
    remarks : list of str, optional
        Gets a remark on what was read although it is doubtful: a repeated key (the last one counts), and a bare
        NaN or Infinity, which is no JSON and would be a number that no later step expects (read as null).

    Raises
    ------
    BadValueError
        On anything Python's decoder refuses, absurd integers included, and nesting beyond ``DEEPEST``.
    """
    said: list[str] = [] if remarks is None else remarks
    decoder = json.JSONDecoder(
        parse_constant=lambda name: said.append(f"{name} is no JSON value, read as null"),
        object_pairs_hook=lambda pairs: _object(pairs, said),
        strict=False,
    )
    try:
        value, end = decoder.raw_decode(text, position)
    except json.JSONDecodeError as error:
        ends_early = not text[error.pos :].strip() or error.msg.startswith("Unterminated string")
        raise BadValueError(error.msg.lower(), error.pos, ends_early) from error
    except (RecursionError, ValueError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error).split(";")[0].lower()
        raise BadValueError(reason, position, False) from error
    # Counting brackets is cheap and spares nearly all records the walk.
    if text.count("[", position, end) + text.count("{", position, end) > DEEPEST and _is_deep(value):
        raise BadValueError(f"nested too deeply (more than {DEEPEST} levels)", position, False)
    return value, end


def _object(pairs: list[tuple[str, Any]], said: list[str]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = sorted({name for name in names if names.count(name) > 1}) if len(names) < 1000 else ["of many"]
        said.append(f"key {', '.join(map(repr, repeated[:3]))} stands more than once, the last one counts")
    return made


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        inner = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        level = [item for items in inner for item in items]
        if not level:
            return False
    return True


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
