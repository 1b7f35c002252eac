"""``saber reparse``: rebuild the parsed tables from the call log, without a single request."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from warehouse.cli.common import Subparsers, add_common, job, note, settings_from
from warehouse.landing import Landing

if TYPE_CHECKING:
    from annotate.calls.reparse import Replay, Replayed

_PURPOSES = ("topics", "summary", "judge")
_COMMANDS = ("annotate topics", "annotate summaries", "judge")
_NO_VARIANT = "none"  # no row bears it: everything counts as not yet done


def register(commands: Subparsers) -> None:
    """Add ``reparse``."""
    parser = commands.add_parser(
        "reparse",
        help="rebuild parsed tables from the call log",
        description="Replay past jobs from the call log under the parsing rules of today; nothing is sent.",
    )
    parser.add_argument("purpose", nargs="*", metavar="PURPOSE", help=f"{', '.join(_PURPOSES)} (default: all)")
    add_common(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    # Imported here, as in the replays: the other commands should not wait for Arrow and NumPy.
    from annotate.calls.reparse import purposes, register_parser, replay

    parsers = (_replay_topics, _replay_summaries, _replay_judgments)
    for purpose, command, parser in zip(_PURPOSES, _COMMANDS, parsers, strict=True):
        register_parser(purpose, command, parser)
    unknown = set(args.purpose) - set(purposes())
    if unknown:
        note(f"No parser for {', '.join(sorted(unknown))}. Known: {', '.join(purposes())}.")
        return 2
    settings = settings_from(args)
    landing = Landing(settings.home)
    shown: list[dict[str, Any]] = []
    with job(landing, settings, "reparse", args) as record:
        for purpose in args.purpose or purposes():
            for arguments, done in replay(purpose, landing, record.job_id):
                record.start()
                shown.append({"purpose": purpose, **vars(done), "job": arguments})
        record.summary["replayed"] = shown
        nothing = [line for line in shown if line["missing"] and not line["rows"] and not line["failed"]]
        if nothing:
            record.summary["incomplete"] = True
    _show(args, shown)
    for line in nothing:
        note(
            f"Nothing of {line['purpose']} {line['job'] or ''} is in the log in today's words: "
            "was its prompt changed, or were its problems withdrawn?"
        )
    return 1 if nothing else 0


def _show(args: argparse.Namespace, lines: list[dict[str, Any]]) -> None:
    if args.json:
        print(json.dumps({"replayed": lines}))
        return
    if not lines:
        print("No job has run yet: nothing to parse again.")
    for line in lines:
        chosen = " ".join(f"{name}={value}" for name, value in line["job"].items())
        print(
            f"{line['table']:<14}{line['rows']:>10} rows rebuilt, {line['missing']} calls not in the log, "
            f"{line['failed']} without a usable reply {f'({chosen})' if chosen else ''}".rstrip()
        )


def _replay_stage(name: str, work: Replay) -> Replayed:
    from annotate.calls.reparse import Replayed
    from annotate.problems import PendingProblems
    from annotate.stages import make_stage, run_stage

    given = work.arguments
    stage = make_stage(
        name, work.settings, given["provider"], given["model"], given["base_url"], prompt_file=given["prompt"]
    )
    before = _rows(work, stage.table)
    with PendingProblems(work.landing, work.settings, stage.table, _NO_VARIANT) as everything:
        done = run_stage(stage, everything, everything.work(), work.job_id, send=False)
    calls = done["calls"]
    return Replayed(stage.table, _rows(work, stage.table) - before, calls["missing"], calls["quarantined"])


def _replay_topics(work: Replay) -> Replayed:
    return _replay_stage("topics", work)


def _replay_summaries(work: Replay) -> Replayed:
    return _replay_stage("summaries", work)


def _replay_judgments(work: Replay) -> Replayed:
    import asyncio

    from annotate.calls.log import CallLog
    from annotate.calls.reparse import Replayed
    from annotate.tournament.asking import Asker
    from annotate.tournament.field import read_landed
    from annotate.tournament.job import Job, Options
    from annotate.tournament.reparse import reparse_judgments
    from annotate.tournament.setup import Choice, prepare
    from annotate.tournament.state import Tournament

    given = work.arguments
    setup = prepare(
        work.settings,
        Choice(
            given["judge"],
            given["schedule"],
            given["provider"],
            given["model"],
            given["base_url"],
            given["prompt"],
            given["answer_only"],
        ),
    )
    source, judging = setup.provenance, work.settings.judging
    # First what has landed, pair by pair: verdicts that were asked again, or are read otherwise now, would send the
    # rounds played anew another way, to pairs that nobody asked about. Then, by the rules, what has not landed.
    again = asyncio.run(reparse_judgments(setup, work.landing, work.job_id))
    landed = read_landed(work.landing, setup.field, setup.judge_names, source.schedule, source.variant)
    rounds = given.get("rounds") or judging.rounds
    tournament = Tournament(setup.field.entrants, source.schedule, rounds, judging.seed, landed.results)
    asker = Asker(setup.field, setup.judges, source, landed.grades)
    log = CallLog(work.landing, setup.provider, work.job_id, validate=asker.validate, send=False)
    options = Options(judging.seed, bool(given.get("both_orders")), bool(given.get("finish")))
    tournament_job = Job(tournament, asker, landed, log, work.landing, work.job_id, options, lambda _: None)
    before = _rows(work, "judgments")
    asyncio.run(tournament_job.play())
    rows = again.rows + _rows(work, "judgments") - before
    missing, failed = again.not_in_log + log.counts.missing, again.unusable + log.counts.quarantined
    return Replayed("judgments", rows, missing, failed)


def _rows(work: Replay, table: str) -> int:
    return sum(file.rows for file in work.landing.files(table))
