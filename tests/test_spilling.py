"""A build under a memory limit says what it spilled to disk."""

from __future__ import annotations

from pathlib import Path

import duckdb
from homes import Home

from warehouse.spilling import SpillWatch, told


def test_what_a_sort_spills_is_seen(tmp_path: Path) -> None:
    database = tmp_path / "warehouse.duckdb"
    watch = SpillWatch(tmp_path / "warehouse.duckdb.tmp")
    with duckdb.connect(str(database), config={"memory_limit": "100MB", "threads": 1}) as connection:
        connection.execute(
            "create temp table t as select md5(i::varchar) as a, md5((i + 1)::varchar) as b "
            "from range(3_000_000) t(i) order by a"
        )
    assert watch.stop() > 1_000_000
    assert SpillWatch(tmp_path / "nothing").stop() == 0


def test_the_line_tells_amount_and_limit() -> None:
    assert told(0, None) is None
    assert told(0, "1GB") == "stayed within the memory limit of 1GB without spilling to disk"
    assert told(52_400_000, "1GB") == (
        "spilled up to 52 MB to disk under the memory limit of 1GB; SABER_MEMORY_LIMIT sets it"
    )


def test_a_dbt_run_says_so(tmp_path: Path) -> None:
    result = Home(tmp_path).dbt("run", "--select", "stg_settings", SABER_MEMORY_LIMIT="1GB")
    assert result.returncode == 0, result.stdout
    assert "stayed within the memory limit of 1GB without spilling to disk" in result.stderr
