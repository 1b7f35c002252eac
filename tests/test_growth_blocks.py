"""Blocks of a killed run: read back when they verify, computed again when they do not."""

import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from udfs import block_store
from udfs.block_store import BlockStore, clear_blocks
from udfs.signal_build import fingerprint

SCHEMA = pa.schema([("x", pa.int32())])
KILLED = """
import sys, time
from pathlib import Path
import pyarrow as pa
from udfs import block_store
block_store.SECONDS_PER_FILE = 0.0
schema = pa.schema([("x", pa.int32())])
def compute(start):
    for block in range(start, 50):
        yield block, pa.record_batch([pa.array([block] * (block % 3), pa.int32())], schema=schema)
        time.sleep(0.05)
for batch in block_store.BlockStore(Path(sys.argv[1]), "f", schema).resume(compute):
    print(batch.num_rows, flush=True)
"""


@pytest.fixture(autouse=True)
def a_file_a_block(monkeypatch):
    monkeypatch.setattr(block_store, "SECONDS_PER_FILE", -1.0)


class Work:
    """Block b gives b % 3 rows of b; remembers where it was asked to start."""

    def __init__(self, n_blocks=12, fails_at=None):
        self.n_blocks, self.fails_at, self.starts = n_blocks, fails_at, []

    def __call__(self, start):
        self.starts.append(start)
        for block in range(start, self.n_blocks):
            if block == self.fails_at:
                raise RuntimeError("killed")
            yield block, pa.record_batch([pa.array([block] * (block % 3), pa.int32())], schema=SCHEMA)

    def expected(self):
        return [block for block in range(self.n_blocks) for _ in range(block % 3)]


def run(folder, work, key="f"):
    return [x for batch in BlockStore(folder, key, SCHEMA).resume(work) for x in batch["x"].to_pylist()]


def test_a_failed_run_goes_on_at_the_first_block_that_is_not_finished(tmp_path):
    with pytest.raises(RuntimeError):
        run(tmp_path, Work(fails_at=7))
    again = Work()
    assert run(tmp_path, again) == again.expected()
    assert again.starts == [7]


def test_damaged_and_missing_files_end_what_can_be_read(tmp_path):
    run(tmp_path, Work())
    files = sorted((tmp_path / "f").glob("*.parquet"))
    data = bytearray(files[5].read_bytes())
    data[8] ^= 0xFF  # within the first page
    files[5].write_bytes(bytes(data))
    again = Work()
    assert run(tmp_path, again) == again.expected()
    assert again.starts == [5]
    files[2].unlink()
    once_more = Work()
    assert run(tmp_path, once_more) == once_more.expected()
    assert once_more.starts == [2]


def test_other_inputs_do_not_read_each_others_blocks(tmp_path):
    run(tmp_path, Work(), "f")
    other = Work(5)
    assert run(tmp_path, other, "g") == other.expected()
    assert other.starts == [0]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["g"]
    assert fingerprint(np.arange(3), "a") != fingerprint(np.arange(3), "b")
    assert fingerprint("ab", "c") != fingerprint("a", "bc")


def test_a_killed_process_leaves_blocks_that_the_next_one_reads(tmp_path):
    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE) as process:
        for _ in range(6):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
    again = Work(50)
    assert run(tmp_path, again) == again.expected()
    assert again.starts[0] >= 5


def test_finished_blocks_are_cleared_for_one_schema(tmp_path):
    for schema in ("signals", "signals__paper"):
        run(tmp_path / "blocks" / schema / "topic_pairs", Work())
    clear_blocks(str(tmp_path / "warehouse.duckdb"), "signals")
    assert [p.name for p in (tmp_path / "blocks").iterdir()] == ["signals__paper"]
    clear_blocks(str(tmp_path / "warehouse.duckdb"), "signals__paper")
    assert not (tmp_path / "blocks").exists()
