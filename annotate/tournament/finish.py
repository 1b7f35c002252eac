"""Extra rounds after the schedule: every document gets its share of valid verdicts, and one graph.

Documents fall short when they came after the tournament was played, sat out often, or met verdicts that
stayed invalid; late-comers who met only each other form a component of their own. `saber judge --finish`
pairs just these documents, with the unmet opponent of the nearest points among all documents.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from annotate.tournament.keys import round_keys
from annotate.tournament.state import Tournament
from annotate.tournament.swiss import IntArray


def finishing_pairs(tournament: Tournament, target: int, number: int, linked: IntArray) -> IntArray:
    """Return the pairs of an extra round, none when every query is finished or has no pair left.

    Parameters
    ----------
    tournament
        All verdicts so far settled.
    target
        Valid verdicts each document should have (less where it has fewer opponents).
    number
        Number of the extra round, for the tie order.
    linked
        Pairs (query, column, column) with a valid verdict, shape (pairs, 3).
    """
    standings = tournament.standings
    order = np.lexsort((round_keys(tournament.keys, number), standings.points), axis=1)
    pairs = []
    for query, entrants in enumerate(tournament.entrants):
        if tournament.blocked[query]:
            continue
        n = len(entrants.document_ids)
        edges = linked[linked[:, 0] == query]
        component = _components(n, edges)
        apart = component != np.bincount(component, minlength=1).argmax() if n else component > 0
        short = standings.n_valid[query, :n] < min(target, n - 1)
        positions = [int(d) for d in order[query] if d < n]
        pairs += [
            (query, min(i, j), max(i, j))
            for i, j in _pair_needy(positions, standings.points[query], standings.met[query], short, apart, component)
        ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 3)


def _components(n: int, edges: IntArray) -> IntArray:
    graph = csr_array((np.ones(len(edges)), (edges[:, 1], edges[:, 2])), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _pair_needy(
    order: list[int],
    points: np.ndarray,
    met: np.ndarray,
    short: np.ndarray,
    apart: np.ndarray,
    component: IntArray,
) -> list[tuple[int, int]]:
    """Pair each needy document; documents apart from the largest component meet another component."""
    taken: set[int] = set()
    pairs = []
    for needy in order:
        if needy in taken or not (short[needy] or apart[needy]):
            continue
        free = [d for d in order if d != needy and d not in taken and not met[needy, d]]
        foreign = [d for d in free if component[d] != component[needy]]
        # A document apart that has its share of verdicts needs a link and nothing else.
        eligible = foreign if apart[needy] and (foreign or not short[needy]) else free
        if eligible:
            opponent = _nearest(eligible, points, float(points[needy]))
            pairs.append((needy, opponent))
            taken |= {needy, opponent}
    return pairs


def _nearest(eligible: list[int], points: np.ndarray, wanted: float) -> int:
    """Return the first document of nearest points."""
    return min(eligible, key=lambda document: abs(points[document] - wanted))
