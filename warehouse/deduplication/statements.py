"""The statements to compare, with the keys by which they are told equal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.deduplication.answers import number_of
from warehouse.deduplication.shingles import mix
from warehouse.deduplication.tokens import Hashes, TokenArrays, tokenise


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
        Equal for statements of equal tokens and drawings.
    hard_keys : (N,) uint64
        Equal for statements whose hard tokens are equal in order, drawings too.
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
    """Hash of the drawings that cleaning set apart: one text with two drawings is two problems."""
    metadata = record.get("metadata") or ""
    figures = json.loads(metadata).get("figures") if '"figures"' in metadata else None
    if not figures:
        return 0
    return int.from_bytes(hashlib.blake2b(json.dumps(figures).encode(), digest_size=8).digest(), "little")
