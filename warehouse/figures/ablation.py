"""The signal ablation: how soon each class of candidates comes in the order of the ratings."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from udfs.resampling import percentile_interval, resampled_counts
from warehouse.figures.curves import curves
from warehouse.figures.style import frame, styled

_NAMES = {"both": "both signals", "topic_only": "topics alone", "summary_only": "summary alone"}


@styled
def cumulative_ranks(shares: Any, ranks: Any, n_replicates: int = 1000, seed: int = 20263) -> Any:
    """Draw the share of each class within a rank, with a 95 % band over resampled queries and what chance would give.

    Parameters
    ----------
    shares
        class, rank, share_within, chance: as ``analysis.signal_ablation``.
    ranks
        query_id, class, rank: one row per rated candidate.
    """
    data = frame(shares, "class", "rank", "share_within", "chance")
    bands = ablation_bands(ranks, n_replicates, seed)
    named = data.join(bands, on=["class", "rank"], how="left").with_columns(
        pl.col("class").replace(_NAMES).alias("named"),
        pl.col("class").replace_strict({"both": 0, "topic_only": 1}, default=2, return_dtype=pl.Int64).alias("order"),
    )
    return curves(named.sort("order", "rank"), "rank", "share_within", "named", "rank by rating within a query",
                  "share of the class within the rank", low="low", high="high", reference="chance",
                  y_limits=(0, 1.02))  # fmt: skip


def ablation_bands(ranks: Any, n_replicates: int = 1000, seed: int = 20263) -> pl.DataFrame:
    """Return class, rank, low, high: percentile bootstrap over queries, each with all of its candidates."""
    schema = {"class": pl.String, "rank": pl.Int32, "low": pl.Float64, "high": pl.Float64}
    data = frame(ranks, "query_id", "class", "rank")
    if not data.height:
        return pl.DataFrame(schema=schema)
    queries = {one: at for at, one in enumerate(data["query_id"].unique(maintain_order=True))}
    last = int(data["rank"].max())  # type: ignore[arg-type]
    drawn = np.concatenate(list(resampled_counts(len(queries), n_replicates, seed, "signal ablation")))
    found = []
    for part in data.partition_by("class", maintain_order=True):
        counts = np.zeros((len(queries), last))
        places = np.array([queries[one] for one in part["query_id"]])
        np.add.at(counts, (places, part["rank"].to_numpy() - 1), 1.0)
        totals = drawn @ counts.sum(axis=1)
        known = totals > 0  # a replicate may draw no query that has the class
        ends = percentile_interval((drawn[known] @ counts.cumsum(axis=1)) / totals[known, None])
        columns = {"class": [part["class"][0]] * last, "rank": range(1, last + 1), "low": ends.low, "high": ends.high}
        found.append(pl.DataFrame(columns, schema=schema))
    return pl.concat(found)
