"""One stage in one process, so that its peak memory and processor time are its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.stage import Stage, Workbench, stages


def measure(stage: Stage, workbench: Workbench) -> dict[str, Any]:
    """Run `stage` in a process of its own and return its measures; ``error`` is set where it failed."""
    # Linear algebra must not start threads of its own beside the stage's.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "bench.child", stage.name, str(workbench.folder), str(workbench.n_problems)]
    done = subprocess.run(
        command, env=environment, cwd=Path(__file__).resolve().parent.parent, capture_output=True, text=True
    )
    if done.returncode < 0:
        return {"error": f"ended by signal {-done.returncode} (9: perhaps out of memory)"}
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "failed"}
    measures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measures


def _run(name: str, workbench: Workbench) -> dict[str, Any]:
    stage = {stage.name: stage for stage in stages()}[name]
    disk = _disk(workbench.folder)
    wall, processor = time.perf_counter(), _processor_seconds()
    outcome = stage.run(workbench)
    return {
        "wall_s": time.perf_counter() - wall,
        "cpu_s": _processor_seconds() - processor,
        "peak_mb": _peak_memory() / 1e6,
        "disk_mb": (_disk(workbench.folder) - disk) / 1e6,
        "pairs": outcome.pairs,
        "facts": outcome.facts,
    }


def _processor_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _peak_memory() -> int:
    """Peak resident bytes of this process.

    On Linux ru_maxrss would begin with the peak of the process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _disk(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    print(json.dumps(_run(sys.argv[1], Workbench(Path(sys.argv[2]), int(sys.argv[3])))))
