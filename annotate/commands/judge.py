"""``saber judge``: play the tournaments of all queries, asking only for verdicts that have not landed."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import Any, NamedTuple

from annotate.commands.batching import add_way_flags, run_batch
from warehouse.cli.common import Job, Subparsers, add_common, job, note, settings_from, whole_number

_JUDGES = ("pairwise", "majority", "ordinal")
_SCHEDULES = ("swiss", "random", "exhaustive")


def register(commands: Subparsers) -> None:
    """Add ``judge``."""
    parser = commands.add_parser(
        "judge", help="have candidates compared in a tournament for each query", description=__doc__
    )
    add_judging_flags(parser)
    parser.add_argument("--rounds", type=whole_number(1), metavar="R", help="rounds of a swiss or random schedule")
    parser.add_argument("--both-orders", action="store_true", help="ask every pair in both orders")
    parser.add_argument(
        "--finish",
        action="store_true",
        help="go on until every candidate has its share of valid verdicts in one connected graph",
    )
    parser.add_argument("--limit", type=whole_number(1), metavar="N", help="ask at most N verdicts now")
    parser.add_argument("--concurrency", type=whole_number(1), metavar="C", help="calls under way at once")
    parser.add_argument("--retry-quarantined", action="store_true", help="ask again where the verdict is invalid")
    parser.add_argument("--accept-invalid", action="store_true", help="exit 0 although invalid verdicts remain")
    parser.add_argument(
        "--simulate",
        action="store_true",
        help="ask nobody: land tournaments of this size with simulated judges (analysis.simulated_inversions)",
    )
    add_way_flags(parser)
    add_common(parser)
    parser.set_defaults(run=_run)


def add_judging_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say which judgments are meant."""
    parser.add_argument("--judge", choices=_JUDGES, help="kind of judge (default: saber.toml)")
    parser.add_argument("--schedule", choices=_SCHEDULES, help="who meets whom (default: saber.toml)")
    parser.add_argument("--provider", metavar="NAME", help="offline, server, vllm-batch or a profile of saber.toml")
    parser.add_argument("--model", metavar="M", help="model to ask (default: the profile's)")
    parser.add_argument("--base-url", action="append", metavar="URL", help="server to ask; repeat to share the load")
    parser.add_argument("--prompt", metavar="FILE", help="ask in the words of this file")
    parser.add_argument(
        "--answer-only",
        action=argparse.BooleanOptionalAction,
        help="hold the model to the boxed answer alone, without profiles (default: judging.answer_only)",
    )


def setup_from(args: argparse.Namespace) -> Any:
    """Prepare field, judges and variant as the flags and settings say."""
    from annotate.tournament.setup import Choice, prepare

    choice = Choice(
        args.judge, args.schedule, args.provider, args.model, args.base_url, args.prompt, args.answer_only
    )
    return prepare(settings_from(args), choice)


def _run(args: argparse.Namespace) -> int:
    if args.simulate:
        return _simulate(args)
    setup = setup_from(args)
    if not setup.field.entrants:
        note("The benchmark has no queries yet (benchmark.query_quotas says why): nothing to judge.")
        return 0
    parts = _prepare(args, setup)
    if args.dry_run:
        return _dry_run(args, parts)
    with job(setup.landing, setup.settings, "judge", args) as record:
        if args.batch:
            code = _batch(args, parts, record)
        else:
            record.summary.update(_play(parts, record))
            code = _exit_code(args, record.summary)
        if code:
            record.summary["incomplete"] = True
        result = {name: value for name, value in record.summary.items() if name != "incomplete"}
    _show(args, result)
    return code


def _simulate(args: argparse.Namespace) -> int:
    from annotate.tournament.simulated import TABLE, is_landed, planned, rows_of
    from warehouse.landing import Landing

    settings = settings_from(args)
    landing, simulation = Landing(settings.home), planned(settings)
    result: dict[str, Any] = {**vars(simulation), "rows_landed": 0}
    del result["spread"]
    if not is_landed(landing, simulation):
        with job(landing, settings, "judge --simulate", args) as record:
            record.start()
            result["rows_landed"] = landing.append_new(TABLE, rows_of(simulation), record.job_id).rows
            record.summary.update(result)
    _show(args, result)
    return 0


class _Parts(NamedTuple):
    """A tournament ready to be played."""

    setup: Any
    tournament: Any
    asker: Any
    landed: Any
    options: Any
    policy: Any


def _prepare(args: argparse.Namespace, setup: Any) -> _Parts:
    # Imported here: NumPy and SciPy would make every other command slow to start.
    from annotate.calls.policy import Policy
    from annotate.tournament.asking import Asker
    from annotate.tournament.field import read_landed
    from annotate.tournament.job import Options
    from annotate.tournament.state import Tournament

    source, judging = setup.provenance, setup.settings.judging
    landed = read_landed(setup.landing, setup.field, setup.judge_names, source.schedule, source.variant)
    rounds = args.rounds or judging.rounds
    tournament = Tournament(setup.field.entrants, source.schedule, rounds, judging.seed, landed.results)
    grades = landed.grades
    if args.retry_quarantined:
        grades = {place: grade for place, grade in grades.items() if grade == grade}  # NaN: no grade
    asker = Asker(setup.field, setup.judges, source, grades)
    options = Options(judging.seed, args.both_orders, args.finish, args.limit, args.retry_quarantined)
    policy = getattr(setup.provider, "policy", None) or Policy()
    policy = replace(
        policy,
        concurrency=args.concurrency or policy.concurrency,
        retry_quarantined=args.retry_quarantined,
    )
    return _Parts(setup, tournament, asker, landed, options, policy)


def _dry_run(args: argparse.Namespace, parts: _Parts) -> int:
    from annotate.tournament.estimate import PILOT_VERDICTS, estimate

    setup, tournament, asker, landed, options, policy = parts
    planned = estimate(setup, tournament, asker, landed, options, policy)
    _show(args, planned)
    if planned["calls"] and not planned["pilot_calls"] and planned["provider"] != "offline":
        note(f"No pilot has landed: run with --limit {PILOT_VERDICTS} first for output tokens and hours.")
    return 0


def _batch(args: argparse.Namespace, parts: _Parts, record: Job) -> int:
    later = "A Swiss round follows from the verdicts of the last, so another round (write, submit, collect) follows."
    setup = parts.setup

    def run(on_missing: Any) -> dict[str, Any]:
        return _play(parts, record, send=False, on_missing=on_missing)

    return run_batch(
        args.batch,
        record,
        setup.landing,
        setup.provider,
        run,
        parts.asker.validate,
        parts.policy,
        later if setup.provenance.schedule == "swiss" else "",
    )


def _play(parts: _Parts, record: Job, send: bool = True, on_missing: Any = None) -> dict[str, Any]:
    import asyncio
    from dataclasses import asdict

    from annotate.calls.log import CallLog
    from annotate.tournament.job import Job as TournamentJob

    setup, tournament, asker, landed, options, policy = parts
    log = CallLog(
        setup.landing,
        setup.provider,
        record.job_id,
        policy=policy,
        validate=asker.validate,
        send=send,
        on_missing=on_missing,
    )
    say = note if send else lambda line: None

    tournament_job = TournamentJob(
        tournament, asker, landed, log, setup.landing, record.job_id, options, say, record.start
    )

    async def play() -> Any:
        try:
            return await tournament_job.play()
        finally:
            close = getattr(setup.provider, "close", None)
            if close is not None:
                await close()

    outcome = asyncio.run(play())
    return {
        "judges": ", ".join(sorted(set(setup.judge_names))),
        "schedule": setup.provenance.schedule,
        "variant": setup.provenance.variant,
        "queries": len(tournament.entrants),
        **asdict(outcome),
        "unjudged_documents": tournament_job.unjudged(),
        "calls": log.counts.as_dict(),
    }


def _exit_code(args: argparse.Namespace, result: dict[str, Any]) -> int:
    """Explain what is left; 0 only when all that was asked for is done."""
    failed = False
    if result["unanswered"]:
        failed = True
        note(f"{result['unanswered']} verdicts got no answer from the service: run the same command again.")
    elif result["unfinished"] and args.limit is None:
        failed = True
        note("Documents without their share of valid verdicts remain: look at the invalid verdicts.")
    if result["invalid"] and not args.accept_invalid:
        failed = True
        note(
            f"{result['invalid']} verdicts are invalid (analysis.judge_failures). Ask them again with "
            "--retry-quarantined, or leave them with --accept-invalid; ratings do without them."
        )
    if args.limit is not None and result["unfinished"]:
        note("The limit is reached and verdicts are left: run the command again to go on.")
    if result["unjudged_documents"] and not result["unfinished"]:
        note(
            f"{result['unjudged_documents']} candidates have no valid verdict and will have no rating: "
            "saber judge --finish"
        )
    return 1 if failed else 0


def _show(args: argparse.Namespace, result: dict[str, Any]) -> None:
    if args.json:
        print(json.dumps(result, default=str))
        return
    for key, value in result.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} {count}" for name, count in value.items() if count) or "none"
        if isinstance(value, float):
            value = f"{value:.3g}"
        print(f"{key.replace('_', ' '):<30}{'unknown' if value is None else value}")
