"""Strict reading of replies: what is not exactly of the form asked for is a failure with a name, never a guess.

A job passes a validator ``validate(request, reply) -> kind | None`` to the call log; a kind makes the attempt a
failure that is landed and tried again. :func:`structured` is the default and the base of the jobs' own.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from annotate.providers.base import Reply, Request

Validator = Callable[[Request, Reply], str | None]

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL | re.IGNORECASE)
_REASONING_ENDS = ("</think>", "</thinking>", "</reasoning>")
_REASONING_BEGINS = tuple(end.replace("/", "") for end in _REASONING_ENDS)
# Tab, line feed and carriage return may be white space; the others never are.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# "\times" read as an escape is a tab and "imes": the rests of commands that no prose has after white space.
_EATEN = re.compile(
    r"\t(?:ext|imes|heta|frac|binom|ilde|riangle|herefore|au\b|anh?\b|op?\b)"
    r"|\n(?:eq|abla|otin|eg|exists|leq|geq|ewline)\b"
    r"|\r(?!\n)"
)


class InvalidReply(ValueError):  # noqa: N818 - a verdict on a reply, not a fault of the program
    """A reply that is not of the form asked for.

    Attributes
    ----------
    kind
        Kind of failure, see :mod:`annotate.providers.failures`.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind


def structured(request: Request, reply: Reply) -> str | None:
    """Check a reply against its request: the schema or the choices where given, else that it holds clean text."""
    text = reply.text or ""
    try:
        if request.schema is not None:
            parse_structured(text, request.schema)
        elif request.choices is not None:
            parse_choice(text, request.choices)
        elif not text.strip():
            return "empty_reply"
        elif _CONTROL.search(text):
            return "control_characters"
    except InvalidReply as invalid:
        return invalid.kind
    return None


def parse_structured(text: str, schema: Mapping[str, Any]) -> Any:
    """Parse a reply that must be JSON of `schema`: a pure function of the raw reply.

    A reasoning block before the JSON and one code fence around it are taken off; nothing else is forgiven.

    Raises
    ------
    InvalidReply
        ``empty_reply``, ``invalid_json``, ``not_finite``, ``control_characters``, ``wrong_keys``,
        ``wrong_choice``, ``wrong_length`` or ``out_of_range``.
    """
    value = strict_json(text)
    check(value, schema)
    return value


def parse_choice(text: str, choices: tuple[str, ...]) -> str:
    """Return which of `choices` a reply is.

    Raises
    ------
    InvalidReply
        ``wrong_choice`` or ``empty_reply``.
    """
    bare = strip_reasoning(text).strip()
    if not bare:
        raise InvalidReply("empty_reply", "nothing but white space or reasoning")
    if bare not in choices:
        raise InvalidReply("wrong_choice", "none of the choices")
    return bare


def strict_json(text: str) -> Any:
    """Parse the JSON of a reply: no NaN, no repeated key, no control character where LaTeX was eaten."""
    bare = strip_reasoning(text).strip()
    if not bare:
        raise InvalidReply("empty_reply", "nothing but white space or reasoning")
    fenced = _FENCED.fullmatch(bare)
    try:
        value = json.loads(
            fenced.group(1) if fenced else bare,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_unique,
        )
    except InvalidReply:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidReply("invalid_json", str(error)) from error
    _refuse_control(value)
    return value


def strip_reasoning(text: str) -> str:
    """Return what follows the reasoning block; a block never closed leaves nothing."""
    for begin, end in zip(_REASONING_BEGINS, _REASONING_ENDS, strict=True):
        _, closed, rest = text.rpartition(end)
        if closed:
            text = rest
        if text.lstrip().startswith(begin):
            return ""
    return text


def check(value: Any, schema: Mapping[str, Any], where: str = "reply") -> None:
    """Check `value` against the part of JSON Schema that the jobs use.

    Raises
    ------
    InvalidReply
        When the value does not fit.
    ValueError
        When the schema has a keyword not known here: a half-checked schema would be worse than none.
    """
    for keyword, wanted in schema.items():
        if keyword in _ANNOTATIONS:
            continue
        checker = _CHECKS.get(keyword)
        if checker is None:
            raise ValueError(f"the schema keyword {keyword!r} is not supported")
        checker(value, wanted, schema, where)


def _check_type(value: Any, wanted: Any, _: Mapping[str, Any], where: str) -> None:
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    if not any(_TYPES[name](value) for name in names):
        raise InvalidReply("wrong_keys", f"{where} is not of type {' or '.join(names)}")


def _check_properties(value: Any, wanted: Mapping[str, Any], _: Mapping[str, Any], where: str) -> None:
    if isinstance(value, dict):
        for name in wanted.keys() & value.keys():
            check(value[name], wanted[name], f"{where}.{name}")


def _check_required(value: Any, wanted: Any, _: Mapping[str, Any], where: str) -> None:
    missing = set(wanted) - value.keys() if isinstance(value, dict) else set()
    if missing:
        raise InvalidReply("wrong_keys", f"{where} lacks {', '.join(sorted(missing))}")


def _check_additional(value: Any, wanted: Any, schema: Mapping[str, Any], where: str) -> None:
    if not isinstance(value, dict) or wanted is True:
        return
    extra = value.keys() - schema.get("properties", {}).keys()
    if wanted is False and extra:
        raise InvalidReply("wrong_keys", f"{where} has unknown keys {', '.join(sorted(extra))}")
    for name in extra if wanted is not False else ():
        check(value[name], wanted, f"{where}.{name}")


def _check_items(value: Any, wanted: Mapping[str, Any], _: Mapping[str, Any], where: str) -> None:
    for number, item in enumerate(value if isinstance(value, list) else ()):
        check(item, wanted, f"{where}[{number}]")


def _check_enum(value: Any, wanted: Any, _: Mapping[str, Any], where: str) -> None:
    # True == 1 in Python, not in JSON.
    if not any(value == choice and isinstance(value, bool) == isinstance(choice, bool) for choice in wanted):
        raise InvalidReply("wrong_choice", f"{where} is none of the choices")


def _bound(holds: Callable[[float, float], bool]) -> Callable[[Any, Any, Mapping[str, Any], str], None]:
    def checker(value: Any, wanted: Any, _: Mapping[str, Any], where: str) -> None:
        if _is_number(value) and not holds(value, wanted):
            raise InvalidReply("out_of_range", f"{where} = {value}")

    return checker


def _length(kind: type, holds: Callable[[int, int], bool]) -> Callable[[Any, Any, Mapping[str, Any], str], None]:
    def checker(value: Any, wanted: Any, _: Mapping[str, Any], where: str) -> None:
        if isinstance(value, kind) and not holds(len(value), wanted):  # type: ignore[arg-type]
            raise InvalidReply("wrong_length", f"{where} has length {len(value)}")  # type: ignore[arg-type]

    return checker


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_ANNOTATIONS = {"title", "description", "$schema", "default", "examples"}
_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()),
}
_CHECKS: dict[str, Callable[[Any, Any, Mapping[str, Any], str], None]] = {
    "type": _check_type,
    "required": _check_required,
    "additionalProperties": _check_additional,
    "properties": _check_properties,
    "items": _check_items,
    "enum": _check_enum,
    "const": lambda value, wanted, schema, where: _check_enum(value, [wanted], schema, where),
    "minimum": _bound(lambda value, least: value >= least),
    "maximum": _bound(lambda value, most: value <= most),
    "exclusiveMinimum": _bound(lambda value, least: value > least),
    "exclusiveMaximum": _bound(lambda value, most: value < most),
    "minItems": _length(list, lambda size, least: size >= least),
    "maxItems": _length(list, lambda size, most: size <= most),
    "minLength": _length(str, lambda size, least: size >= least),
    "maxLength": _length(str, lambda size, most: size <= most),
}


def _refuse_constant(name: str) -> Any:
    raise InvalidReply("not_finite", name)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise InvalidReply("not_finite", digits[:40])
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidReply("wrong_keys", "a key stands twice")
    return found


def _refuse_control(value: Any) -> None:
    if isinstance(value, str):
        if _CONTROL.search(value) or _EATEN.search(value):
            raise InvalidReply("control_characters", "a control character where LaTeX was eaten")
        if any("\ud800" <= letter <= "\udfff" for letter in value) if not value.isascii() else False:
            raise InvalidReply("control_characters", "a lone surrogate")
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_control(key)
            _refuse_control(item)
    elif isinstance(value, list):
        for item in value:
            _refuse_control(item)
