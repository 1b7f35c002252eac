"""dbt-duckdb plugin: registers this package's vectorised functions for the models.

DuckDB hands them Arrow chunks of at most 2,048 rows, possibly from several threads; NULL rows reach them because
an empty set and a missing one are different things.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa
from dbt.adapters.duckdb.plugins import BasePlugin

from udfs.answers import answers_differ
from udfs.block_store import clear_blocks
from udfs.bma import best_match_average, qualifying_threshold
from udfs.jaccard import jaccard
from udfs.tokens import summary_tokens

_SETS = "varchar[]"


def _tokens(texts: pa.ChunkedArray, tokeniser: pa.ChunkedArray) -> pa.Array:
    names = set(tokeniser.to_pylist())
    if len(names) != 1:
        raise ValueError(f"one tokeniser a query, not {sorted(map(str, names))}")
    return summary_tokens(texts, names.pop())


def _least_qualifying(thresholds: pa.ChunkedArray, comparisons: pa.ChunkedArray) -> pa.Array:
    pairs = zip(thresholds.to_pylist(), comparisons.to_pylist(), strict=True)
    return pa.array([None if t is None else qualifying_threshold(t, c) for t, c in pairs], pa.float64())


def _answers_differ(first: pa.ChunkedArray, second: pa.ChunkedArray) -> pa.Array:
    pairs = zip(first.to_pylist(), second.to_pylist(), strict=True)
    return pa.array([answers_differ(one, other) for one, other in pairs], pa.bool_())


FUNCTIONS: dict[str, tuple[Callable[..., Any], list[str], str]] = {
    "summary_tokens": (_tokens, ["varchar", "varchar"], _SETS),
    "jaccard_similarity": (jaccard, [_SETS, _SETS], "double"),
    "best_match_average": (best_match_average, ["double[]", "double[]"], "double"),
    "answers_differ": (_answers_differ, ["varchar", "varchar"], "boolean"),
    "least_qualifying": (_least_qualifying, ["double", "varchar"], "double"),
}


class Plugin(BasePlugin):
    """Registered in ``profiles.yml`` as ``udfs.dbt_plugin``."""

    def configure_connection(self, conn: duckdb.DuckDBPyConnection) -> None:
        """Register every function of :data:`FUNCTIONS` on a new connection."""
        register_functions(conn)


def register_functions(connection: duckdb.DuckDBPyConnection) -> None:
    """Register every function of :data:`FUNCTIONS` on `connection`."""
    for name, (function, arguments, result) in FUNCTIONS.items():
        connection.create_function(  # type: ignore[call-overload]
            name,
            function,
            [duckdb.sqltype(kind) for kind in arguments],
            duckdb.sqltype(result),
            type="arrow",
            null_handling="special",
        )
    connection.create_function("clear_blocks", clear_blocks, ["varchar", "varchar"], "varchar", side_effects=True)
