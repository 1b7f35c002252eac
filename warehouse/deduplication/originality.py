"""Originality check by character 10-grams against reference texts, as AMO-Bench screens its problems.

A statement that shares long runs of characters with a known one is flagged, with the text they share; whether
it is a copy is for a person to say.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.deduplication.shingles import ranges, shingle
from warehouse.deduplication.tokens import Hashes, Offsets

GRAM = 10
# A 10-gram that many reference texts share ("the number of") says nothing about where a text comes from.
_COMMON = 50


def normalise(text: str) -> str:
    """Lower case, white space collapsed, so that line breaks and capitals hide nothing."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def check_originality(
    records: Sequence[Mapping[str, Any]],
    reference: Sequence[Mapping[str, Any]],
    size: int = GRAM,
    min_share: float = 0.3,
    min_overlap: int = 60,
) -> list[dict[str, Any]]:
    """Flag statements that overlap with reference statements.

    Parameters
    ----------
    records, reference : sequence of mapping
        With ``problem_id`` and ``statement``; a record is not compared with a reference of its own id.
    size : int
        Characters a gram.
    min_share : float
        Least share of the statement's distinct grams found in one reference text, in [0, 1].
    min_overlap : int
        Least length in characters of the longest common run; either is enough for a flag.

    Returns
    -------
    list of dict
        One row per flagged record with its closest reference: problem_id, reference_id, share (of distinct
        grams), overlap (the longest common run of the normalised text), n_grams. Ordered by share, descending.
    """
    texts = [normalise(record["statement"]) for record in records]
    grams, starts = _grams(texts, size)
    reference_grams, reference_starts = _grams([normalise(record["statement"]) for record in reference], size)
    known, holders = _index(reference_grams, reference_starts)
    places = {record["problem_id"]: place for place, record in enumerate(reference)}
    rows = []
    for place, record in enumerate(records):
        own = grams[starts[place] : starts[place + 1]]
        distinct = np.unique(own)
        counts = _shared(distinct, known, holders, len(reference))
        if record["problem_id"] in places:
            counts[places[record["problem_id"]]] = 0
        closest = int(counts.argmax()) if len(counts) else 0
        if not len(counts) or not counts[closest]:
            continue
        theirs = reference_grams[reference_starts[closest] : reference_starts[closest + 1]]
        common = np.isin(own, theirs)
        share = float(np.isin(distinct, theirs).mean())
        overlap = _longest_run(texts[place], common, size)
        if share >= min_share or len(overlap) >= min_overlap:
            rows.append(
                {
                    "problem_id": record["problem_id"],
                    "reference_id": reference[closest]["problem_id"],
                    "share": share,
                    "overlap": overlap,
                    "n_grams": len(distinct),
                }
            )
    return sorted(rows, key=lambda row: (-row["share"], row["problem_id"]))


def _grams(texts: Sequence[str], size: int) -> tuple[Hashes, Offsets]:
    """Hashes of the character n-grams of each text; a shorter text has one."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    starts = np.concatenate(([0], np.cumsum([len(text) for text in texts], dtype=np.int64)))
    # Zero is the blank behind a short text; code points are moved away from it.
    return shingle(points + np.uint64(1), starts, size)


def _index(grams: Hashes, starts: Offsets) -> tuple[Hashes, NDArray[np.int64]]:
    """(gram, text) pairs sorted by gram, without the grams of too many texts."""
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((owner, grams))
    gram, owner = grams[order], owner[order]
    fresh = np.concatenate(([True], (gram[1:] != gram[:-1]) | (owner[1:] != owner[:-1])))[: len(gram)]
    gram, owner = gram[fresh], owner[fresh]
    _, place, count = np.unique(gram, return_inverse=True, return_counts=True)
    telling = count[place] <= _COMMON
    return gram[telling], owner[telling]


def _shared(distinct: Hashes, known: Hashes, holders: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """How many of the (telling) grams each reference text holds."""
    begin, end = np.searchsorted(known, distinct, "left"), np.searchsorted(known, distinct, "right")
    counts = end - begin
    return np.bincount(holders[np.repeat(begin, counts) + ranges(counts)], minlength=size)


def _longest_run(text: str, common: NDArray[np.bool_], size: int) -> str:
    """The longest stretch of the text whose grams are all common."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], common.astype(np.int8), [0]))))
    if not len(edges):
        return ""
    lengths = edges[1::2] - edges[::2]
    longest = int(lengths.argmax())
    return text[edges[2 * longest] : edges[2 * longest] + lengths[longest] + size - 1]
