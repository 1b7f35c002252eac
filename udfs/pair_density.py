"""The share of pairs that qualify, from some rows with all their partners: exact for these rows, drawn by hash."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from udfs.bma_blocks import partners_of_sets
from udfs.bma_space import SetSpace
from udfs.jaccard_blocks import qualifying_partners
from udfs.jaccard_index import TokenSetIndex


@dataclass(frozen=True)
class Density:
    """Qualifying pairs among those of some rows with all rows.

    Attributes
    ----------
    n_rows : int
        Rows looked at.
    n_compared : int
        Ordered pairs of these rows with any other.
    n_found : int
        How many of them qualify.
    """

    n_rows: int
    n_compared: int
    n_found: int

    @property
    def share(self) -> float:
        """In [0, 1]; 0 where there are no pairs."""
        return self.n_found / self.n_compared if self.n_compared else 0.0

    def expected(self, n: int) -> float:
        """Unordered pairs of `n` rows that qualify, if they are like those looked at."""
        return self.share * n * (n - 1) / 2


def is_dense(densities: Iterable[tuple[Density, int]], max_stored_share: float, stored_anyway: int) -> bool:
    """Say whether pairs are too many to be stored.

    Parameters
    ----------
    densities : iterable of (Density, int)
        Each signal's density and its number of rows.
    max_stored_share : float
        In [0, 1]; 0 never stores any.
    stored_anyway : int
        Pairs that are stored even so, unless none ever are.
    """
    known = list(densities)
    highest = max((density.share for density, _ in known), default=0.0)
    expected = sum(density.expected(n) for density, n in known)
    return highest > max_stored_share and (max_stored_share == 0 or expected > stored_anyway)


def topic_density(
    space: SetSpace, rows: npt.NDArray[Any], threshold: float, comparison: str = "exact", workers: int = 2
) -> Density:
    """Share of the pairs of different topic sets that reach the threshold, from the sets in `rows`."""
    rows = np.unique(rows)
    blocks = partners_of_sets(space, rows, threshold, comparison=comparison, workers=workers)
    found = sum(int(np.count_nonzero(block.x != block.y)) for block in blocks)
    return Density(len(rows), len(rows) * (len(space.sets) - 1), found)


def summary_density(
    index: TokenSetIndex, rows: npt.NDArray[Any], threshold: float, comparison: str = "exact", workers: int = 2
) -> Density:
    """Share of the pairs of different problems whose summaries reach the threshold, from the problems in `rows`."""
    rows = np.unique(rows)
    blocks = qualifying_partners(index, rows, threshold, comparison, workers=workers)
    return Density(len(rows), len(rows) * (index.n_rows - 1), sum(len(block.i) for block in blocks))
