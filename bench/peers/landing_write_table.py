"""The same rows by PyArrow's ``write_table`` alone: what checks, numbers and syncing cost on top."""

from __future__ import annotations

import pyarrow.parquet as pq

from bench.stage import Outcome, Stage, Workbench
from bench.stages.landing import judgments, n_rows
from bench.verdicts import timed


def run(workbench: Workbench) -> Outcome:
    """Write with the compression of the landing; nothing is synced."""
    rows = judgments(n_rows(workbench))
    path = workbench.folder / "plain.parquet"
    _, seconds = timed(lambda: pq.write_table(rows, path, compression="zstd"))
    return Outcome(pq.read_metadata(path).num_rows, dict(seconds))


STAGE = Stage("landing: write_table", 84, run, peer_of="landing", once=True, apart=True)
