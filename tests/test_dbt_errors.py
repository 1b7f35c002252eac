"""What dbt prints when it cannot begin: one message with the remedy, no traceback."""

from __future__ import annotations

from pathlib import Path

import duckdb
from homes import Home


def test_a_warehouse_that_another_build_holds(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with duckdb.connect(str(home.landing.home / "warehouse.duckdb")):
        result = home.dbt("run", "--select", "stg_settings")
    said = result.stdout + result.stderr
    assert result.returncode != 0
    assert "in use by another process" in said
    assert "snapshot.duckdb can be read meanwhile" in said
    assert "Traceback" not in said


def test_vars_that_differ_from_the_settings(tmp_path: Path) -> None:
    result = Home(tmp_path).dbt("run", "--select", "stg_settings", "--vars", "{nonsense: 1}")
    said = result.stdout + result.stderr
    assert result.returncode != 0
    assert "--vars nonsense=1 differs from saber.toml" in said
    assert "Traceback" not in said
