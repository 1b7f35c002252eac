"""Ids and other short texts in whitespace-separated and tabular files, reversibly.

TREC files part their fields by white space and BEIR's qrels by tabs, and a spreadsheet runs a cell that begins like a
formula. Whatever such a file cannot hold, or a spreadsheet would run, is percent-encoded (UTF-8 bytes); ``%`` itself
too, so that decoding gives the very text back. Ordinary ids stay as they are.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

_FORMULA = frozenset("=+-@")
_CODED = re.compile(r"(?:%[0-9A-F]{2})+")
_LONGEST = 200  # leaves room for suffixes
EMPTY = "%"
"""The empty text, which no field of a whitespace-separated file can be."""


def escape(text: str) -> str:
    """Return `text` without white space, control characters, quotes, ``%`` and formula signs at its beginning."""
    if not text:
        return EMPTY
    return "".join(
        _coded(sign) if _is_unfit(sign) or (position == 0 and sign in _FORMULA) else sign
        for position, sign in enumerate(text)
    )


def unescape(text: str) -> str:
    """Undo :func:`escape`."""
    if text == EMPTY:
        return ""
    return _CODED.sub(_decoded, text)


def file_name(text: str) -> str:
    """Return a file name for `text`: letters, digits, ``.``, ``_`` and ``-`` stay, the rest is percent-encoded.

    A name never begins with a dot and never leaves its folder. A file system holds 255 bytes a name: what would be
    longer is cut and ends in a digest of the whole text.
    """
    coded = "".join(
        sign if sign.isascii() and (sign.isalnum() or sign in "_-" or (sign == "." and position)) else _coded(sign)
        for position, sign in enumerate(text)
    )
    if len(coded) > _LONGEST:
        kept = re.sub(r"%[0-9A-F]?$", "", coded[: _LONGEST - 17])
        coded = f"{kept}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    return coded or EMPTY


def _is_unfit(sign: str) -> bool:
    return sign in "%\"'" or sign.isspace() or unicodedata.category(sign)[0] in "CZ"


def _decoded(found: re.Match[str]) -> str:
    try:
        return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return found[0]  # not written by escape()


def _coded(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "surrogatepass"))
