"""Schedules that do not depend on verdicts: a random sample of the pairs, or all of them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from annotate.tournament.keys import Uint64Array, mix
from annotate.tournament.swiss import IntArray


def random_schedule(document_keys: Uint64Array, rounds: int) -> list[IntArray]:
    """Draw as many pairs as a Swiss tournament plays, uniformly and without repetition.

    Each round takes floor(n/2) pairs, so within a round a document may stand in several pairs or in none
    (SABER-Math's random baseline draws every pair independently of the rounds).

    Parameters
    ----------
    document_keys
        Shape (documents,): hash(seed, query, document) of one query, documents in ascending id order.
    rounds
        Number of rounds; the draw stops when no pair is left.

    Returns
    -------
    list of numpy.ndarray
        One array of shape (pairs, 2) a round, columns of the documents, smaller first.
    """
    n_documents = len(document_keys)
    first, second = np.triu_indices(n_documents, k=1)
    # A pair's key depends on its two documents alone, so another candidate does not reshuffle the rest.
    keys = mix(document_keys[first] ^ mix(document_keys[second]))
    drawn = np.argsort(keys, kind="stable")[: rounds * (n_documents // 2)]
    pairs = np.stack([first[drawn], second[drawn]], axis=1).astype(np.int64)
    size = max(n_documents // 2, 1)
    return [pairs[start : start + size] for start in range(0, len(pairs), size)]


@lru_cache(maxsize=64)
def exhaustive_schedule(n_documents: int) -> tuple[IntArray, ...]:
    """All n(n-1)/2 pairs by the circle method: n-1 rounds for even n, n rounds (one sits out) for odd n.

    Returns
    -------
    tuple of numpy.ndarray
        One array of shape (pairs, 2) a round; each document stands at most once in a round.
    """
    n_seats = n_documents + n_documents % 2
    rounds = []
    seats = list(range(n_seats))
    for _ in range(max(n_seats - 1, 0)):
        met = [(seats[k], seats[n_seats - 1 - k]) for k in range(n_seats // 2)]
        pairs = [(min(pair), max(pair)) for pair in met if max(pair) < n_documents]
        rounds.append(np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2))
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return tuple(rounds)
