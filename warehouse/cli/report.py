"""``saber report [OUT.html]``: write the page about the build in the snapshot."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from warehouse.cli.common import Subparsers, add_common, settings_from
from warehouse.errors import SaberError


def register(commands: Subparsers) -> None:
    """Add ``report``."""
    parser = commands.add_parser("report", help="write one self-contained HTML page about the build")
    parser.add_argument("out", nargs="?", metavar="OUT.html", help="file to write (default: report.html in the home)")
    add_common(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    # Imported here: other commands need not wait for it.
    from warehouse.report import make_report

    settings = settings_from(args)
    target = Path(args.out).expanduser() if args.out else settings.home / "report.html"
    page = make_report(settings).encode("utf-8", "replace")
    temporary = target.parent / f".{target.name}.{os.getpid()}.tmp"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(page)
        temporary.replace(target)
    except OSError as error:
        raise SaberError(f"{target} cannot be written: {error.strerror}. Name another file.") from error
    finally:
        temporary.unlink(missing_ok=True)
    if args.json:
        print(json.dumps({"report": str(target), "bytes": len(page)}))
    else:
        print(f"{target}: {len(page) / 1e3:.0f} kB")
    return 0
