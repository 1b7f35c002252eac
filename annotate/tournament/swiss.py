"""Swiss pairing: in each round a candidate meets an opponent it has not met with a near win count.

The rule (SABER-Math, Swiss-style tournament, pairing algorithm): the documents of a query stand in a given
tie order and are sorted stably by wins, ascending. The lowest document still waiting is paired with the
waiting document, not met before, of the nearest win count, the first in sorted order among equals. Because
the lowest document has the fewest wins, that is simply the first unmet one after it. A document all of whose
unmet opponents are taken sits the round out. Round 1 follows the same rule with no wins at all, hence a
random matching when the tie order is random.

``pair_round`` is the rule for one query in plain Python; ``pair_rounds`` gives the same pairs for a whole
block of queries in NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.tournament.keys import Uint64Array

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

SITS_OUT = -1


@dataclass(frozen=True)
class RoundPairing:
    """The pairs of one round in the order of pairing (lowest document first) and who sat out."""

    pairs: tuple[tuple[int, int], ...]
    sat_out: tuple[int, ...]


def pair_round(
    tie_order: Sequence[int], wins: Mapping[int, float] | Sequence[float], met: Mapping[int, Set[int]]
) -> RoundPairing:
    """Pair the documents of one query for one round.

    Parameters
    ----------
    tie_order
        The documents that wait for a partner, in the order that decides ties.
    wins
        Wins of each document before the round, at least 0 (a tied verdict counts half).
    met
        The opponents each document has met in earlier rounds; a document without an entry has met none.

    Returns
    -------
    RoundPairing
        Every waiting document stands in exactly one pair or in ``sat_out``.
    """
    waiting = sorted(tie_order, key=lambda document: wins[document])
    pairs: list[tuple[int, int]] = []
    sat_out: list[int] = []
    while waiting:
        lowest = waiting.pop(0)
        already_met = met.get(lowest, frozenset())
        for position, opponent in enumerate(waiting):
            if opponent not in already_met:
                pairs.append((lowest, waiting.pop(position)))
                break
        else:
            sat_out.append(lowest)
    return RoundPairing(tuple(pairs), tuple(sat_out))


def pair_rounds(tie_keys: Uint64Array, wins: npt.NDArray[Any], met: BoolArray, waiting: BoolArray) -> IntArray:
    """Pair one round of many queries at once, by the rule of :func:`pair_round`.

    Parameters
    ----------
    tie_keys
        Shape (queries, documents): ascending keys give the tie order; equal keys keep the column order.
    wins
        Shape (queries, documents): wins before the round (any consistent unit).
    met
        Shape (queries, documents, documents): symmetric, who has met whom in earlier rounds.
    waiting
        Shape (queries, documents): the documents to pair. False for padding and for documents whose pair
        of this round is already known: the rule applied to the rest then gives the remaining pairs of the
        undisturbed round, which is what makes a stopped round resumable.

    Returns
    -------
    numpy.ndarray
        Shape (queries, documents): the column of the opponent, or ``SITS_OUT`` (-1).
    """
    n_queries, n_documents = waiting.shape
    opponents = np.full((n_queries, n_documents), SITS_OUT, dtype=np.int64)
    # lexsort's last key is the primary one: the waiting before the rest, then wins, then tie keys.
    order = np.lexsort((tie_keys, wins, ~waiting), axis=1)
    free = np.take_along_axis(waiting, order, axis=1)
    for position in range(n_documents):
        active = np.flatnonzero(free[:, position])
        if not active.size:
            continue
        free[active, position] = False
        lowest = order[active, position]
        order_after = order[active, position + 1 :]
        eligible = free[active, position + 1 :]
        eligible &= ~met[active[:, None], lowest[:, None], order_after]
        if not eligible.shape[1]:
            continue
        nearest = eligible.argmax(axis=1)
        found = eligible[np.arange(active.size), nearest]
        queries, lowest, nearest = active[found], lowest[found], nearest[found]
        partner = order_after[found, nearest]
        free[queries, position + 1 + nearest] = False
        opponents[queries, lowest] = partner
        opponents[queries, partner] = lowest
    return opponents
