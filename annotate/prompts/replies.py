"""Strict reading of JSON replies: one object or a named failure, never a guess."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from annotate.calls.validate import InvalidReply, strip_reasoning

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def only_object(text: str | None) -> dict[str, Any]:
    """Return the one JSON object of a reply.

    A reasoning block before it is dropped, and prose or Markdown fences around the object are tolerated as
    long as no other brace stands outside it: an object inside a broken one must not be mistaken for the reply.

    Raises
    ------
    InvalidReply
        ``invalid_json`` (none, several, broken, a key twice) or ``not_finite`` (NaN or Infinity).
    """
    body = strip_reasoning(text or "")
    begin = body.find("{")
    if begin < 0:
        raise InvalidReply("invalid_json", "the reply holds no JSON object")
    decoder = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    try:
        found, length = decoder.raw_decode(body[begin:])
    except RecursionError:
        raise InvalidReply("invalid_json", "the JSON is nested too deeply") from None
    except InvalidReply:
        raise
    except ValueError as error:
        raise InvalidReply("invalid_json", f"the JSON is broken: {error}") from None
    around = body[:begin] + body[begin + length :]
    if "{" in around or "}" in around:
        raise InvalidReply("invalid_json", "the reply holds more than one JSON object or stray braces")
    return dict(found)


def clean_text(value: Any, name: str) -> str:
    """Return a JSON string that holds no control character.

    ``"\\frac"`` written with a single backslash in JSON is a form feed and ``rac``: the LaTeX is gone.

    Raises
    ------
    InvalidReply
        ``wrong_keys`` when it is no string, ``control_characters`` when it holds one.
    """
    if not isinstance(value, str):
        raise InvalidReply("wrong_keys", f"{name} must be a string")
    if _CONTROL.search(value):
        raise InvalidReply("control_characters", f"{name} holds control characters, as where LaTeX was eaten")
    return value.strip()


def unit_number(value: Any, name: str) -> float:
    """Return a JSON number in [0, 1].

    Raises
    ------
    InvalidReply
        ``wrong_keys``, ``not_finite`` or ``out_of_range``.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidReply("wrong_keys", f"{name} must be a number")
    try:
        number = float(value)
    except OverflowError:
        raise InvalidReply("out_of_range", f"{name} is outside [0, 1]") from None
    if number != number or number in (float("inf"), float("-inf")):  # 1e999 is read as infinity
        raise InvalidReply("not_finite", f"{name} is not finite")
    if not 0.0 <= number <= 1.0:
        raise InvalidReply("out_of_range", f"{name} is {value}, outside [0, 1]")
    return number


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise InvalidReply("invalid_json", "a key stands twice in the JSON")
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidReply("not_finite", f"the JSON holds {name}")
