"""``python -m bench``: run the stages on corpora of growing size, print the table, keep it and plot it."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from bench.child import measure
from bench.corpus import Options
from bench.report import HEADER, Row, growth, line, total, write
from bench.stage import Stage, Workbench, stages
from warehouse.settings import home_folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code is 1 when a stage failed or a peer found other pairs."""
    args = _parser().parse_args(arguments)
    folder = Path(args.out) if args.out else home_folder() / "bench"
    options = Options(**{field.name: getattr(args, field.name) for field in fields(Options)})
    chosen = [s for s in stages() if s.order == 0 or _chosen(s, args.stages, args.peers)]
    rows: list[Row] = []
    print(HEADER, flush=True)
    for n_problems, selected in _plan(chosen, sorted(set(args.sizes))):
        workbench = Workbench(folder / f"corpus-{n_problems}", n_problems)
        shutil.rmtree(workbench.folder, ignore_errors=True)
        workbench.folder.mkdir(parents=True)
        (workbench.folder / "options.json").write_text(json.dumps(asdict(options)))
        for stage in selected:
            if stage.once and any(row.stage == stage.name for row in rows):
                continue
            rows.append(_row(stage, n_problems, measure(stage, workbench), rows))
            print(line(rows[-1]), flush=True)
            if stage.order == 0 and rows[-1].error is not None:
                break
        print(total(rows, n_problems), end="\n\n", flush=True)
        if not args.keep:
            shutil.rmtree(workbench.folder)
    for file in write(rows, folder):
        print(file)
    return int(any(row.error is not None or row.agrees is False for row in rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_000, 60_000], help="numbers of problems")
    parser.add_argument(
        "--stages", nargs="+", metavar="NAME", help="only these; earlier ones they need must be named too"
    )
    parser.add_argument(
        "--no-peers", dest="peers", action="store_false", help="leave other ways of doing the work out"
    )
    parser.add_argument("--out", help="folder of the results (default: bench/ in SABER_HOME)")
    parser.add_argument(
        "--keep", action="store_true", help="keep the generated corpora with everything built on them"
    )
    for field in fields(Options):
        flag = "--" + field.name.replace("_", "-")
        parser.add_argument(flag, type=type(field.default), default=field.default, help=f"default {field.default}")
    return parser


def _chosen(stage: Stage, names: Sequence[str] | None, peers: bool) -> bool:
    if stage.peer_of is not None:
        return peers and (names is None or stage.peer_of in names or stage.name in names)
    return names is None or stage.name in names


def _plan(chosen: Sequence[Stage], sizes: Sequence[int]) -> list[tuple[int, list[Stage]]]:
    """Sizes with their stages. A peer that bears none of them brings one that it bears."""
    plan = {size: [stage for stage in chosen if stage.largest is None or size <= stage.largest] for size in sizes}
    for peer in chosen:
        if peer.peer_of is not None and peer.largest is not None and peer.largest < sizes[0]:
            stages_there = plan.setdefault(peer.largest, [])
            needed = [stage for stage in chosen if stage.order <= peer.order and stage.peer_of is None]
            stages_there += [stage for stage in [*needed, peer] if stage not in stages_there]
    for size in plan.keys() - set(sizes):
        bearing = [s for s in chosen if s.peer_of is not None and s.largest is not None and size <= s.largest]
        compared = {stage.name for stage in plan[size]}
        plan[size] += [stage for stage in bearing if stage.peer_of in compared and stage not in plan[size]]
    return [(size, sorted(plan[size], key=chosen.index)) for size in sorted(plan)]


def _row(stage: Stage, n_problems: int, measures: dict[str, Any], rows: Sequence[Row]) -> Row:
    earlier = [row for row in rows if row.stage == stage.name and row.error is None and row.n_problems < n_problems]
    beside = next((r for r in rows if r.stage == stage.peer_of and r.n_problems == n_problems), None)
    cpu, pairs = measures.get("cpu_s"), measures.get("pairs")
    return Row(
        stage=stage.name,
        peer_of=stage.peer_of,
        n_problems=n_problems,
        wall_s=measures.get("wall_s"),
        cpu_s=cpu,
        peak_mb=measures.get("peak_mb"),
        disk_mb=measures.get("disk_mb"),
        pairs=pairs,
        unit=stage.unit,
        growth=None if cpu is None else growth(earlier[-1] if earlier else None, n_problems, cpu),
        agrees=None if beside is None or pairs is None else pairs == beside.pairs,
        apart=stage.apart,
        error=measures.get("error"),
        facts=json.dumps(measures.get("facts", {})),
    )


if __name__ == "__main__":
    sys.exit(main())
