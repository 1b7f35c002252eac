"""The pairs of candidates a task list is drawn from, read from the snapshot.

Pairs are drawn by hash: the order is that of ``identity.uniform(seed, query, lower, higher)``, computed by
DuckDB as the SHA-256 of the same text, because a benchmark of 1,000 queries has eleven million pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from warehouse.cli.common import open_snapshot
from warehouse.errors import SaberError
from warehouse.settings import Settings

BANDS = 6
"""Bands of rank difference, of equal width: 25 ranks each where a query has 150 candidates."""

UNRATED = -1
"""The band of a pair whose rank difference is not known."""

_POOL_OF_A_BAND = 4000


@dataclass(frozen=True, order=True)
class Pair:
    """Two candidates of a query, in ascending order of their ids."""

    query_id: str
    lower_id: str
    higher_id: str

    @classmethod
    def of(cls, query_id: str, one_id: str, other_id: str) -> Pair:
        """Make the pair of two candidates given in any order."""
        return cls(query_id, min(one_id, other_id), max(one_id, other_id))


@dataclass(frozen=True)
class Pool:
    """The pairs that may become tasks.

    Attributes
    ----------
    benchmark, variant
        The benchmark and its variant, as its candidates carry them.
    bands
        {band of rank difference: its first pairs in the order of the draw}; ``UNRATED`` holds pairs of
        documents without a rating.
    """

    benchmark: str
    variant: str
    bands: dict[int, tuple[Pair, ...]]

    @property
    def description(self) -> str:
        """How tasks are drawn, in a few words."""
        if any(band != UNRATED for band in self.bands):
            return "balanced over rank difference"
        return "uniform over candidate pairs, since there are no ratings yet"


_PAIRS = """
with
    texts as (select problem_id, content_hash from {staging}.stg_problems),
    rated as (
        select
            candidates.query_id,
            candidates.document_id,
            documents.content_hash,
            qrels.relevance
        from {benchmark}.candidates as candidates
        inner join texts as documents on documents.problem_id = candidates.document_id
        inner join texts as queries on queries.problem_id = candidates.query_id
        left join {benchmark}.qrels as qrels
            on qrels.query_id = candidates.query_id and qrels.document_id = candidates.document_id
    ),
    -- Equal ratings share the mean of their ranks, so that a tie is a difference of 0.
    ranked as (
        select
            *,
            count(relevance) over (partition by query_id) as n_rated,
            case when relevance is not null then
                rank() over (partition by query_id order by relevance desc nulls last)
                + (count(*) over (partition by query_id, relevance) - 1) / 2.0
            end as position
        from rated
    ),
    pairs as (
        select
            lower.query_id,
            lower.document_id as lower_id,
            higher.document_id as higher_id,
            -- least() would pass over the NULL of an unrated document.
            case when lower.position is null or higher.position is null then $unrated
                else least($bands - 1, floor($bands * abs(lower.position - higher.position) / lower.n_rated))
            end::integer as band,
            sha256(concat_ws(chr(31), $seed::bigint, lower.query_id, lower.document_id, higher.document_id)) as draw
        from ranked as lower
        inner join ranked as higher
            on lower.query_id = higher.query_id and lower.document_id < higher.document_id
        -- The same text twice is no question.
        where lower.content_hash <> higher.content_hash
    )
select band, min_by([query_id, lower_id, higher_id], draw, {wanted}) as drawn
from pairs
group by band
order by band
"""


def schema(settings: Settings, name: str) -> str:
    """Return the schema of the snapshot that holds a folder's models under these settings."""
    return f"{name}__{settings.variant.replace('-', '_')}" if settings.variant else name


def read_pool(settings: Settings, tasks: int, seed: int) -> Pool:
    """Read the benchmark's name and draw its pool of pairs.

    Parameters
    ----------
    settings
        Settings; the snapshot lies in their home.
    tasks
        Tasks of an annotator; the pool holds at least as many pairs of each band, where there are so many.
    seed
        Seed of the draw.

    Raises
    ------
    SaberError
        When there is no snapshot, it has no candidates, or they are of several variants.
    """
    with open_snapshot(settings) as connection:
        benchmark, variant = read_benchmark(connection, settings)
        names = {name: schema(settings, name) for name in ("staging", "benchmark")}
        sql = _PAIRS.format(**names, wanted=max(_POOL_OF_A_BAND, tasks))
        rows = connection.execute(sql, {"bands": BANDS, "unrated": UNRATED, "seed": seed}).fetchall()
    bands = {band: tuple(Pair(*ids) for ids in drawn) for band, drawn in rows}
    if not bands:
        raise SaberError(
            f"No query of {benchmark} has two candidates with texts: there is nothing to judge. "
            "See: saber status, then dbt build"
        )
    return Pool(benchmark, variant, bands)


def read_benchmark(connection: duckdb.DuckDBPyConnection, settings: Settings) -> tuple[str, str]:
    """Return (benchmark, variant) of the snapshot's candidates.

    Raises
    ------
    SaberError
        When there are none or they are of several benchmarks or variants.
    """
    place = f"{schema(settings, 'benchmark')}.candidates"
    try:
        found = connection.execute(f"select distinct benchmark, variant from {place} order by all").fetchall()
    except duckdb.CatalogException as error:
        raise SaberError(f"The snapshot has no {place}. Make it: dbt build") from error
    if not found:
        raise SaberError(f"{place} is empty, so there are no pairs to judge. See: saber status, then dbt build")
    if len(found) > 1:
        shown = ", ".join(f"{benchmark}/{variant}" for benchmark, variant in found)
        raise SaberError(f"{place} mixes {shown}. Make it anew: dbt build --select benchmark")
    return str(found[0][0]), str(found[0][1])
