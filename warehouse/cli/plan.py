"""``saber plan``: what building the pairs will take, before it is begun."""

from __future__ import annotations

import argparse
import json

from warehouse.cli.common import Subparsers, add_common, note, print_rows, settings_from
from warehouse.errors import SaberError
from warehouse.plan import Plan, Step, make_plan


def register(commands: Subparsers) -> None:
    """Add ``plan``."""
    parser = commands.add_parser(
        "plan", help="expected pairs, time, memory and disk of this corpus, from a sample of the work"
    )
    parser.add_argument(
        "--share", type=float, default=0.01, metavar="S", help="share of the work to sample (default: 0.01)"
    )
    add_common(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    if not 0 < args.share <= 1:
        raise SaberError(f"--share {args.share} is no share. Give a number above 0, at most 1.")
    if not args.json:
        note("building topics, token sets and numbers beside the warehouse")
    plan = make_plan(settings_from(args), args.share)
    if args.json:
        print(json.dumps(plan.as_dict()))
    else:
        _show(plan)
    return 0


def _show(plan: Plan) -> None:
    new = "" if plan.n_new == plan.n_problems else f", {plan.n_new:,} of them new"
    print(f"{plan.n_problems:,} eligible problems{new}")
    found = plan.thresholds
    print(f"thresholds: topic {_number(found.topic)}, summary {_number(found.summary)} ({found.origin})\n")
    total = sum(step.cpu_seconds for step in plan.steps), sum(step.seconds for step in plan.steps)
    rows = [_row(step) for step in plan.steps]
    rows.append(("all", "", "", f"{total[0]:,.1f}", f"{total[1]:,.1f}"))
    print_rows(("step", "pairs compared", "pairs that qualify", "CPU seconds", "seconds"), rows)
    print(f"\npairs are {plan.storage}")
    print(f"memory {plan.memory_mib:,.0f} MiB, at most {plan.memory_most_mib:,.0f} MiB")
    print(f"disk {plan.disk_mb:,.0f} MB: the warehouse and its snapshot")


def _row(step: Step) -> tuple[str, str, str, str, str]:
    compared = "" if step.n_compared is None else f"{step.n_compared:,}"
    pairs = "" if step.n_pairs is None else f"{step.n_pairs:,}"
    return step.name, compared, pairs, f"{step.cpu_seconds:,.1f}", f"{step.seconds:,.1f}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"
