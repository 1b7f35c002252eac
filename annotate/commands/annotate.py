"""``saber annotate topics|summaries``: ask a provider about every problem that has no such rows yet."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from annotate.commands.batching import add_way_flags, run_batch
from annotate.commands.web import register_web
from annotate.estimates import PILOT_PROBLEMS, estimate
from annotate.problems import PendingProblems, Work
from annotate.providers.failures import meaning
from annotate.stages import Stage, make_stage, policy_of, run_stage
from warehouse.cli.common import Job, Subparsers, add_common, job, note, settings_from, whole_number

_LATER_CALLS = {
    "topics": "Topics are asked level by level, so another round (write, submit, collect) follows until nothing is "
    "left to write.",
    "summaries": "Summaries that break a rule are asked for once more in another round (write, submit, collect).",
}


def register(commands: Subparsers) -> None:
    """Add ``annotate`` and its stages."""
    parser = commands.add_parser("annotate", help="assign topics and write summaries, with a model or offline")
    stages = parser.add_subparsers(title="stages", metavar="STAGE", required=True)
    for name, words in (
        ("topics", "assign topics by a top-down traversal of the ontology"),
        ("summaries", "extract the core idea of each solution"),
    ):
        stage = stages.add_parser(name, help=words, description=f"{words.capitalize()}.")
        _add_flags(stage)
        add_common(stage)
        stage.set_defaults(run=_run, stage=name)
    register_web(stages)


def _add_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--provider", metavar="NAME", help="offline, server, vllm-batch or a profile of saber.toml")
    parser.add_argument("--model", metavar="M", help="model to ask (default: the profile's)")
    parser.add_argument("--base-url", action="append", metavar="URL", help="server to ask; repeat to share the load")
    parser.add_argument("--prompt", metavar="FILE", help="ask in the words of this file")
    parser.add_argument(
        "--limit", type=whole_number(1), metavar="N", help="do at most N problems now, quarantined ones passed over"
    )
    parser.add_argument("--concurrency", type=whole_number(1), metavar="C", help="calls under way at once")
    parser.add_argument("--retry-quarantined", action="store_true", help="ask again where replies failed too often")
    add_way_flags(parser)


def _run(args: argparse.Namespace) -> int:
    stage = make_stage(
        args.stage, settings_from(args), args.provider, args.model, args.base_url, prompt_file=args.prompt
    )
    with stage.pending() as pending:
        work = pending.work()
        if args.dry_run:
            planned = estimate(stage, work, pending.records(PILOT_PROBLEMS), args.limit, args.concurrency)
            _show(args, planned)
            if not planned["pilot_calls"] and stage.prompt is not None:
                note(f"No pilot has landed: run with --limit {PILOT_PROBLEMS} first for output tokens and hours.")
            return 0
        if not work.pending:
            _show(args, {"problems": 0, "failed": 0, "done_before": work.done, **_left_out(stage, work)})
            return 0
        with job(stage.landing, stage.settings, f"annotate {stage.name}", args) as record:
            code = (_batch if args.batch else _ask)(args, stage, pending, work, record)
    _show(args, {**record.summary, "done_before": work.done, **_left_out(stage, work)})
    return code


def _ask(args: argparse.Namespace, stage: Stage, pending: PendingProblems, work: Work, record: Job) -> int:
    record.start()
    done = run_stage(stage, pending, work, record.job_id, args.limit, args.concurrency, args.retry_quarantined)
    record.summary.update(done, provider=stage.provider_name, model=stage.provider.model)
    if not done["failed"]:
        return 0
    record.summary["incomplete"] = True
    note(
        f"{done['failed']} problems have no {stage.name} yet, their calls failed: {_kinds(done['failures'])}. "
        "Run the same command again; for quarantined calls add --retry-quarantined."
    )
    return 1


def _batch(args: argparse.Namespace, stage: Stage, pending: PendingProblems, work: Work, record: Job) -> int:
    def run(on_missing: Any) -> dict[str, Any]:
        given = (args.limit, args.concurrency, args.retry_quarantined)
        return run_stage(stage, pending, work, record.job_id, *given, send=False, on_missing=on_missing)

    policy = replace(policy_of(stage), retry_quarantined=args.retry_quarantined)
    later = _LATER_CALLS[stage.name]
    return run_batch(args.batch, record, stage.landing, stage.provider, run, stage.validate, policy, later)


def _kinds(failures: Mapping[str, int]) -> str:
    return ", ".join(f"{count} x {kind} ({meaning(kind)})" for kind, count in failures.items())


def _left_out(stage: Stage, work: Work) -> dict[str, Any]:
    return {
        "without_solution": work.without_solution,
        "other_language": work.other_language,
        "variant": stage.variant,
    }


def _show(args: argparse.Namespace, result: dict[str, Any]) -> None:
    if args.json:
        print(json.dumps(result, default=str))
        return
    for key, value in result.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} {count}" for name, count in value.items() if count) or "none"
        print(f"{key.replace('_', ' '):<30}{'unknown' if value is None else value}")
