"""The statements to compare, with the keys by which they are told equal."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.answers import answers_differ, in_conflict, number_of
from warehouse.deduplication.shingles import mix
from warehouse.deduplication.tokens import Hashes, TokenArrays, tokenise

# Columns of data sets that name pictures and other attachments of a problem, and words that speak of one.
_ATTACHED = re.compile(
    r"(?:figure|image|img|picture|diagram|drawing|attachment)s?(?:_?(?:path|url|file|name|\d+)s?)*\Z", re.IGNORECASE
)
_MAY_HAVE = re.compile(r'"(?:figure|image|img|picture|diagram|drawing|attachment)', re.IGNORECASE)
_PATH = re.compile(r"[^\s()\[\]{}]+\Z")
_SHOWN = re.compile(r"\b(?:figure|diagram|picture|image|drawing|graph|sketch|shown|illustrat)", re.IGNORECASE)


@dataclass(frozen=True)
class Statements:
    """Records with their tokens.

    Attributes
    ----------
    records : sequence of N mappings
    tokens : TokenArrays
    answers : list of N Fractions or None
        Answers that are numbers.
    text_keys : (N,) uint64
        Equal for statements of equal tokens and pictures.
    hard_keys : (N,) uint64
        Equal for statements whose hard tokens are equal in order, pictures too.
    """

    records: Sequence[Mapping[str, Any]]
    tokens: TokenArrays
    answers: list[Fraction | None]
    text_keys: Hashes
    hard_keys: Hashes

    @classmethod
    def of(cls, records: Sequence[Mapping[str, Any]]) -> Statements:
        """Tokenise records and compute their keys."""
        tokens = tokenise(record["statement"] for record in records)
        figures = np.fromiter((_figures(record) for record in records), np.uint64, len(records))
        return cls(
            records,
            tokens,
            [number_of(record.get("answer")) for record in records],
            mix(sequence_hashes(tokens.plain, tokens.starts) ^ figures),
            mix(sequence_hashes(tokens.plain, tokens.starts, tokens.hard) ^ figures),
        )

    def __len__(self) -> int:
        return len(self.records)

    def differ_in_answer(self, first: int, second: int) -> bool:
        """Whether the answers tell two problems of equal or similar text apart.

        Different numbers do. Other answers have too many forms to be told different for certain; they count where
        the text speaks of a picture, which may be another one in each row.
        """
        if in_conflict(self.answers[first], self.answers[second]):
            return True
        one, other = self.records[first], self.records[second]
        return self.shows_picture(first) and answers_differ(one.get("answer"), other.get("answer"))

    def shows_picture(self, place: int) -> bool:
        """Whether a statement speaks of a picture."""
        return _SHOWN.search(self.records[place]["statement"]) is not None

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each statement."""
        return np.diff(self.tokens.starts)


def sequence_hashes(values: Hashes, starts: NDArray[np.int64], keep: NDArray[np.bool_] | None = None) -> Hashes:
    """One hash for each statement's sequence of (kept) values; equal sequences have equal hashes."""
    if keep is not None:
        ends = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
        values, starts = values[keep], ends[starts]
    lengths = np.diff(starts)
    place = np.arange(len(values)) - np.repeat(starts[:-1], lengths)
    # A value scrambled with its place: the sum then depends on the order.
    with np.errstate(over="ignore"):
        placed = mix(values + mix(place.astype(np.uint64) + np.uint64(1)))
        sums = np.concatenate(([np.uint64(0)], np.cumsum(placed, dtype=np.uint64)))
        totals = sums[starts[1:]] - sums[starts[:-1]]
    return mix(totals + lengths.astype(np.uint64))


def _figures(record: Mapping[str, Any]) -> int:
    """Hash of drawings set apart by cleaning and of attached pictures: one text with two is two problems."""
    metadata = record.get("metadata") or ""
    if not _MAY_HAVE.search(metadata):
        return 0
    fields = json.loads(metadata)
    found = [name for key, value in fields.items() if _ATTACHED.match(key) for name in _names(value)]
    if not found:
        return 0
    return int.from_bytes(hashlib.blake2b(json.dumps(found).encode(), digest_size=8).digest(), "little")


def _names(value: Any) -> list[str]:
    """The drawings and file names a cell holds; folders and hosts differ between copies of one picture."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [name for item in value for name in _names(item)]
    text = "" if value is None else str(value).strip()
    if text.casefold() in ("", "none", "null"):
        return []
    return [text.rpartition("/")[2] if _PATH.match(text) else text]
