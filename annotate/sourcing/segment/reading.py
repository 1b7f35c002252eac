"""Reading a reply about one window: pieces by line numbers, each held to the lines it names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from annotate.calls.validate import InvalidReply
from annotate.prompts.replies import only_object
from annotate.sourcing.replies import Objection
from annotate.sourcing.segment.windows import Window

KINDS = ("problem", "solution", "answer", "continuation")
_ALIKE = 0.9
_LOOK_AHEAD = 24
_WORD = re.compile(r"[^\W_]+")
_LABEL = re.compile(r"\A(?:problem|exercise|question|task)\s+|[\s.:)]+\Z", re.IGNORECASE)

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pieces": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": list(KINDS)},
                    "number": {"type": ["string", "null"]},
                    "first": {"type": "integer"},
                    "last": {"type": "integer"},
                    "begins": {"type": "string"},
                },
                "required": ["kind", "number", "first", "last", "begins"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["pieces"],
    "additionalProperties": False,
}
"""JSON schema of the reply."""


@dataclass(frozen=True)
class Piece:
    """Lines ``first`` to ``last`` of a document, both included; ``number`` is the problem's, where there is one."""

    kind: str
    number: str | None
    first: int
    last: int


def read_pieces(window: Window, reply: str | None) -> tuple[Piece, ...]:
    """Read a reply.

    Raises
    ------
    InvalidReply
        When the form is wrong.
    Objection
        ``lines_out_of_range``, ``lines_overlap``, ``continuation_misplaced``, ``empty_piece`` or
        ``lines_differ`` (the first words are not those of the line named: numbers are off).
    """
    found = only_object(reply)
    if set(found) != {"pieces"} or not isinstance(found["pieces"], list):
        raise InvalidReply("wrong_keys", 'the reply must be {"pieces": [...]}')
    pieces: list[Piece] = []
    for place, item in enumerate(found["pieces"], start=1):
        piece, begins = _piece(item, place)
        _check_place(window, piece, place, pieces)
        _check_words(window, piece, place, begins)
        pieces.append(piece)
    return tuple(pieces)


def similarity(begins: str, text: str) -> float:
    """How well words that are said to begin a text do so, from 0 to 1.

    The best alignment of their letters and digits within the first characters of the text; 1 when all of the words
    are among the text's first dozen. A number or a LaTeX command before or between them does no harm.
    """
    claimed = "".join(_WORD.findall(begins)).casefold()
    actual = "".join(_WORD.findall(text[:400])).casefold()
    if not claimed:
        # A figure or a rule bears no words to be checked by.
        return 0.0 if actual[:1] and _WORD.search(text.split("\n", 1)[0]) else 1.0
    best = max(
        SequenceMatcher(None, claimed, actual[start : start + len(claimed)], autojunk=False).ratio()
        for start in range(min(_LOOK_AHEAD, max(1, len(actual) - len(claimed) + 1)))
    )
    words = [word.casefold() for word in _WORD.findall(begins)]
    first = {word.casefold() for word in _WORD.findall(text)[:12]}
    return 1.0 if all(word in first for word in words) else best


def plain_number(number: str | None) -> str | None:
    """The number of a problem without the words and stops around it: "Problem 3." -> "3"."""
    bare = _LABEL.sub("", (number or "").strip())
    return bare or None


def _piece(item: Any, place: int) -> tuple[Piece, str]:
    if not isinstance(item, dict) or set(item) != {"kind", "number", "first", "last", "begins"}:
        raise InvalidReply("wrong_keys", f"piece {place} must have kind, number, first, last and begins")
    if item["kind"] not in KINDS:
        raise InvalidReply("wrong_choice", f"piece {place} is of no kind asked for")
    if not all(isinstance(item[key], int) and not isinstance(item[key], bool) for key in ("first", "last")):
        raise InvalidReply("wrong_keys", f"first and last of piece {place} must be whole numbers")
    if not isinstance(item["begins"], str) or not isinstance(item["number"], str | int | None):
        raise InvalidReply("wrong_keys", f"number and begins of piece {place} must be texts")
    number = None if item["number"] is None else str(item["number"])
    return Piece(item["kind"], plain_number(number), item["first"], item["last"]), item["begins"]


def _check_place(window: Window, piece: Piece, place: int, before: list[Piece]) -> None:
    said = f"piece {place} ({piece.kind}, lines {piece.first} to {piece.last})"
    if not window.first <= piece.first <= piece.last <= window.last:
        raise Objection("lines_out_of_range", f"{said} is not within lines {window.first} to {window.last}")
    if before and piece.first <= before[-1].last:
        raise Objection("lines_overlap", f"{said} begins before piece {place - 1} ends, at line {before[-1].last}")
    if not window.document.cut(piece.first, piece.last).strip():
        raise Objection("empty_piece", f"{said} holds no text")
    if piece.kind == "continuation" and (before or window.is_first):
        raise Objection("continuation_misplaced", f"{said} does not begin the lines to be cut")


def _check_words(window: Window, piece: Piece, place: int, begins: str) -> None:
    text = window.document.cut(piece.first, piece.last).lstrip()
    if similarity(begins, text) < _ALIKE:
        raise Objection(
            "lines_differ",
            f"piece {place} is said to begin with {begins[:60]!r}, but line {piece.first} reads "
            f"{window.document.lines[piece.first - 1].strip()[:60]!r}",
        )
