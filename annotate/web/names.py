"""Names of annotators: what may be one. A name is only ever a value, never part of a path or of SQL."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from warehouse.errors import SaberError

LONGEST = 40
_BESIDE_LETTERS = frozenset(" .-_'’@")


def checked_name(name: object) -> str:
    """Return `name` in NFC, with runs of spaces collapsed.

    Raises
    ------
    SaberError
        When it is no text, empty, longer than 40 characters, does not begin with a letter or digit, or holds
        anything but letters, marks, digits and ``space . - _ ' ’ @``.
    """
    text = " ".join(unicodedata.normalize("NFC", name).split(" ")) if isinstance(name, str) else ""
    text = " ".join(part for part in text.split(" ") if part)
    if not text or len(text) > LONGEST or not text[0].isalnum() or not all(map(_allowed, text)):
        raise SaberError(
            f"An annotator's name has 1 to {LONGEST} letters, digits, spaces or . - _ ' @ and begins with a letter "
            "or digit. Choose another name."
        )
    return text


def known_spelling(name: str, known: Iterable[str]) -> str:
    """Return the spelling under which `name` has judged before, so that ``ada`` goes on as ``Ada``."""
    wanted = name.casefold()
    return next((other for other in sorted(known) if other.casefold() == wanted), name)


def _allowed(character: str) -> bool:
    # Marks belong to letters in many scripts; NFC leaves those that have no composed form.
    return character.isalnum() or character in _BESIDE_LETTERS or unicodedata.category(character) in ("Mn", "Mc")
