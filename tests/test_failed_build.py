"""A build in which one model fails, on a sound disk: what was there before stays readable, in both database files."""

import shutil
import subprocess
import sys

import duckdb
import pytest
from test_growth import Growing

from warehouse.settings import ROOT

COUNTS = """
    select
        (select count(*) from signals.eligible_problems),
        (select count(*) from signals.pair_counts),
        (select count(*) from benchmark.candidates)
"""


def read(home, file):
    with duckdb.connect(str(home.landing.home / file), read_only=True) as connection:
        return connection.execute(COUNTS).fetchall()[0]


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """24 problems, built; 12 more, and a build by models of which one is broken."""
    growing = Growing(tmp_path_factory.mktemp("failed"))
    growing.add([f"own/{n:03d}" for n in range(24)], 1)
    growing.run()
    home = growing.home
    home.before = read(home, "snapshot.duckdb")
    home.inode = (home.landing.home / "snapshot.duckdb").stat().st_ino
    project = home.path / "project"
    project.mkdir()
    for name in ("dbt_project.yml", "profiles.yml"):
        shutil.copy(ROOT / name, project / name)
    for name in ("models", "macros"):
        shutil.copytree(ROOT / name, project / name)
    pair_counts = project / "models/signals/pair_counts.sql"
    sound = pair_counts.read_text()
    pair_counts.write_text(sound.replace("    added.problem_id,", "    error('broken on purpose') as problem_id,"))
    assert pair_counts.read_text() != sound
    growing.add([f"own/{n:03d}" for n in range(24, 36)], 2)
    command = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "--quiet", "run", "--select"]
    environment = {**home.environment, "PYTHONPATH": str(ROOT)}
    home.result = subprocess.run(
        [*command, "+pair_generations", "+candidates"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    home.growing = growing
    return home


def test_the_build_fails_by_the_name_of_the_model(failed):
    assert failed.result.returncode == 1
    assert "pair_counts" in failed.result.stdout
    assert "broken on purpose" in failed.result.stdout


def test_the_snapshot_is_the_one_of_the_last_good_build(failed):
    assert failed.before[0] == 24
    assert read(failed, "snapshot.duckdb") == failed.before
    assert (failed.landing.home / "snapshot.duckdb").stat().st_ino == failed.inode
    assert not list(failed.landing.home.glob(".snapshot*"))


def test_marts_that_could_not_be_built_keep_their_rows_in_the_warehouse(failed):
    """Models before the broken one are new, the broken one and those after it as they were."""
    assert read(failed, "warehouse.duckdb") == (36, *failed.before[1:])


def test_the_next_build_brings_all_up_to_date(failed):
    failed.growing.run()
    failed.growing.check()
    assert read(failed, "snapshot.duckdb")[:2] == (36, 36)
