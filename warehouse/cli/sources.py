"""``saber retract|restore --source NAME``: withdraw a source by tombstone, or undo it."""

from __future__ import annotations

import argparse
import json

from warehouse.cli.common import Subparsers, add_common, job, settings_from
from warehouse.errors import SaberError
from warehouse.landing import Landing


def register(commands: Subparsers) -> None:
    """Add ``retract`` and ``restore``."""
    for action, purpose in (("retract", "withdraw a source; nothing is deleted"), ("restore", "undo a retraction")):
        parser = commands.add_parser(action, help=purpose)
        parser.add_argument("--source", required=True, metavar="NAME")
        add_common(parser)
        parser.set_defaults(run=_run, action=action)


def _run(args: argparse.Namespace) -> int:
    settings = settings_from(args)
    landing = Landing(settings.home)
    problems = landing.read("problems")
    known = sorted(set(problems["source"].to_pylist()))
    if args.source not in known:
        raise SaberError(f"No source {args.source!r} has landed. Landed: {', '.join(known) or 'none'}.")
    with job(landing, settings, args.action, args) as record:
        landed = landing.append_new(
            "tombstones", [{"source": args.source, "action": args.action}], record.job_id
        ).rows
        if landed:
            record.start()
    n_problems = sum(1 for source in problems["source"].to_pylist() if source == args.source)
    state = "retracted" if args.action == "retract" else "restored"
    if args.json:
        print(json.dumps({"source": args.source, "state": state, "problems": n_problems, "changed": bool(landed)}))
    else:
        again = "" if landed else " (already so)"
        print(f"{args.source}: {n_problems} problems {state}{again}. Marts follow at the next dbt build.")
    return 0
