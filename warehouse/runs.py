"""Landed runs of a collection, one at a time: many systems at full size need not fit in memory together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import pyarrow as pa

from warehouse.collection import Collection
from warehouse.errors import SaberError
from warehouse.marts import Marts
from warehouse.settings import Settings

FACTS = ("run_id", "system", "setting", "scope", "idf", "params")
DOCUMENT = ("query_id", "document_id", "rank", "score", "latency_s", "content_hash")
_RUNS = "(select * from landing.runs where benchmark = $benchmark and variant = $variant)"


class Runs:
    """The runs of a collection.

    Parameters
    ----------
    run_ids
        Runs wanted; None for all.

    Attributes
    ----------
    facts
        One dictionary a run (columns :data:`FACTS`), in the order of run ids.

    Raises
    ------
    SaberError
        For a run id that has not landed for this collection; the message names close ones.
    """

    def __init__(self, settings: Settings, collection: Collection, run_ids: Sequence[str] | None = None) -> None:
        self._settings, self._collection = settings, collection
        self._given: dict[str, Any] = {"benchmark": collection.name, "variant": collection.variant}
        first = ", ".join(f"arg_max({name}, sequence) as {name}" for name in FACTS[1:])
        with Marts(settings) as marts:
            known = marts.rows(f"select run_id, {first} from {_RUNS} group by run_id order by run_id", self._given)
        ids = [row["run_id"] for row in known]
        if unknown := [run_id for run_id in run_ids or () if run_id not in ids]:
            close = dict.fromkeys(c for run_id in unknown for c in get_close_matches(run_id, ids, 3, 0.3))
            raise SaberError(
                f"No run {', '.join(map(repr, unknown))} has landed for benchmark {collection.name}. "
                f"Close: {', '.join(close) or 'none'}."
            )
        self.facts = known if run_ids is None else [row for row in known if row["run_id"] in set(run_ids)]

    def __iter__(self) -> Iterator[tuple[dict[str, Any], pa.Table]]:
        """Yield (facts, documents) of each run.

        Documents have the columns :data:`DOCUMENT` and come by query and rank, which follows
        ``evaluation.tie_break`` of the settings, as the metrics do.
        """
        is_trec = self._settings.evaluation.tie_break == "trec"
        single = "coalesce(try_cast(score as float), (sign(score) * 'infinity'::double)::float)"
        order = f"{single} desc, document_id desc" if is_trec else "score desc, document_id asc"
        queries = pa.table({"query_id": pa.array(self._collection.query_ids, pa.string())})
        with Marts(self._settings) as marts:
            marts.connection.register("exported_queries", queries)
            for facts in self.facts:
                yield (
                    facts,
                    marts.table(
                        f"""
                    with latest as (
                        -- as staging.stg_runs reads them
                        select * from {_RUNS} where run_id = $run_id
                        qualify job_id = arg_max(job_id, sequence) over (partition by query_id)
                    )
                    select
                        query_id, document_id,
                        row_number() over (partition by query_id order by {order})::integer as rank,
                        score, latency_s, content_hash
                    from latest
                    semi join exported_queries using (query_id)
                    order by query_id, rank
                    """,
                        {**self._given, "run_id": facts["run_id"]},
                    ),
                )
