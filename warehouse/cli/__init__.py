"""The ``saber`` command. Job commands are registered by ``annotate`` through entry points."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import entry_points, version

from warehouse.errors import SaberError

_OWN = (
    "ingest",
    "sources",
    "status",
    "plan",
    "sql",
    "lineage",
    "trace",
    "export",
    "importing",
    "report",
    "build",
    "maintenance",
    "deduplicate",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one ``saber`` command and return its exit code; errors go to stderr without a traceback."""
    parser = build_parser()
    parsed = parser.parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except SaberError as error:
        print(f"saber: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(
            "saber: stopped; everything landed so far is kept. Run the same command to go on.",
            file=sys.stderr,
        )
        return 130
    except BrokenPipeError:
        return 0
    except OSError as error:
        if error.filename is None:
            raise  # no file is to blame (a socket, say): the place in the code is what helps
        print(
            f"saber: {error.filename}: {error.strerror}. Check the path, its permissions and SABER_HOME.",
            file=sys.stderr,
        )
        return 1


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every command registered."""
    parser = argparse.ArgumentParser(
        prog="saber", description="Build, judge and evaluate mathematical-retrieval benchmarks."
    )
    parser.add_argument("--version", action="version", version=f"saber {version('saber-warehouse')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in _OWN:
        import_module(f"warehouse.cli.{name}").register(commands)
    for point in sorted(entry_points(group="saber.commands"), key=lambda p: p.name):
        try:
            register = point.load()
        except ModuleNotFoundError as error:
            _register_broken(commands, point.name, error)
        else:
            register(commands)
    return parser


def _register_broken(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, error: ModuleNotFoundError
) -> None:
    def run(_: argparse.Namespace) -> int:
        raise SaberError(f"The command {name!r} cannot start: {error}. Install the extra that brings it.")

    commands.add_parser(name, help=f"unavailable: {error}").set_defaults(run=run)
