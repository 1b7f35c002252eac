"""The measures as a table on the terminal, in files, and as a plot."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from bench.plot import Line, log_log_plot


@dataclass(frozen=True)
class Row:
    """Measures of one stage on one corpus; those of a stage that failed are None.

    ``growth`` is the exponent of processor time in the number of problems since the next smaller corpus.
    ``agrees`` tells of a peer whether it found as many pairs as the stage beside it.
    """

    stage: str
    peer_of: str | None
    n_problems: int
    wall_s: float | None
    cpu_s: float | None
    peak_mb: float | None
    disk_mb: float | None
    pairs: int | None
    unit: str
    growth: float | None
    agrees: bool | None
    apart: bool
    error: str | None
    facts: str


HEADER = (
    f"{'stage':<30}{'problems':>9}{'wall s':>9}{'CPU s':>9}{'peak MB':>9}{'disk MB':>9}  {'result':<26}{'growth':>7}"
)


def growth(smaller: Row | None, n_problems: int, cpu_s: float) -> float | None:
    """Exponent b of ``CPU ~ problems ** b`` between two sizes; None for a first one or times too short to tell."""
    if smaller is None or not smaller.cpu_s or smaller.cpu_s < 0.05 or cpu_s <= 0.0:
        return None
    return math.log(cpu_s / smaller.cpu_s) / math.log(n_problems / smaller.n_problems)


def line(row: Row) -> str:
    """One line of the table, and what else the stage measured on a second one."""
    start = f"{row.stage:<30}{row.n_problems:>9,}"
    if row.wall_s is None:
        return f"{start}  {row.error}"
    result = "" if row.pairs is None else f"{row.pairs:,} {row.unit}"
    if row.agrees is not None:
        result += " =" if row.agrees else " DIFFERS"
    measures = f"{row.wall_s:>9.2f}{row.cpu_s:>9.2f}{row.peak_mb:>9,.0f}{row.disk_mb:>9.1f}"
    told = json.loads(row.facts)
    facts = ", ".join(f"{name} {value}" for name, value in told.items() if not name.startswith("rows of "))
    return f"{start}{measures}  {result:<26}{'' if row.growth is None else f'{row.growth:.2f}':>7}" + (
        f"\n    {facts}" if facts else ""
    )


def total(rows: Sequence[Row], n_problems: int) -> str:
    """Sums over the stages of one size, without peers and stages timed apart."""
    own = [
        r for r in rows if r.n_problems == n_problems and r.peer_of is None and not r.apart and r.wall_s is not None
    ]
    sums = {name: sum(getattr(row, name) for row in own) for name in ("wall_s", "cpu_s", "disk_mb")}
    peak = max((row.peak_mb or 0.0 for row in own), default=0.0)
    measures = f"{sums['wall_s']:>9.2f}{sums['cpu_s']:>9.2f}{peak:>9,.0f}{sums['disk_mb']:>9.1f}"
    return f"{'all stages':<30}{n_problems:>9,}{measures}"


def write(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Write results.parquet, results.csv and results.svg into `folder`."""
    table = pa.Table.from_pylist([asdict(row) for row in rows])
    files = [folder / f"results.{kind}" for kind in ("parquet", "csv", "svg")]
    pq.write_table(table, files[0])
    pyarrow.csv.write_csv(table, files[1])
    files[2].write_text(log_log_plot(_lines(rows), "problems", "CPU seconds"), "utf-8")
    return files


def _lines(rows: Sequence[Row]) -> list[Line]:
    names = dict.fromkeys(row.stage for row in rows if row.cpu_s)
    return [
        Line(
            name,
            tuple((row.n_problems, row.cpu_s) for row in rows if row.stage == name and row.cpu_s),
            dashed=any(row.stage == name and row.peer_of for row in rows),
        )
        for name in names
    ]
