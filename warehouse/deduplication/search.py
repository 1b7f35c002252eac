"""The three steps that find copies: equal text, similar text with everything hard equal, similar text without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from udfs.answers import answer_key
from warehouse.deduplication.minhash import Pairs, candidates, signatures, similarities
from warehouse.deduplication.shingles import gather, shingle
from warehouse.deduplication.statements import Statements
from warehouse.deduplication.tokens import Hashes, TokenArrays

# Shorter statements may be equal by chance ("Find the value of x in the figure."): there answers decide.
LONG_TEXT = 12


@dataclass(frozen=True)
class Found:
    """Pairs of statements with their exact similarities."""

    pairs: Pairs
    similarity: NDArray[np.float64]


def equal_groups(keys: Hashes) -> list[NDArray[np.int64]]:
    """Groups of two and more places with equal keys, each in rising order."""
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    begins = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1], [True])))
    return [order[begin:end] for begin, end in pairwise(begins) if end - begin > 1]


def equal_links(statements: Statements) -> tuple[Pairs, Pairs]:
    """Link records of one content hash and one set of drawings, then statements of equal tokens.

    Returns
    -------
    links, conflicts : (P, 2) int64
        Equal statements are conflicts, not links, when they are short and their answers different numbers, or
        when they speak of a picture and their answers differ: "Find the value of x in the figure." is many problems.

    Notes
    -----
    The content hash knows neither drawings (cleaning set them apart) nor answers. Without a solution it is the hash
    of the statement alone, so such records are compared as statements, where drawings and answers count.
    """
    places: dict[tuple[str, int], int] = {}
    links: list[tuple[int, int]] = []
    leaders = []
    for place, record in enumerate(statements.records):
        key = record["content_hash"], int(statements.text_keys[place])
        first = places.setdefault(key, place) if record.get("solution") else place
        if first == place:
            leaders.append(place)
        else:
            links.append((first, place))
    conflicts: list[tuple[int, int]] = []
    members = np.asarray(leaders, np.int64)
    for group in equal_groups(statements.text_keys[members]):
        joined, refused = _same_text(statements, members[group].tolist())
        links += joined
        conflicts += refused
    return pair_array(links), pair_array(conflicts)


def pair_array(pairs: Sequence[tuple[int, int]]) -> Pairs:
    """Pairs as an array, also when there are none."""
    return np.asarray(pairs, np.int64).reshape(-1, 2)


def _same_text(statements: Statements, group: list[int]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    links: list[tuple[int, int]] = []
    conflicts: list[tuple[int, int]] = []
    leaders: dict[Fraction | str | None, int] = {}
    answers: dict[int, Fraction | str | None] = dict.fromkeys(group)
    if statements.shows_picture(group[0]):
        answers = {place: answer_key(statements.records[place].get("answer")) for place in group}
    elif statements.lengths[group[0]] < LONG_TEXT:
        answers = {place: statements.answers[place] for place in group}
    # Those with an answer first: one without joins the first of them.
    for member in sorted(group, key=lambda place: (answers[place] is None, place)):
        answer = answers[member]
        leader = leaders.get(answer)
        if leader is None and answer is None and leaders:
            leader = next(iter(leaders.values()))
        if leader is None:
            conflicts += [(min(other, member), max(other, member)) for other in leaders.values()]
            leaders[answer] = member
        else:
            links.append((leader, member))
    return links, conflicts


def similar_text(
    tokens: TokenArrays, members: NDArray[np.int64], hard: Hashes | None, threshold: float, size: int, workers: int
) -> Found:
    """Pairs of members with exact shingle Jaccard ≥ threshold.

    Parameters
    ----------
    members : (M,) int64
        The statements to compare.
    hard : (N,) uint64, optional
        With it, only statements of equal hard sequences are paired and numbers count as they are; without,
        numbers are masked.
    """
    values = tokens.masked if hard is None else tokens.plain
    shingles, cuts = shingle(*gather(values, tokens.starts, members), size)
    signed = signatures(shingles, cuts, workers=workers)
    pairs = candidates(signed, key=None if hard is None else hard[members])
    similarity = similarities(shingles, cuts, pairs)
    close = similarity >= threshold
    return Found(members[pairs[close]], similarity[close])


def agreeing(found: Found, statements: Statements) -> NDArray[np.bool_]:
    """Which pairs have no conflict of answers."""
    agree = (not statements.differ_in_answer(i, j) for i, j in found.pairs.tolist())
    return np.fromiter(agree, np.bool_, len(found.pairs))


def pair_similarities(values: Hashes, starts: NDArray[np.int64], pairs: Pairs, size: int) -> NDArray[np.float64]:
    """Exact shingle Jaccard of pairs of statements; only these are shingled."""
    members, places = np.unique(pairs, return_inverse=True)
    shingles, cuts = shingle(*gather(values, starts, members), size)
    return similarities(shingles, cuts, places.reshape(pairs.shape))
