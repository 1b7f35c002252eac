"""``saber judge``: play the tournaments of all queries, asking only for verdicts that have not landed."""

from __future__ import annotations

import argparse
import json
from typing import Any

from warehouse.cli.common import Subparsers, add_common, job, note, settings_from

_JUDGES = ("pairwise", "majority", "ordinal")
_SCHEDULES = ("swiss", "random", "exhaustive")


def register(commands: Subparsers) -> None:
    """Add ``judge``."""
    parser = commands.add_parser(
        "judge", help="have candidates compared in a tournament for each query", description=__doc__
    )
    add_judging_flags(parser)
    parser.add_argument("--rounds", type=_positive, metavar="R", help="rounds of a swiss or random schedule")
    parser.add_argument("--both-orders", action="store_true", help="ask every pair in both orders")
    parser.add_argument(
        "--finish",
        action="store_true",
        help="go on until every candidate has its share of valid verdicts in one connected graph",
    )
    parser.add_argument("--limit", type=_positive, metavar="N", help="ask at most N verdicts now")
    parser.add_argument("--concurrency", type=_positive, metavar="C", help="calls under way at once")
    parser.add_argument("--retry-quarantined", action="store_true", help="ask again where the verdict is invalid")
    parser.add_argument("--accept-invalid", action="store_true", help="exit 0 although invalid verdicts remain")
    parser.add_argument("--dry-run", action="store_true", help="show calls, tokens, hours and cost; ask nothing")
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
    # Imported here: NumPy and SciPy would make every other command slow to start.
    from annotate.tournament.asking import Asker
    from annotate.tournament.estimate import PILOT_VERDICTS, estimate
    from annotate.tournament.field import read_landed
    from annotate.tournament.job import Options
    from annotate.tournament.state import Tournament

    setup = setup_from(args)
    judging = setup.settings.judging
    if not setup.field.entrants:
        note("The benchmark has no queries yet (benchmark.query_quotas says why): nothing to judge.")
        return 0
    source = setup.provenance
    landed = read_landed(setup.landing, setup.field, setup.judge_names, source.schedule, source.variant)
    rounds = args.rounds or judging.rounds
    tournament = Tournament(setup.field.entrants, source.schedule, rounds, judging.seed, landed.results)
    grades = landed.grades
    if args.retry_quarantined:
        grades = {place: grade for place, grade in grades.items() if grade == grade}  # NaN: no grade
    asker = Asker(setup.field, setup.judges, source, grades)
    options = Options(judging.seed, args.both_orders, args.finish, args.limit, args.retry_quarantined)
    if args.dry_run:
        planned = estimate(setup, tournament, asker, landed, options)
        _show(args, planned)
        if planned["calls"] and not planned["pilot_calls"] and source.provider != "offline":
            note(f"No pilot has landed: run with --limit {PILOT_VERDICTS} first for output tokens and hours.")
        return 0
    with job(setup.landing, setup.settings, "judge", args) as record:
        result = _play(args, setup, tournament, asker, landed, options, record)
        record.summary.update(result)
        code = _exit_code(args, result)
        if code:
            record.summary["incomplete"] = True
    _show(args, result)
    return code


def _play(
    args: argparse.Namespace, setup: Any, tournament: Any, asker: Any, landed: Any, options: Any, record: Any
) -> dict[str, Any]:
    import asyncio
    from dataclasses import asdict, replace

    from annotate.calls.log import CallLog
    from annotate.calls.policy import Policy
    from annotate.tournament.job import Job

    policy = getattr(setup.provider, "policy", None) or Policy()
    policy = replace(
        policy,
        concurrency=args.concurrency or policy.concurrency,
        retry_quarantined=args.retry_quarantined,
    )
    log = CallLog(setup.landing, setup.provider, record.job_id, policy=policy, validate=asker.validate)

    async def play() -> Any:
        try:
            tournament_job = Job(
                tournament, asker, landed, log, setup.landing, record.job_id, options, note, record.start
            )
            return await tournament_job.play()
        finally:
            close = getattr(setup.provider, "close", None)
            if close is not None:
                await close()

    outcome = asyncio.run(play())
    unjudged = (tournament.standings.present & (tournament.standings.n_valid == 0)).sum()
    return {
        "judges": ", ".join(sorted(set(setup.judge_names))),
        "schedule": setup.provenance.schedule,
        "variant": setup.provenance.variant,
        "queries": len(tournament.entrants),
        **asdict(outcome),
        "unjudged_documents": int(unjudged),
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
        print(f"{key.replace('_', ' '):<20}{'unknown' if value is None else value}")


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be a whole number, not {text!r}") from error
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number
