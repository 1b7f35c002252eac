"""``saber annotate web``: a page on this machine where people judge pairs of candidates."""

from __future__ import annotations

import argparse
import json
from typing import Any

from warehouse.cli.common import Subparsers, add_common, job, note, settings_from
from warehouse.errors import SaberError
from warehouse.landing import Landing

PORT, TASKS, OVERLAP = 8765, 200, 20


def register_web(subparsers: Subparsers) -> None:
    """Add ``web`` to the stages of ``annotate``."""
    words = "let people judge pairs of candidates on a page on 127.0.0.1"
    parser = subparsers.add_parser("web", help=words, description=f"{words.capitalize()}.")
    parser.add_argument("--port", type=_port, default=PORT, help=f"port (default {PORT}; 0 takes a free one)")
    parser.add_argument("--annotator", metavar="NAME", help="the one person who judges (default: chosen on the page)")
    parser.add_argument(
        "--tasks", type=_number, default=TASKS, metavar="N", help=f"tasks of each annotator (default {TASKS})"
    )
    parser.add_argument(
        "--overlap",
        type=_number,
        default=OVERLAP,
        metavar="N",
        help=f"how many of them all annotators share (default {OVERLAP})",
    )
    parser.add_argument("--seed", type=int, help="seed of the task list (default: judging.seed of saber.toml)")
    add_common(parser)
    parser.set_defaults(run=_run, stage="web")


def _run(args: argparse.Namespace) -> int:
    # The server's packages are loaded here alone, so that every other command starts without them.
    from annotate.web.app import make_app
    from annotate.web.judgments import HumanJudgments
    from annotate.web.names import checked_name
    from annotate.web.server import listen, new_token, serve
    from annotate.web.workbench import Plan, Workbench

    if args.tasks < 1 or args.overlap > args.tasks:
        raise SaberError(
            f"--tasks {args.tasks} --overlap {args.overlap}: at least one task is needed, and no more shared ones "
            "than tasks. Lower --overlap or raise --tasks."
        )
    settings = settings_from(args)
    annotator = checked_name(args.annotator) if args.annotator is not None else None
    seed = settings.judging.seed if args.seed is None else args.seed
    landing = Landing(settings.home)
    with listen(args.port) as socket, job(landing, settings, "annotate web", args) as record:
        workbench = Workbench(settings, Plan(args.tasks, args.overlap, seed))
        judgments = HumanJudgments(landing, workbench.pool.benchmark, workbench.variant, record)
        port, token = socket.getsockname()[1], new_token()
        app = make_app(workbench, judgments, token, port, annotator)
        _show(args, f"http://127.0.0.1:{port}/?token={token}", workbench.pool.description)
        serve(app, socket)
        record.summary.update(judgments.counts)
    note(f"{_counted(judgments.counts)} landed; the same command goes on with the open tasks.")
    return 0


def _show(args: argparse.Namespace, url: str, sample: str) -> None:
    shown: dict[str, Any] = {"url": url, "tasks": args.tasks, "overlap": args.overlap, "sample": sample}
    print(json.dumps(shown) if args.json else url, flush=True)
    note(f"{args.tasks} tasks each, {args.overlap} shared; {sample}. Open the address above; stop with Ctrl-C.")


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in counts.items())


def _number(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must not be negative: {number}")
    return number


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"must be from 0 to 65535, not {number}")
    return number
