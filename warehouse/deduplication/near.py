"""Copies that are only near: reported with what sets them apart, never merged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.answers import answers_differ
from warehouse.deduplication import search
from warehouse.deduplication.languages import translations
from warehouse.deduplication.minhash import Pairs
from warehouse.deduplication.statements import Statements, sequence_hashes


def near_rows(
    statements: Statements,
    survivor_of: NDArray[np.int64],
    conflicts: Pairs,
    threshold: float,
    shingle_size: int,
    workers: int,
) -> list[dict[str, Any]]:
    """List the pairs of survivors that are near.

    Parameters
    ----------
    survivor_of : (N,) int64
        The survivor of each statement's group.
    conflicts : (P, 2) int64
        Pairs that were not merged because their answers differ.

    Returns
    -------
    list of dict
        first_id, second_id, kind, similarity, masked_similarity. A family of statements that differ in
        numbers alone (one template) is listed as pairs with its first member, not as all its pairs.
    """
    tokens = statements.tokens
    survivors = np.unique(survivor_of)
    masked_keys = sequence_hashes(tokens.masked, tokens.starts)
    families = [survivors[group] for group in search.equal_groups(masked_keys[survivors])]
    stars = [(int(family[0]), int(member)) for family in families for member in family[1:]]
    followers = {member for _, member in stars}
    leaders = np.asarray([place for place in survivors.tolist() if place not in followers], np.int64)
    found = search.similar_text(tokens, leaders, None, threshold, shingle_size, workers)
    pairs = np.concatenate([search.pair_array(stars), found.pairs, survivor_of[conflicts]])
    pairs = pairs[survivor_of[pairs[:, 0]] != survivor_of[pairs[:, 1]]]
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    rows = _described(statements, pairs, shingle_size)
    seen = {tuple(pair) for pair in pairs.tolist()}
    for first, second, similarity in translations(statements, survivors):
        if (first, second) not in seen:
            rows.append(_row(statements, first, second, "translation", similarity, similarity))
    return sorted(rows, key=lambda row: (row["first_id"], row["second_id"]))


def _described(statements: Statements, pairs: Pairs, shingle_size: int) -> list[dict[str, Any]]:
    tokens = statements.tokens
    plain = search.pair_similarities(tokens.plain, tokens.starts, pairs, shingle_size)
    masked = search.pair_similarities(tokens.masked, tokens.starts, pairs, shingle_size)
    masked_hard = sequence_hashes(tokens.masked, tokens.starts, tokens.hard)
    numbers = sequence_hashes(tokens.plain, tokens.starts, tokens.number)
    formulas = sequence_hashes(tokens.plain, tokens.starts, tokens.formula)
    rows = []
    for row, (first, second) in enumerate(pairs.tolist()):
        if statements.hard_keys[first] == statements.hard_keys[second]:
            conflict = answers_differ(*(statements.records[place].get("answer") for place in (first, second)))
            kind = "other answer" if conflict else "other wording"
        elif numbers[first] != numbers[second]:
            kind = "renumbered" if masked_hard[first] == masked_hard[second] else "other numbers and words"
        elif formulas[first] != formulas[second]:
            kind = "other formulas"
        else:
            kind = "other words" if masked_hard[first] != masked_hard[second] else "other figures"
        rows.append(_row(statements, first, second, kind, float(plain[row]), float(masked[row])))
    return rows


def _row(
    statements: Statements, first: int, second: int, kind: str, similarity: float, masked: float
) -> dict[str, Any]:
    return {
        "first_id": statements.records[first]["problem_id"],
        "second_id": statements.records[second]["problem_id"],
        "kind": kind,
        "similarity": similarity,
        "masked_similarity": masked,
    }
