"""Records of imported files, and typed access to their fields that says what is wrong and where."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.errors import SaberError


@dataclass(frozen=True)
class Record:
    """One row of a file; ``origin`` is the file's name, ``place`` says where in it."""

    origin: str
    place: str
    fields: Mapping[str, Any]


class Fault(Exception):  # noqa: N818  (a fault of a row, collected and reported, no program error)
    """What is wrong with one row."""


@dataclass(frozen=True)
class Faulty:
    """A row that cannot land."""

    place: str
    reason: str
    rows: int = 1

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


class Fields:
    """The fields of one record, each taken with its type.

    Parameters
    ----------
    fields
        {column: value}; columns are ours by now.
    defaults
        Values for columns that the row lacks or leaves empty (given on the command line).
    """

    def __init__(self, fields: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> None:
        self._fields = fields
        self._defaults = defaults or {}

    def has(self, name: str) -> bool:
        """Say whether the row (or a default) has a value."""
        return self._value(name) is not None

    def text(self, name: str, among: Collection[str] | None = None) -> str:
        """Return a text that must be there."""
        found = self.optional_text(name, among)
        if found is None:
            raise Fault(f"{name} is missing")
        return found

    def optional_text(self, name: str, among: Collection[str] | None = None) -> str | None:
        """Return a text, None when it is missing."""
        value = self._value(name)
        if value is None:
            return None
        if isinstance(value, Mapping | list):
            raise Fault(f"{name} must be a text, not {_shown(value)}")
        found = str(value)
        if not found.isascii() and any("\ud800" <= sign <= "\udfff" for sign in found):
            raise Fault(f"{name} is no UTF-8 text: {_shown(value)}")
        if among is not None and found not in among:
            raise Fault(f"{name} must be one of {', '.join(sorted(among))}, not {found!r}")
        return found

    def real(self, name: str, low: float = -math.inf, high: float = math.inf) -> float:
        """Return a finite number that must be there."""
        found = self.optional_real(name, low, high)
        if found is None:
            raise Fault(f"{name} is missing")
        return found

    def optional_real(self, name: str, low: float = -math.inf, high: float = math.inf) -> float | None:
        """Return a finite number between `low` and `high`, None when it is missing."""
        value = self._value(name)
        if value is None:
            return None
        try:
            found = float(value) if not isinstance(value, bool) else math.nan
        except (TypeError, ValueError):
            raise Fault(f"{name} must be a number, not {_shown(value)}") from None
        if not math.isfinite(found):
            raise Fault(f"{name} must be a finite number, not {_shown(value)}")
        if not low <= found <= high:
            raise Fault(f"{name} must lie between {low:g} and {high:g}, not {found:g}")
        return found

    def whole(self, name: str) -> int | None:
        """Return a whole number, None when it is missing."""
        found = self.optional_real(name, -(2**31), 2**31 - 1)
        if found is not None and found != int(found):
            raise Fault(f"{name} must be a whole number, not {found:g}")
        return None if found is None else int(found)

    def flag(self, name: str) -> bool | None:
        """Return a truth value, None when it is missing."""
        value = self._value(name)
        known = {"true": True, "false": False, "1": True, "0": False}
        if value is None or isinstance(value, bool):
            return value
        if str(value).strip().lower() not in known:
            raise Fault(f"{name} must be true or false, not {_shown(value)}")
        return known[str(value).strip().lower()]

    def texts(self, name: str) -> list[str]:
        """Return a list of texts: a list, or the JSON of one in a table's cell; missing = none."""
        value = self._value(name)
        if value is None:
            return []
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                raise Fault(f'{name} must be a JSON list such as ["a", "b"], not {_shown(value)}') from None
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise Fault(f"{name} must be a list of texts, not {_shown(value)}")
        return value

    def _value(self, name: str) -> Any:
        value = self._fields.get(name)
        if value is None or value == "":
            value = self._defaults.get(name)
        return value


def parse_renames(text: str | None, known: Collection[str]) -> dict[str, str]:
    """Read ``our=theirs,…`` as given by ``--map``; return {their column: our column}.

    Raises
    ------
    SaberError
        For a part without "=" or a column of ours that does not exist.
    """
    renames: dict[str, str] = {}
    for part in filter(str.strip, (text or "").split(",")):
        ours, equals, theirs = (piece.strip() for piece in part.partition("="))
        if not equals or not theirs or ours not in known:
            raise SaberError(f"--map {part!r} is not OURS=THEIRS with one of {', '.join(sorted(known))}.")
        renames[theirs] = ours
    return renames


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
