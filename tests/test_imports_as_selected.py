"""Existing annotations, imported as selected, become the rows the marts read: those of the home they come from."""

from __future__ import annotations

import shutil

import pyarrow.parquet as pq
import pytest

from warehouse.cli import main
from warehouse.landing import Landing

_BOOKKEEPING = ("job_id", "sequence", "schema_version", "traversal_id")
TABLES = {"topics": "topic_scores", "summaries": "summaries", "judgments": "judgments", "ratings": "ratings"}


@pytest.fixture
def other(sample_home, tmp_path, monkeypatch):
    """A home with the sample's problems and ontology and its built candidates, but nobody's annotations."""
    landing = Landing(tmp_path / "other")
    for table in ("problems", "ontology_edges", "duplicates"):
        shutil.copytree(sample_home.landing.folder(table), landing.folder(table))
    shutil.copy(sample_home.landing.home / "snapshot.duckdb", landing.home)
    monkeypatch.setenv("SABER_SETTINGS", str(sample_home.settings_file))
    monkeypatch.setenv("SABER_HOME", str(landing.home))
    return landing


def rows_of(landing, table):
    """Rows of a landed table as text, in order, without what tells one landing from another."""
    kept = [name for name in landing.read(table).column_names if name not in _BOOKKEEPING]
    return sorted(repr(list(row.values())) for row in landing.read(table).select(kept).to_pylist())


def test_imported_rows_are_those_of_the_home_they_come_from(sample_home, other, tmp_path):
    for kind, table in TABLES.items():
        path = tmp_path / f"{table}.parquet"
        pq.write_table(sample_home.landing.read(table), path)
        assert main(["import", kind, str(path), "--as-selected"]) == 0
        assert rows_of(other, table) == rows_of(sample_home.landing, table), kind


def test_one_changed_text_stops_the_import_by_name(sample_home, other, tmp_path, capsys):
    row = sample_home.landing.read("problems").to_pylist()[0]
    changed = {name: value for name, value in row.items() if name not in _BOOKKEEPING}
    other.append("problems", [{**changed, "statement": "Other.", "content_hash": "0" * 32}], "later")
    path = tmp_path / "summaries.parquet"
    pq.write_table(sample_home.landing.read("summaries"), path)
    assert main(["import", "summaries", str(path), "--as-selected"]) == 1
    assert "1 row has a fault" in capsys.readouterr().err
    assert other.read("summaries").num_rows == 0
    assert main(["import", "summaries", str(path), "--as-selected", "--keep-good"]) == 0
    assert other.read("summaries").num_rows == 486
