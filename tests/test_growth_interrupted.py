"""A killed build and one on a full disk leave the snapshot as it was; the next build goes on from finished blocks."""

import os
import resource
import signal
import subprocess
import sys
import time

import duckdb
import pyarrow.parquet as pq
import pytest

from bench.corpus import Options
from bench.paper_home import PaperHome
from warehouse.settings import ROOT

SETTINGS = """
[signals]
topic_threshold = 0.858
summary_threshold = 0.211
memory_mib = 1
workers = 1
[benchmark]
queries = 10
candidates_per_class = 1
"""
COMMAND = [
    sys.executable,
    "-c",
    "from dbt.cli.main import cli; cli()",
    "--quiet",
    "run",
    "--select",
    "+pair_generations",
]


class Interrupted(PaperHome):
    """4,000 problems and so little memory that their summaries take thousands of blocks."""

    def start(self, **options):
        return subprocess.Popen(
            COMMAND, cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options
        )

    def pairs(self, file="snapshot.duckdb"):
        with duckdb.connect(str(self.home / file), read_only=True) as connection:
            return set(connection.execute("select first_index, second_index from signals.summary_pairs").fetchall())

    def blocks(self):
        return sorted(self.home.glob("blocks/signals/summary_pairs/*/*.parquet"))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = Interrupted(tmp_path_factory.mktemp("interrupted"), SETTINGS)
    home.land_corpus(4_000, Options())
    with home.start() as build:
        output = build.stdout.read().decode()
    assert build.returncode == 0, output
    assert not (home.home / "blocks").exists()
    return home


def test_a_killed_build_leaves_the_snapshot_and_its_blocks_are_read_by_the_next(home):
    """A pair taken out of a finished block is missing afterwards: the block was not computed again."""
    before = home.pairs()
    assert len(before) > 1_000
    with home.start() as build:
        while not home.blocks() and build.poll() is None:
            time.sleep(0.02)
        os.kill(build.pid, signal.SIGKILL)
    assert build.returncode == -signal.SIGKILL
    assert home.pairs() == before
    finished = home.blocks()[0]
    rows = pq.read_table(finished)
    taken = rows.slice(0, 1).to_pylist()[0]
    pq.write_table(rows.slice(1), finished, write_page_checksum=True)
    with home.start() as build:
        output = build.stdout.read().decode()
    assert build.returncode == 0, output
    assert home.pairs() == before - {(taken["first_index"], taken["second_index"])}
    assert not (home.home / "blocks").exists()


def test_a_full_disk_fails_the_build_and_leaves_the_snapshot(home):
    """No file may grow beyond 256 KiB: to those who write it is a disk without room."""
    before = home.pairs()
    with home.start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))) as build:
        output = build.stdout.read().decode()
    assert build.returncode != 0
    assert "rror" in output
    assert home.pairs() == before
    with home.start() as build:
        output = build.stdout.read().decode()
    assert build.returncode == 0, output
    assert len(home.pairs()) >= len(before)
