"""Rating every query from its landed verdicts, and landing what changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from annotate.ratings.bradley_terry import Fit, fit
from annotate.ratings.comparisons import BoolArray, Comparisons, RealArray
from annotate.ratings.evidence import RidgeChoice, choose_ridge
from annotate.ratings.scale import rescale
from annotate.tournament.field import Field
from annotate.tournament.state import Results
from warehouse.identity import pair_hash
from warehouse.landing import Landing
from warehouse.schemas import TABLES

_STAMPED = frozenset(
    "benchmark query_id document_id judge schedule variant content_hash provider model".split()  # noqa: SIM905
)
_SAME = 1e-7  # landed and fitted values closer than this are the same: solver and BLAS differ in less


@dataclass(frozen=True)
class Stamp:
    """What lands with every rating."""

    benchmark: str
    judges: tuple[str, ...]  # of each query
    schedule: str
    variant: str
    provider: str
    model: str


@dataclass(frozen=True)
class Rated:
    """Fitted strengths and ratings of every candidate of every query."""

    field: Field
    comparisons: Comparisons
    fitted: Fit
    rating: RealArray
    degenerate: BoolArray
    choice: RidgeChoice | None

    def report(self) -> dict[str, Any]:
        """Return counts of what was rated and of everything that a reader must know of it."""
        judged_queries = np.bincount(
            self.comparisons.item_query,
            self.fitted.n_comparisons,
            minlength=len(self.comparisons.query_sizes),
        )
        has_verdicts = judged_queries > 0
        inestimable = np.zeros(len(has_verdicts), dtype=bool)
        if self.fitted.ridge == 0:
            inestimable[
                self.comparisons.item_query[self.fitted.graph.separable & (self.fitted.n_comparisons > 0)]
            ] = True
        return {
            "queries": len(has_verdicts),
            "rated_queries": int((has_verdicts & ~self.degenerate).sum()),
            "rated_documents": int(np.isfinite(self.rating).sum()),
            "verdicts": len(self.comparisons.first),
            "ridge": self.fitted.ridge,
            "queries_without_verdicts": self._names(~has_verdicts),
            "unjudged_documents": int((self.fitted.n_comparisons == 0).sum()),
            "disconnected_queries": self._names(self.fitted.graph.n_components > 1),
            "degenerate_queries": self._names(has_verdicts & self.degenerate & ~inestimable),
            "queries_without_finite_estimate": self._names(inestimable),
            "queries_not_converged": self._names(~self.fitted.converged & ~inestimable),
            "separable_documents": int((self.fitted.graph.separable & (self.fitted.n_comparisons > 0)).sum()),
        }

    def _names(self, chosen: BoolArray) -> list[str]:
        return [self.field.entrants[query].query_id for query in np.flatnonzero(chosen)]


def comparisons_of(field: Field, results: Results) -> Comparisons:
    """Turn verdicts into comparisons: each valid verdict once, invalid ones left out."""
    valid = ~np.isnan(results.share)
    sizes = np.array([len(e.document_ids) for e in field.entrants], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    query, first, second = results.pairs[valid].T
    return Comparisons(
        sizes,
        offsets[query] + first,
        offsets[query] + second,
        results.share[valid],
        np.ones(int(valid.sum())),
    )


def rate(
    field: Field,
    results: Results,
    ridge: float | str,
    scale: float,
    on_step: Callable[[float, float], None] | None = None,
) -> Rated:
    """Fit every query and rescale its strengths.

    Parameters
    ----------
    field, results
        Candidates and verdicts about them.
    ridge
        λ, or ``auto`` for the one of largest marginal likelihood over all queries.
    scale
        Rating of a query's strongest candidate.
    on_step
        Progress of the search for λ.
    """
    comparisons = comparisons_of(field, results)
    choice = choose_ridge(comparisons, on_step) if ridge == "auto" else None
    fitted = fit(comparisons, choice.ridge if choice else float(ridge))
    rating, degenerate = rescale(fitted.log_strength, comparisons.query_sizes, scale)
    return Rated(field, comparisons, fitted, rating, degenerate, choice)


def rating_rows(rated: Rated, stamp: Stamp) -> pa.Table:
    """Return the landed rows of all ratings; unjudged candidates have NULL ratings."""
    fitted, comparisons = rated.fitted, rated.comparisons
    n = comparisons.n_items
    unjudged = fitted.n_comparisons == 0
    columns: dict[str, Any] = {
        **identity(rated.field, comparisons, stamp),
        "rating": nullable(rated.rating),
        "log_strength": nullable(fitted.log_strength),
        "std_error": nullable(fitted.std_error),
        "component": pa.array(fitted.graph.component, pa.int32(), mask=unjudged),
        "separable": pa.array(fitted.graph.separable, pa.bool_(), mask=unjudged),
        "n_comparisons": pa.array(fitted.n_comparisons, pa.int32()),
        "ridge": pa.array(np.full(n, fitted.ridge)),
        "provider": pa.array([stamp.provider] * n, pa.string()),
        "model": pa.array([stamp.model] * n, pa.string()),
    }
    return pa.table(columns)


def changed_rows(landing: Landing, rows: pa.Table, variant: str) -> pa.Table:
    """Return the rows that differ from what has landed, so that rating again lands nothing new."""
    key = [column for column in TABLES["ratings"].key if column in rows.column_names]
    landed = _latest(landing, variant)
    joined = " and ".join(f"landed.{column} = rows.{column}" for column in key)
    numbers = ("rating", "log_strength", "std_error", "ridge")
    exact = ("component", "separable", "n_comparisons", "content_hash", "provider", "model")
    same = [
        f"coalesce(abs(landed.{c} - rows.{c}) < {_SAME}, landed.{c} is null and rows.{c} is null)" for c in numbers
    ]
    same += [f"landed.{c} is not distinct from rows.{c}" for c in exact]
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        connection.register("landed", landed)
        return connection.sql(
            "select rows.* from rows where not exists "
            f"(select 1 from landed where {joined} and {' and '.join(same)}) order by query_id, document_id"
        ).to_arrow_table()


def withdrawn_rows(landing: Landing, rows: pa.Table, variant: str) -> pa.Table:
    """Return empty ratings for documents that were rated under this variant and are no candidates any more.

    Without them the old ratings would stay the latest ones of their documents, for whoever reads the table.
    """
    key = [column for column in TABLES["ratings"].key if column in rows.column_names]
    columns = ", ".join(column if column in _STAMPED else f"null as {column}" for column in rows.column_names)
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        connection.register("landed", _latest(landing, variant))
        return (
            connection.sql(
                f"select {columns} from landed anti join rows using ({', '.join(key)}) "
                "where rating is not null and benchmark in (select benchmark from rows) "
                "order by query_id, document_id"
            )
            .to_arrow_table()
            .cast(rows.schema)
        )


def _latest(landing: Landing, variant: str) -> pa.Table:
    """Return the rows of a variant that landed last, one a key."""
    key = ", ".join(TABLES["ratings"].key)
    with duckdb.connect() as connection:
        return connection.sql(
            f"select * from ({landing.scan_sql('ratings')}) where variant = ? "
            f"qualify row_number() over (partition by {key} order by sequence desc) = 1",
            params=[variant],
        ).to_arrow_table()


def identity(field: Field, comparisons: Comparisons, stamp: Stamp) -> dict[str, pa.Array]:
    """Return the key columns and content hashes of all candidates, in the order of the items."""
    problems = field.problems
    query = comparisons.item_query
    n = comparisons.n_items
    query_ids = [entrants.query_id for entrants in field.entrants]
    return {
        "benchmark": pa.array([stamp.benchmark] * n, pa.string()),
        "query_id": pa.array([query_ids[q] for q in query], pa.string()),
        "document_id": pa.array([d for entrants in field.entrants for d in entrants.document_ids], pa.string()),
        "judge": pa.array([stamp.judges[q] for q in query], pa.string()),
        "schedule": pa.array([stamp.schedule] * n, pa.string()),
        "variant": pa.array([stamp.variant] * n, pa.string()),
        "content_hash": pa.array(
            [
                pair_hash(problems[entrants.query_id]["content_hash"], problems[d]["content_hash"])
                for entrants in field.entrants
                for d in entrants.document_ids
            ],
            pa.string(),
        ),
    }


def nullable(values: RealArray) -> pa.Array:
    """Round below the solver's error and turn NaN to NULL."""
    return pa.array(np.round(values, 9), pa.float64(), mask=~np.isfinite(values))
