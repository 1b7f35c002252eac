"""What a reader hands on: rows, rejected rows, remarks, and files it did not read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

KIBI, MEBI, GIBI = 1 << 10, 1 << 20, 1 << 30


@dataclass(frozen=True)
class Limits:
    """How much a file may ask of the machine before it is refused by name.

    Attributes
    ----------
    record_bytes : int
        Longest single record (a line, a JSON value, a CSV field).
    document_bytes : int
        Largest file of a format that must be held in memory as a whole (a JSON document, UTF-16 text).
    unpacked_bytes : int
        Most bytes that one packed file may unpack to.
    ratio : int
        Highest unpacked/packed ratio once more than ``ratio_from`` bytes came out: text packs 3 to 20
        times, a bomb a thousand times.
    members : int
        Most files in one archive.
    """

    record_bytes: int = 64 * MEBI
    document_bytes: int = GIBI
    unpacked_bytes: int = 4 * GIBI
    ratio: int = 200
    ratio_from: int = 64 * MEBI
    members: int = 10_000


DEFAULT_LIMITS = Limits()

# Kinds of rejections that mean a damaged file, not a row left out by design (repeated, synthetic, ...).
_DAMAGE = frozenset(
    ("cut", "cut inside a quote", "quoting", "field count", "line too long", "record too long", "not JSON", "not XML",
     "broken row group")
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One record as it stands in the file.

    ``number`` counts records from 1 (a header is no record); in JSON Lines it is the line number.
    ``line`` and ``byte_offset`` say where the record begins, where the format knows it.
    """

    file: str
    number: int
    fields: dict[str, Any]
    line: int | None = None
    byte_offset: int | None = None


@dataclass(frozen=True)
class Rejection:
    """A record that was not kept; ``kind`` groups, ``detail`` explains, ``rows`` is how many it stands for."""

    file: str
    number: int | None
    kind: str
    detail: str
    line: int | None = None
    byte_offset: int | None = None
    rows: int = 1

    @property
    def is_damage(self) -> bool:
        """Whether the row was lost because its file is damaged."""
        return self.kind in _DAMAGE

    def __str__(self) -> str:
        return f"{self.file}: {place(self.number, self.line, self.byte_offset)}{self.kind}: {self.detail}"


@dataclass(frozen=True)
class Note:
    """A remark on a record that was kept (an encoding guessed, a control character found)."""

    file: str
    number: int | None
    kind: str
    detail: str
    line: int | None = None
    byte_offset: int | None = None

    def __str__(self) -> str:
        return f"{self.file}: {place(self.number, self.line, self.byte_offset)}{self.kind}: {self.detail}"


@dataclass(frozen=True)
class SkippedFile:
    """A file that gave no rows.

    ``refused`` tells the two cases apart: True for a file that may hold problems but could not be read
    safely (a bomb, a broken Parquet footer), which a command must report as a failure; False for a file
    that simply is no problem file (no statement column, a README).
    """

    file: str
    reason: str
    refused: bool = False

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}"


@dataclass
class Opened:
    """A file made ready for reading: what it is called, where its bytes lie, what it really is."""

    name: str
    stem: str
    format: str
    path: Any
    size: int


class RefusedError(Exception):
    """A file that must not or cannot be read on; the text says why and what to do."""


Item = Row | Rejection | Note


def place(number: int | None, line: int | None, byte_offset: int | None) -> str:
    """Say where: "row 3 (line 17, byte 4211): ", as far as it is known."""
    inner = [f"line {line}"] if line is not None and line != number else []
    inner += [f"byte {byte_offset}"] if byte_offset is not None else []
    words = [f"row {number}"] if number is not None else []
    if inner:
        words.append(f"({', '.join(inner)})" if words else ", ".join(inner))
    return " ".join(words) + ": " if words else ""
