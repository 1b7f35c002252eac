"""The problems that an annotation job has to do: those with a solution whose rows are missing or of an older text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb

from warehouse.landing import Landing
from warehouse.settings import Settings

_BATCH = 2_000
_RECORD = """problem_id, source, source_id, nfc_normalize(statement) as statement,
    nfc_normalize(solution) as solution,
    answer, language, licence, metadata, content_hash"""


@dataclass(frozen=True)
class Work:
    """What there is to do for one stage and variant.

    Attributes
    ----------
    total
        Problems that have landed and are not withdrawn.
    without_solution
        Those without a solution: they are never eligible, so nothing is asked about them.
    other_language
        Those in a language that the settings leave out.
    done
        Those whose rows have landed for this variant and this text.
    """

    total: int
    without_solution: int
    other_language: int
    done: int

    @property
    def pending(self) -> int:
        """Problems left to do."""
        return self.total - self.without_solution - self.other_language - self.done


class PendingProblems:
    """Problems left to do for the rows of ``table`` under ``variant``, in the order in which they landed.

    Parameters
    ----------
    table
        Landed table of the stage, ``topic_scores`` or ``summaries``. A problem is done when its latest rows of
        the variant saw its present text: rows of an earlier text that came back do not count.
    """

    def __init__(self, landing: Landing, settings: Settings, table: str, variant: str) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("set preserve_insertion_order = true")
        self._connection.execute(f"create temp view landed as {landing.scan_sql('problems')}")
        self._connection.execute(f"create temp view tombstones as {landing.scan_sql('tombstones')}")
        self._connection.execute(f"create temp view stage_rows as {landing.scan_sql(table)}")
        self._connection.execute(_DONE, [variant])
        self._connection.execute(_STATE, [list(settings.corpus.languages)])

    def __enter__(self) -> PendingProblems:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def work(self) -> Work:
        """Count the problems by what there is to do."""
        counts = dict(self._connection.execute("select state, count(*) from state group by all").fetchall())
        return Work(
            sum(counts.values()),
            counts.get("without solution", 0),
            counts.get("other language", 0),
            counts.get("done", 0),
        )

    def records(self, limit: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the records of at most ``limit`` pending problems, a batch at a time."""
        cursor = self._connection
        cursor.execute(_PENDING if limit is None else f"{_PENDING} limit {int(limit)}")
        while rows := cursor.fetchmany(_BATCH):
            names = [column[0] for column in cursor.description or ()]
            for row in rows:
                yield dict(zip(names, row, strict=True))


_DONE = """
create temp table done as
select problem_id, arg_max(content_hash, sequence) as content_hash
from stage_rows
where variant = ?
group by problem_id
"""

_STATE = """
create temp table state as
with
    latest as (
        select
            problem_id,
            source,
            language,
            content_hash,
            sequence,
            coalesce(trim(solution), '') <> '' as has_solution
        from landed
        qualify row_number() over (partition by problem_id order by sequence desc) = 1
    ),
    retracted as (
        select source from tombstones group by source having arg_max(action, sequence) = 'retract'
    )
select
    latest.problem_id,
    latest.sequence,
    case
        when not latest.has_solution then 'without solution'
        when len(languages.wanted) > 0 and not list_contains(languages.wanted, coalesce(latest.language, ''))
        then 'other language'
        when done.content_hash is not distinct from latest.content_hash then 'done'
        else 'pending'
    end as state
from latest
cross join (select cast(? as varchar[]) as wanted) as languages
left join done on done.problem_id = latest.problem_id
where latest.source not in (select source from retracted)
"""

_PENDING = f"""
select {_RECORD}
from landed
semi join (select sequence from state where state = 'pending') as pending using (sequence)
order by sequence
"""
