"""The job behind ``saber import``: read, check everything, land what is new, whole groups at a time."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa

from warehouse.cli.common import Job, job
from warehouse.errors import SaberError
from warehouse.imports import published
from warehouse.imports.annotations import Summaries, Topics
from warehouse.imports.context import Context, Given
from warehouse.imports.judged import Judgments, Qrels, Ratings
from warehouse.imports.kinds import Kind, Row, check
from warehouse.imports.reading import Part, origin, plan, read
from warehouse.imports.records import Faulty, Record, parse_renames
from warehouse.imports.runs import Runs
from warehouse.imports.scores import Scores
from warehouse.landing import Landing
from warehouse.schemas import TABLES
from warehouse.settings import Settings

KINDS: dict[str, type[Kind]] = {
    "topics": Topics,
    "summaries": Summaries,
    "judgments": Judgments,
    "ratings": Ratings,
    "qrels": Qrels,
    "runs": Runs,
    "scores": Scores,
}
_SHOWN = 5
_FURTHER = ("topics", "tag")  # columns that files may have and tables do not


@dataclass
class Imported:
    """What an import did.

    Attributes
    ----------
    good, landed
        Rows that may land, and those of them that are new.
    faults
        Rows that cannot land.
    variants
        Variants of the rows.
    unchecked
        Rows that name no content hash: they were taken to be about the present texts.
    missing_queries
        {run id: queries it lacks}.
    """

    kind: str
    files: list[str]
    good: int = 0
    landed: int | None = None
    faults: list[Faulty] = field(default_factory=list)
    variants: list[str] = field(default_factory=list)
    unchecked: int = 0
    missing_queries: dict[str, int] = field(default_factory=dict)
    run_ids: list[str] = field(default_factory=list)


def import_rows(settings: Settings, args: argparse.Namespace, given: Given) -> Imported:
    """Import one kind of rows; see :mod:`warehouse.cli.importing` for the arguments.

    Raises
    ------
    SaberError
        When a row has a fault, unless ``args.keep_good``: then nothing has landed.
    """
    context = Context(settings, given)
    renames = parse_renames(args.map, [name for name, _ in TABLES[KINDS[args.kind].table].columns] + list(_FURTHER))
    with job(context.landing, settings, f"import {args.kind}", args) as record:
        kind = KINDS[args.kind](context, record.job_id)
        records, files = _records(args, kind, renames, given)
        context.files = tuple(files)
        rows, faults = check(kind, records)
        found = Imported(args.kind, files, len(rows), faults=faults, unchecked=kind.unchecked)
        found.variants = sorted({row["variant"] for row in rows if "variant" in row})
        if isinstance(kind, Runs):
            found.missing_queries = kind.missing_queries(rows)
            found.run_ids = sorted({row["run_id"] for row in rows})
        if faults and not args.keep_good:
            raise SaberError(told(faults, len(rows)))
        if not rows and not faults:
            raise SaberError(f"{', '.join(files)} holds no rows. Nothing has landed.")
        record.summary = {"files": files, "rows": len(rows), "faults": len(faults), "variants": found.variants}
        if not args.dry_run:
            found.landed = _land(context.landing, kind, rows, record)
            _note_faults(context.landing, faults, files, args.kind, record)
        return found


def told(faults: Sequence[Faulty], good: int) -> str:
    """Return one sentence about rows that cannot land."""
    count = sum(fault.rows for fault in faults)
    by_reason: dict[str, list[Faulty]] = {}
    for fault in faults:
        by_reason.setdefault(fault.reason, []).append(fault)
    parts = [
        f"{found[0]}" + (f" (and {sum(one.rows for one in found[1:])} rows more)" if len(found) > 1 else "")
        for found in list(by_reason.values())[:_SHOWN]
    ]
    more = f"; {len(by_reason) - _SHOWN} further faults" if len(by_reason) > _SHOWN else ""
    rest = f", or land the other {good} rows with --keep-good" if good else ""
    verb = "row has a fault" if count == 1 else "rows have faults"
    return f"{count} {verb}: {'; '.join(parts)}{more}. Nothing has landed: mend the file{rest}."


def _records(
    args: argparse.Namespace, kind: Kind, renames: Mapping[str, str], given: Given
) -> tuple[Iterator[Record | Faulty], list[str]]:
    if args.format == "saber":
        if args.kind != "qrels" or given.source is None:
            raise SaberError(
                "--format saber is a layout of qrels and problems; it needs the --source of its problems."
            )
        queries, _ = published.parts_of(args.paths)
        if not queries:
            raise SaberError("No file of queries is among the paths. Its name must say so (queries.parquet).")
        origins = {path: origin(Part(path, "rows", False, {})) for path in queries}
        return published.qrels(queries, origins, given.source), list(origins.values())
    parts = plan(args.paths, args.kind, args.format, args.escaped_ids, args.split)
    return read(parts, kind, renames, given.source), [origin(part) for part in parts]


def _land(landing: Landing, kind: Kind, rows: Sequence[Row], record: Job) -> int:
    """Land what differs from the landed rows; groups land whole."""
    if not kind.group:
        landed = landing.append_new(kind.table, rows, record.job_id).rows
        if landed:
            record.start()
        return landed
    new = changed_groups(landing, kind, rows)
    if new.num_rows:
        _refuse_foreign(landing, kind, new)
        record.start()
    return landing.append(kind.table, new, record.job_id).rows


def changed_groups(landing: Landing, kind: Kind, rows: Sequence[Row]) -> pa.Table:
    """Return the rows of every group whose landed rows are not exactly these."""
    spec = TABLES[kind.table]
    offered = pa.Table.from_pylist(list(rows), schema=pa.schema([pa.field(*column) for column in spec.columns]))
    keys = ", ".join(f'"{name}"' for name in kind.group)
    compared = ", ".join(f'"{name}"' for name, _ in spec.columns if name not in kind.ignored)
    with duckdb.connect() as connection:
        connection.register("offered", offered)
        connection.execute(
            f"create temp table landed as select * from ({landing.scan_sql(kind.table)}) "
            f"semi join offered using ({keys}) "
            f"qualify job_id = arg_max(job_id, sequence) over (partition by {keys})"
        )
        return connection.sql(
            f"""
            with
                new as (select {compared} from offered except select {compared} from landed),
                gone as (select {compared} from landed except select {compared} from offered),
                differing as (select {keys} from new union select {keys} from gone)
            select offered.* from offered semi join differing using ({keys}) order by all
            """
        ).to_arrow_table()


def _refuse_foreign(landing: Landing, kind: Kind, new: pa.Table) -> None:
    """Refuse an imported run under the id of one that `saber retrieve` landed, or of a run of another benchmark."""
    if not isinstance(kind, Runs):
        return
    with duckdb.connect() as connection:
        connection.register("offered", new)
        clashing = connection.sql(
            f"""
            with
                told as (select distinct run_id, benchmark, coalesce(params, '') as params from offered),
                landed as (
                    select run_id, benchmark, arg_max(coalesce(params, ''), sequence) as params
                    from ({landing.scan_sql("runs")})
                    group by run_id, benchmark
                )
            select distinct told.run_id, landed.benchmark <> told.benchmark as is_of_another, landed.benchmark
            from told
            inner join landed using (run_id)
            where
                landed.benchmark <> told.benchmark
                or (landed.params <> told.params and not contains(landed.params, '"origin"'))
            order by all
            """
        ).fetchall()
    elsewhere = [f"{run} of benchmark {benchmark}" for run, is_of_another, benchmark in clashing if is_of_another]
    if elsewhere:
        raise SaberError(
            f"Run {', '.join(elsewhere[:_SHOWN])} has landed under the same id. "
            "Give this one another run_id, or another name with --system. Nothing has landed."
        )
    if clashing:
        raise SaberError(
            f"Run {', '.join(run for run, *_ in clashing[:_SHOWN])} has landed from another origin with other "
            "parameters. Name this one otherwise with --system. Nothing has landed."
        )


def _note_faults(landing: Landing, faults: Sequence[Faulty], files: Sequence[str], kind: str, record: Job) -> None:
    rows: list[dict[str, Any]] = [
        {
            "source": f"import {kind}",
            "file": fault.place,
            "row_number": None,
            "step": "import",
            "reason": fault.reason,
            "n_rows": fault.rows,
        }
        for fault in faults
    ]
    if rows:
        record.start()
        landing.append_new("source_rows", rows, record.job_id)
