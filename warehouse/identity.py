"""Identities by hashing: of texts, of variants, and the seeded draws that replace engine randomness.

Everything here is a pure function of its arguments, so the same rows come out on any thread count, engine
or machine (sampling by hash, never by a random generator's state).
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from typing import Any

_SEPARATOR = "\x1f"


def normalise_text(text: str | None) -> str:
    """Return `text` in NFC with runs of white space collapsed to one space and stripped."""
    return " ".join(unicodedata.normalize("NFC", text or "").split())


def content_hash(*texts: str | None) -> str:
    """Hash texts as a reader sees them.

    Parameters
    ----------
    *texts
        One or more texts; ``None`` counts as the empty text. A problem's hash is that of its
        (statement, solution).

    Returns
    -------
    str
        32 hexadecimal digits of SHA-256 over the normalised texts joined by U+001F.
    """
    joined = _SEPARATOR.join(normalise_text(text) for text in texts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def pair_hash(*hashes: str) -> str:
    """Hash the content hashes of the texts one judgment saw, in the order given.

    DuckDB computes the same value as ``left(sha256(concat_ws(':', a, b, c)), 32)``, so that stale rows
    are found in SQL.
    """
    return hashlib.sha256(":".join(hashes).encode()).hexdigest()[:32]


def variant_hash(depends_on: Mapping[str, Any]) -> str:
    """Hash what a row depends on: 12 hexadecimal digits of SHA-256 over canonical JSON."""
    text = json.dumps(depends_on, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def uniform(seed: int, *ids: str | int) -> float:
    """Draw the number in [0, 1) that belongs to `seed` and `ids`."""
    text = _SEPARATOR.join([str(seed), *map(str, ids)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big") / 2.0**56


def coin(seed: int, *ids: str | int) -> bool:
    """Toss the fair coin that belongs to `seed` and `ids`."""
    return uniform(seed, *ids) < 0.5
