"""Samples of all strengths, landed in portions: refits on resampled verdicts, and draws from the posterior."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import duckdb
import numpy as np
import pyarrow as pa

from annotate.ratings.comparisons import IntArray, RealArray
from annotate.ratings.job import Rated, Stamp, identity, nullable
from annotate.ratings.resampling import posterior_draws, replicates
from annotate.ratings.scale import rescale
from annotate.tournament.keys import hash_keys
from warehouse.landing import Landing
from warehouse.schemas import TABLES

_ROWS_AT_ONCE = 1_000_000
_DRAWS_AT_ONCE = 16  # a portion shares the factorisation of the curvature


@dataclass
class Samples:
    """Numbered samples of the strengths of every candidate, landed in portions.

    Parameters
    ----------
    landing, job_id, stamp, rated
        Where, by whom, under which names, and of what.
    scale
        Rating of a query's strongest candidate.
    table, number
        Landed table, and its column that numbers the samples.
    sample
        Yields the strengths, shape (items,), of each of the samples that it is given the numbers of; NaN where there
        is none. The same number gives the same sample.
    """

    landing: Landing
    job_id: str
    stamp: Stamp
    rated: Rated
    scale: float
    table: str
    number: str
    sample: Callable[[IntArray], Iterable[RealArray]]
    _parts: list[pa.Table] = field(default_factory=list)
    _n_rows: int = 0

    def missing(self, wanted: int, is_changed: bool) -> IntArray:
        """Return the numbers below `wanted` that have not landed; all of them where the ratings have changed.

        Those that landed before are redone too then: samples of older verdicts must not stand beside new ratings.
        """
        landed = self.landed()
        if is_changed:
            return np.arange(max(wanted, int(landed.max(initial=-1)) + 1))
        return np.setdiff1d(np.arange(wanted), landed)

    def landed(self) -> IntArray:
        """Return the numbers of the samples that have landed for all current candidates."""
        keys = ", ".join(column for column in TABLES[self.table].key if column != self.number)
        with duckdb.connect() as connection:
            connection.register("candidates", self._keys(0))
            counts = connection.execute(
                f"select {self.number} from (select distinct {self.number}, {keys}, content_hash from "
                f"({self.landing.scan_sql(self.table)})) "
                f"semi join candidates using ({keys}, content_hash) "
                f"group by {self.number} having count(*) = ? order by 1",
                [self.rated.comparisons.n_items],
            ).fetchall()
        return np.array([number for (number,) in counts], dtype=np.int64)

    def run(self, numbers: IntArray, on_done: Callable[[], object] = lambda: None) -> int:
        """Draw the samples of these numbers, land them and return the rows landed."""
        total = 0
        for number, strengths in zip(numbers.tolist(), self.sample(numbers), strict=True):
            rating, _ = rescale(strengths, self.rated.comparisons.query_sizes, self.scale)
            rows = self._keys(number).append_column("rating", nullable(rating))
            self._parts.append(rows.append_column("log_strength", nullable(strengths)))
            self._n_rows += rows.num_rows
            total += rows.num_rows
            if self._n_rows >= _ROWS_AT_ONCE:
                self._flush()
            on_done()
        self._flush()
        return total

    def _flush(self) -> None:
        if self._parts:
            self.landing.append(self.table, pa.concat_tables(self._parts), self.job_id)
            self._parts, self._n_rows = [], 0

    def _keys(self, number: int) -> pa.Table:
        n = self.rated.comparisons.n_items
        columns = identity(self.rated.field, self.rated.comparisons, self.stamp)
        return pa.table({**columns, self.number: pa.array(np.full(n, number), pa.int32())})


def refits(landing: Landing, job_id: str, stamp: Stamp, rated: Rated, scale: float, seed: int) -> Samples:
    """Prepare refits on verdicts resampled within each query, for the interval of an aggregate."""
    keys = hash_keys(seed, [entrants.query_id for entrants in rated.field.entrants])

    def sample(numbers: IntArray) -> Iterable[RealArray]:
        return replicates(rated.comparisons, rated.fitted, keys, numbers)

    return Samples(landing, job_id, stamp, rated, scale, "rating_replicates", "replicate", sample)


def draws(landing: Landing, job_id: str, stamp: Stamp, rated: Rated, scale: float, seed: int) -> Samples:
    """Prepare draws from the posterior of the strengths, for the noise of a single query's score.

    Without a ridge the posterior is improper: :func:`posterior_draws` then refuses.
    """
    pairs = (f"{entrants.query_id}\x1f{d}" for entrants in rated.field.entrants for d in entrants.document_ids)
    keys = hash_keys(seed, [f"posterior\x1f{pair}" for pair in pairs])

    def sample(numbers: IntArray) -> Iterator[RealArray]:
        for begin in range(0, len(numbers), _DRAWS_AT_ONCE):
            yield from posterior_draws(
                rated.comparisons, rated.fitted, keys, numbers[begin : begin + _DRAWS_AT_ONCE].tolist()
            )

    return Samples(landing, job_id, stamp, rated, scale, "rating_draws", "draw", sample)
