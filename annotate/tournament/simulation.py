"""Tournaments with simulated judges: how fast the schedules near the exhaustive ranking, and the truth.

A simulated judge knows a strength of every document and prefers i to j with probability 1 / (1 + exp(θj − θi)). Its
verdict about a pair is drawn once, so every schedule that plays the pair hears the same verdict, as with a model at
temperature 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, ndtri

from annotate.ratings.bradley_terry import fit
from annotate.ratings.comparisons import Comparisons
from annotate.tournament.keys import hash_keys, mix, uniforms
from annotate.tournament.state import Entrants, Results, Tournament
from udfs.strengths import inversions

RealArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Simulation:
    """What is simulated.

    Attributes
    ----------
    n_queries, n_documents
        Queries, and documents of each.
    rounds
        Rounds of the schedules ``swiss`` and ``random``.
    spread
        Standard deviation of the true strengths: the larger, the surer the judge (2.0: the better of two random
        documents is preferred in about 80 % of the pairs).
    ridge
        λ of the fits.
    seed
        Seeds strengths, verdicts and schedules.
    """

    n_queries: int = 20
    n_documents: int = 150
    rounds: int = 20
    spread: float = 2.0
    ridge: float = 1.0
    seed: int = 1


@dataclass(frozen=True)
class Step:
    """State after a round, means over queries.

    Attributes
    ----------
    schedule, round
        What was played so far.
    comparisons
        Verdicts.
    inversions, inversions_of_truth
        Pairs ordered unlike the exhaustive ranking, and unlike the true strengths.
    """

    schedule: str
    round: int
    comparisons: float
    inversions: float
    inversions_of_truth: float


def simulate(simulation: Simulation) -> Iterator[Step]:
    """Play swiss and random tournaments round by round; the last step is the exhaustive one."""
    judge = _Judge(simulation)
    exhaustive = _played(judge, "exhaustive")
    reference = judge.fitted(exhaustive)
    for schedule in ("swiss", "random"):
        tournament = judge.tournament(schedule)
        so_far = Results.of([])
        for number in range(1, simulation.rounds + 1):
            so_far = _joined(so_far, _play(judge, tournament, number))
            yield judge.step(schedule, number, so_far, reference)
    yield judge.step("exhaustive", tournament_rounds(simulation.n_documents), exhaustive, reference)


def tournament_rounds(n_documents: int) -> int:
    """Return the rounds in which every document meets every other."""
    return max(n_documents - 1 + n_documents % 2, 0)


class _Judge:
    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        n = simulation.n_documents
        documents = tuple(f"d{number:05d}" for number in range(n))
        self.entrants = [Entrants(f"q{number:05d}", documents) for number in range(simulation.n_queries)]
        queries = [entrants.query_id for entrants in self.entrants for _ in documents]
        self._keys = hash_keys(simulation.seed, queries, [*documents] * simulation.n_queries)
        self.strength = simulation.spread * ndtri(uniforms(mix(self._keys))).reshape(simulation.n_queries, n)

    def tournament(self, schedule: str) -> Tournament:
        return Tournament(self.entrants, schedule, self.simulation.rounds, self.simulation.seed, Results.of([]))

    def verdicts(self, pairs: npt.NDArray[np.int64], number: int) -> Results:
        """Judge (query, lower, higher) pairs."""
        query, low, high = pairs.T
        n = self.simulation.n_documents
        drawn = uniforms(mix(mix(self._keys[query * n + low]) ^ self._keys[query * n + high]))
        share = (drawn < expit(self.strength[query, low] - self.strength[query, high])).astype(np.float64)
        return Results(pairs, np.full(len(pairs), number, dtype=np.int64), share)

    def fitted(self, results: Results) -> RealArray:
        """Strengths of every query's documents, shape (queries, documents)."""
        n_queries, n = self.simulation.n_queries, self.simulation.n_documents
        query, first, second = results.pairs.T
        sizes = np.full(n_queries, n, dtype=np.int64)
        comparisons = Comparisons(
            sizes, query * n + first, query * n + second, results.share, np.ones(len(results.share))
        )
        strengths = fit(comparisons, self.simulation.ridge, errors=False).log_strength
        return np.asarray(np.nan_to_num(strengths)).reshape(n_queries, n)  # unplayed documents stand in the middle

    def step(self, schedule: str, number: int, results: Results, reference: RealArray) -> Step:
        fitted = self.fitted(results)
        of_reference = [inversions(own, other) for own, other in zip(fitted, reference, strict=True)]
        of_truth = [inversions(own, other) for own, other in zip(fitted, self.strength, strict=True)]
        per_query = len(results.share) / self.simulation.n_queries
        return Step(schedule, number, per_query, float(np.mean(of_reference)), float(np.mean(of_truth)))


def _played(judge: _Judge, schedule: str) -> Results:
    tournament = judge.tournament(schedule)
    played = [_play(judge, tournament, number) for number in range(1, tournament.rounds + 1)]
    so_far = Results.of([])
    for results in played:
        so_far = _joined(so_far, results)
    return so_far


def _play(judge: _Judge, tournament: Tournament, number: int) -> Results:
    pairs, _ = tournament.pairs_of_round(number)
    results = judge.verdicts(pairs, number)
    tournament.settle(results)
    return results


def _joined(one: Results, other: Results) -> Results:
    return Results(
        np.concatenate([one.pairs, other.pairs]),
        np.concatenate([one.rounds, other.rounds]),
        np.concatenate([one.share, other.share]),
    )
