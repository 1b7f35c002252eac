"""Which stages `saber build` runs on what has landed: an own corpus or ontology is never mixed with the sample's."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from homes import Home

from warehouse.cli.build import _stages
from warehouse.errors import SaberError
from warehouse.settings import load_settings


def ingests(home: Home, corpus: list[str] | None = None, ontology: str | None = None) -> list[str]:
    """Names of the stages that land problems or an ontology."""
    args = argparse.Namespace(corpus=corpus or [], ontology=ontology, full_refresh=False)
    settings = load_settings(home.landing.home, path=home.settings_file)
    return [name for name, _ in _stages(args, settings) if name.startswith("ingest")]


def test_an_empty_home_and_a_home_of_the_sample_take_the_sample(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert ingests(home) == ["ingest the sample"]
    home.problems([{"problem_id": "sample/1"}])
    assert ingests(home) == ["ingest the sample"]


def test_an_own_corpus_stays_alone_and_its_own_ontology_the_last(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.problems([{"problem_id": "mine/1"}])
    assert ingests(home) == ["ingest the sample ontology"]
    assert ingests(home, ontology="o/tree.json") == ["ingest o/tree.json"]
    home.ontology([(None, "root"), ("root", "leaf")])
    assert ingests(home) == []
    assert ingests(home, corpus=["more.jsonl"]) == ["ingest more.jsonl"]


def test_a_home_that_is_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(SaberError, match="file is a file, and a warehouse home is a folder"):
        load_settings(file)
