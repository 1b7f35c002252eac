"""``saber annotate topics|summaries``: ask a provider about every problem that has no such rows yet."""

from __future__ import annotations

import argparse
import json
from typing import Any

from annotate.commands.web import register_web
from annotate.estimates import PILOT_PROBLEMS, estimate
from annotate.stages import Stage, make_stage, run_stage
from warehouse.cli.common import Subparsers, add_common, job, note, settings_from


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
    parser.add_argument("--limit", type=_positive, metavar="N", help="do at most N problems now")
    parser.add_argument("--concurrency", type=_positive, metavar="C", help="calls under way at once")
    parser.add_argument("--retry-quarantined", action="store_true", help="ask again where replies failed too often")
    parser.add_argument("--dry-run", action="store_true", help="show calls, tokens, hours and cost; ask nothing")


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
            record.start()
            done = run_stage(
                stage, pending, work, record.job_id, args.limit, args.concurrency, args.retry_quarantined
            )
            record.summary.update(done, provider=stage.provider_name, model=stage.provider.model)
            if done["failed"]:
                record.summary["incomplete"] = True
    _show(args, {**record.summary, "done_before": work.done, **_left_out(stage, work)})
    if done["failed"]:
        note(
            f"{done['failed']} problems have no {stage.name} yet: their calls failed. Run the same command again; "
            "for quarantined calls add --retry-quarantined."
        )
    return 1 if done["failed"] else 0


def _left_out(stage: Stage, work: Any) -> dict[str, Any]:
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
        print(f"{key.replace('_', ' '):<20}{'unknown' if value is None else value}")


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be a whole number, not {text!r}") from error
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number
