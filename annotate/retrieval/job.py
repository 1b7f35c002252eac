"""The job behind ``saber retrieve``: choose systems and runs, rank what is out of date, land it."""

from __future__ import annotations

import argparse
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from tqdm import tqdm

from annotate.retrieval.base import Context, Scored, System, Task, with_parameters
from annotate.retrieval.benchmark import Benchmark, read_benchmark
from annotate.retrieval.registry import resolve
from annotate.retrieval.runs import DEFAULT_TOP, Run, RunWriter, outdated_queries, plan_run
from warehouse.cli.common import Job, job, note, settings_from
from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.settings import Settings
from warehouse.texts import SETTINGS, forms


@dataclass(frozen=True)
class Outcome:
    """What became of one run: how many queries were current, landed now, or got no ranking."""

    run_id: str
    queries: int
    current: int
    landed: int = 0
    rows: int = 0
    missing: int = 0


def retrieve(args: argparse.Namespace) -> list[Outcome]:
    """Run the systems asked for in every setting asked for; see :mod:`annotate.commands.retrieve`."""
    settings = settings_from(args)
    systems = configured_systems(args.system, settings, args.param)
    chosen = list(dict.fromkeys(args.setting or SETTINGS))
    for setting in chosen:
        forms(setting)
    idf = _source_of_statistics(args, settings)
    top = DEFAULT_TOP if args.top is None else args.top
    if top < 1:
        raise SaberError(f"--top must be at least 1, not {top}.")
    landing = Landing(settings.home)
    benchmark = read_benchmark(settings, landing)
    if not benchmark.queries:
        note("The benchmark has no queries yet (benchmark.query_quotas says why): nothing to rank.")
        return []
    with job(landing, settings, "retrieve", args) as record:
        context = Context(settings, landing, record.job_id, benchmark.variant)
        outcomes = [
            land_run(
                system,
                plan_run(system, setting, args.scope, idf, top, benchmark, context),
                benchmark,
                context,
                record,
            )
            for setting in chosen
            for system in systems
        ]
        record.summary["runs"] = [asdict(outcome) for outcome in outcomes]
        record.summary["incomplete"] = sum(outcome.missing for outcome in outcomes)
    return outcomes


def land_run(system: System, run: Run, benchmark: Benchmark, context: Context, record: Job) -> Outcome:
    """Rank and land the queries of one run that are out of date."""
    pending = outdated_queries(context.landing, run, benchmark)
    current = len(benchmark.queries) - len(pending)
    if not pending:
        return Outcome(run.run_id, len(benchmark.queries), current)
    record.start()
    documents, queries = benchmark.collection(run.setting, run.scope, run.idf, pending)
    task = Task(run.setting, run.scope, run.idf, run.top, documents, queries, context)
    writer = RunWriter(context.landing, run, task, benchmark, record.job_id)
    try:
        with tqdm(
            total=len(queries), desc=f"{run.system} {run.setting}", unit="query", leave=False, disable=None
        ) as progress:
            for scored in _ranked(system, run, task):
                writer.add(scored)
                progress.update()
    finally:
        writer.flush()  # whole queries that were ranked before a failure are kept
    landed = len(writer.query_ids)
    return Outcome(run.run_id, len(benchmark.queries), current, landed, writer.rows, len(pending) - landed)


def _ranked(system: System, run: Run, task: Task) -> Iterator[Scored]:
    """Run the system; a fault of its code is told with its place, for the systems of others."""
    try:
        yield from system.run(task)
    except (SaberError, OSError):
        raise
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise SaberError(
            f"System {run.system} failed in run {run.run_id}: {type(error).__name__}: {error} "
            f"({place.filename} line {place.lineno}). The queries ranked before are kept."
        ) from error


def configured_systems(names: Sequence[str], settings: Settings, given: Sequence[str]) -> list[System]:
    """Make the systems called `names`, with parameters given as ``KEY=VALUE`` or ``SYSTEM.KEY=VALUE``."""
    found = {name: resolve(name, settings) for name in dict.fromkeys(names)}
    parameters = _shared_out(given, {name: kind for name, (kind, _) in found.items()})
    return [
        with_parameters(kind, settings, {**implied, **parameters[name]}) for name, (kind, implied) in found.items()
    ]


def _source_of_statistics(args: argparse.Namespace, settings: Settings) -> str:
    if args.scope == "candidates":
        return str(args.idf or settings.retrieval.idf)
    if args.idf == "candidates":
        raise SaberError("--idf candidates needs --scope candidates: in scope corpus nothing limits the documents.")
    return "corpus"


def _shared_out(given: Sequence[str], classes: Mapping[str, type[System]]) -> dict[str, dict[str, str]]:
    shared: dict[str, dict[str, str]] = {name: {} for name in classes}
    for text in given:
        name, separator, value = text.partition("=")
        if not separator:
            raise SaberError(f"--param {text!r} must have the form KEY=VALUE or SYSTEM.KEY=VALUE.")
        system, dot, key = name.rpartition(".")
        having = [name for name, kind in classes.items() if key in {field.name for field in fields(kind)}]
        takers = [system] if dot else having
        if not takers or not set(takers) <= classes.keys():
            raise SaberError(f"--param {text!r} fits none of the systems asked for: {', '.join(classes)}.")
        for taker in takers:
            shared[taker][key] = value
    return shared
