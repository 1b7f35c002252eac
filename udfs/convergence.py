"""How a tournament's ranking nears the exhaustive one, round by round, from recorded verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from udfs.strengths import fit_strengths, inversions

IntArray = npt.NDArray[np.int64]
RealArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Verdicts:
    """Verdicts on one query's documents by one schedule, parallel arrays of shape (verdicts,).

    Attributes
    ----------
    rounds
        Round of each verdict.
    first, second
        Numbers of the two documents.
    share
        Share of the win of the first, 0 to 1.
    """

    rounds: IntArray
    first: IntArray
    second: IntArray
    share: RealArray

    def wins(self, n_documents: int, last_round: int | None = None) -> RealArray:
        """Shares of wins up to a round, shape (documents, documents)."""
        chosen = self.rounds <= last_round if last_round is not None else np.full(len(self.rounds), True)
        total = np.zeros((n_documents, n_documents))
        np.add.at(total, (self.first[chosen], self.second[chosen]), self.share[chosen])
        np.add.at(total, (self.second[chosen], self.first[chosen]), 1.0 - self.share[chosen])
        return total


@dataclass(frozen=True)
class Round:
    """State of one query after a round: comparisons so far and pairs ordered unlike the exhaustive ranking."""

    round: int
    n_comparisons: int
    inversions: float


def rounds_against(verdicts: Verdicts, exhaustive: Verdicts, n_documents: int, ridge: float = 1.0) -> Iterator[Round]:
    """Fit the verdicts of the first rounds, one more each time, and compare with the fit of all pairs.

    Parameters
    ----------
    verdicts, exhaustive
        Verdicts of the schedule and of the exhaustive schedule, documents numbered alike.
    n_documents
        Documents of the query.
    """
    reference = fit_strengths(exhaustive.wins(n_documents), ridge)
    for last in sorted(set(verdicts.rounds.tolist())):
        wins = verdicts.wins(n_documents, last)
        yield Round(last, int((verdicts.rounds <= last).sum()), inversions(fit_strengths(wins, ridge), reference))
