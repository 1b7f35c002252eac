"""The state of many queries' tournaments: what has been played, and what the next round plays.

A tournament is never stored: it is replayed from landed verdicts. In each round the landed pairs of the round
stand, and the rule pairs the documents that are left. On an undisturbed record this gives the pairs of the
undisturbed tournament, wherever it was stopped; when candidates have come or gone since, it keeps every landed
verdict and fills the gaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from annotate.tournament.keys import Uint64Array, hash_keys, round_keys
from annotate.tournament.schedules import exhaustive_schedule, random_schedule
from annotate.tournament.swiss import SITS_OUT, BoolArray, IntArray, pair_rounds

RealArray = npt.NDArray[np.float64]
SCHEDULES = ("swiss", "random", "exhaustive")


@dataclass(frozen=True)
class Entrants:
    """The documents that compete for one query, in ascending order of their ids."""

    query_id: str
    document_ids: tuple[str, ...]

    def __post_init__(self) -> None:
        if list(self.document_ids) != sorted(set(self.document_ids)):
            raise ValueError(f"The documents of query {self.query_id} must ascend and differ.")


@dataclass(frozen=True)
class Results:
    """Verdicts as arrays: ``pairs`` of shape (verdicts, 3) = query, first shown, second shown (columns).

    ``share`` is the share of the win of the first shown, NaN for an invalid verdict; ``rounds`` the round.
    """

    pairs: IntArray
    rounds: IntArray
    share: RealArray

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, int, int, float]]) -> Results:
        """Build from (query, first, second, round, share)."""
        table = np.array(rows, dtype=np.float64).reshape(-1, 5)
        whole = table[:, :4].astype(np.int64)
        return cls(whole[:, :3], whole[:, 3], table[:, 4])

    def where(self, chosen: BoolArray) -> Results:
        """Return some of the verdicts."""
        return Results(self.pairs[chosen], self.rounds[chosen], self.share[chosen])


def concatenate(parts: Iterable[Results]) -> Results:
    """Join results."""
    listed = list(parts)
    return Results(
        np.concatenate([part.pairs for part in listed]),
        np.concatenate([part.rounds for part in listed]),
        np.concatenate([part.share for part in listed]),
    )


@dataclass
class Standings:
    """Points, meetings and valid comparisons of every document, shapes (queries, documents[, documents])."""

    present: BoolArray
    points: RealArray = field(init=False)
    met: BoolArray = field(init=False)
    n_valid: IntArray = field(init=False)

    def __post_init__(self) -> None:
        n_queries, width = self.present.shape
        self.points = np.zeros((n_queries, width))
        self.n_valid = np.zeros((n_queries, width), dtype=np.int64)
        self.met = np.zeros((n_queries, width, width), dtype=bool)

    def meet(self, pairs: IntArray) -> None:
        """Note that pairs have met."""
        query, i, j = pairs.T
        self.met[query, i, j] = self.met[query, j, i] = True

    def settle(self, results: Results) -> None:
        """Add verdicts; a pair asked in both orders counts once, with the mean of its valid verdicts."""
        self.meet(results.pairs)
        query, first, second = results.pairs.T
        low, high = np.minimum(first, second), np.maximum(first, second)
        share = np.where(first < second, results.share, 1.0 - results.share)
        valid = ~np.isnan(share)
        width = self.present.shape[1]
        code, where = np.unique(((query * width + low) * width + high)[valid], return_inverse=True)
        mean = np.bincount(where, share[valid], len(code)) / np.maximum(np.bincount(where, minlength=len(code)), 1)
        query, low, high = code // width**2, code // width % width, code % width
        for document, gained in ((low, mean), (high, 1.0 - mean)):
            np.add.at(self.points, (query, document), gained)
            np.add.at(self.n_valid, (query, document), 1)


class Tournament:
    """Replays and continues the tournaments of all queries, one round at a time.

    Parameters
    ----------
    entrants
        The queries.
    schedule
        ``swiss``, ``random`` or ``exhaustive``.
    rounds
        Number of rounds; an exhaustive schedule has as many as it needs.
    seed
        Seeds the tie orders and the random draw.
    landed
        Verdicts that have landed, of any round.
    """

    def __init__(
        self,
        entrants: Sequence[Entrants],
        schedule: str,
        rounds: int,
        seed: int,
        landed: Results,
    ) -> None:
        if schedule not in SCHEDULES:
            raise ValueError(f"Unknown schedule {schedule!r}; there are {', '.join(SCHEDULES)}.")
        self.entrants = entrants
        self.schedule = schedule
        self.landed = landed
        sizes = np.array([len(e.document_ids) for e in entrants], dtype=np.int64)
        width = int(sizes.max(initial=0))
        present = np.arange(width) < sizes[:, None]
        self.standings = Standings(present)
        self.standings.meet(landed.pairs)
        self._landed_codes = self.codes(np.sort(landed.pairs[:, 1:], axis=1), landed.pairs[:, 0])
        self.blocked = np.zeros(len(entrants), dtype=bool)
        self.keys = self._document_keys(seed, present)
        if schedule == "swiss":
            self.rounds = rounds if len(entrants) else 0
        else:
            self._fixed = [self._fixed_rounds(q, int(n), rounds) for q, n in enumerate(sizes)]
            self.rounds = max(map(len, self._fixed), default=0)

    def pairs_of_round(self, number: int) -> tuple[IntArray, IntArray]:
        """Return the pairs of a round and who sits out, landed pairs included.

        Rounds must be taken in order, each settled before the next is asked for.

        Returns
        -------
        tuple
            Pairs (query, lower column, higher column) of shape (pairs, 3), and (query, column) of shape
            (sitting out, 2). Blocked queries are left out.
        """
        if self.schedule == "swiss":
            return self._swiss_round(number)
        pairs, sat_out = [], []
        for query, rounds in enumerate(self._fixed):
            if number > len(rounds) or self.blocked[query]:
                continue
            own = rounds[number - 1]
            pairs.append(np.column_stack([np.full(len(own), query), own]))
            if self.schedule == "exhaustive":
                idle = np.setdiff1d(np.arange(len(self.entrants[query].document_ids)), own)
                sat_out.append(np.column_stack([np.full(len(idle), query), idle]))
        return _stack(pairs, 3), _stack(sat_out, 2)

    def landed_of(self, number: int, pairs: IntArray) -> Results:
        """Return the landed verdicts about the pairs of a round (query, lower, higher), in either order."""
        if self.schedule == "swiss":
            inside = (self.landed.rounds == number) & ~self.blocked[self.landed.pairs[:, 0]]
        else:
            inside = np.isin(self._landed_codes, self.codes(pairs[:, 1:], pairs[:, 0]))
        return self.landed.where(inside)

    def codes(self, columns: IntArray, query: IntArray) -> IntArray:
        """Number (query, first column, second column) in the order given."""
        width = self.standings.present.shape[1]
        numbers: IntArray = (query * width + columns[:, 0]) * width + columns[:, 1]
        return numbers

    def settle(self, results: Results) -> None:
        """Add a round's verdicts (landed and new) to the standings."""
        self.standings.settle(results)

    def block(self, queries: IntArray) -> None:
        """Leave queries out of later rounds: a round of theirs could not be finished."""
        self.blocked[queries] = True

    def _swiss_round(self, number: int) -> tuple[IntArray, IntArray]:
        active = self.standings.present & ~self.blocked[:, None]
        own = self.landed.pairs[self.landed.rounds == number]
        own = own[~self.blocked[own[:, 0]]]
        waiting = active.copy()
        waiting[own[:, 0], own[:, 1]] = waiting[own[:, 0], own[:, 2]] = False
        opponents = pair_rounds(round_keys(self.keys, number), self.standings.points, self.standings.met, waiting)
        query, i = np.nonzero(opponents > np.arange(opponents.shape[1]))
        new = np.column_stack([query, i, opponents[query, i]])
        self.standings.meet(new)
        played = np.column_stack([own[:, 0], np.sort(own[:, 1:], axis=1)])
        pairs = np.unique(np.concatenate([played, new]), axis=0)
        return pairs, np.argwhere(waiting & (opponents == SITS_OUT))

    def _fixed_rounds(self, query: int, n: int, rounds: int) -> Sequence[IntArray]:
        if self.schedule == "exhaustive":
            return exhaustive_schedule(n)
        return random_schedule(self.keys[query, :n], rounds)

    def _document_keys(self, seed: int, present: BoolArray) -> Uint64Array:
        keys = np.zeros(present.shape, dtype=np.uint64)
        queries = [e.query_id for e in self.entrants for _ in e.document_ids]
        keys[present] = hash_keys(seed, queries, [d for e in self.entrants for d in e.document_ids])
        return keys


def _stack(parts: Sequence[IntArray], width: int) -> IntArray:
    return np.concatenate([np.zeros((0, width), dtype=np.int64), *parts])
