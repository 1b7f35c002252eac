"""The copies planted in the sample are found, each by name, by the commands a user runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_sourcing_steps import home
from warehouse.cli import main
from warehouse.landing import Landing
from warehouse.sample.build import PLANTED

__all__ = ["home"]


def test_every_planted_copy_of_the_sample_is_merged_or_near(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", "sample"]) == 0
    assert main(["deduplicate"]) == 0
    landing = Landing(home)
    groups = {row["problem_id"]: row["group_id"] for row in landing.read("duplicates").to_pylist()}
    near = {
        frozenset((row["first_id"], row["second_id"])): row["kind"]
        for row in landing.read("near_duplicates").to_pylist()
    }
    found = {}
    for copy, original, _ in PLANTED:
        pair = [f"sample/problems:{name}" for name in (copy, original)]
        merged = groups.get(pair[0], pair[0]) == groups.get(pair[1], pair[1])
        found[copy] = "merged" if merged else near.get(frozenset(pair))
    # A unit in the question, "all" beside "all equal to", and 101 for 100: each might be another problem, so each is
    # shown to a person and none is merged.
    assert found == {"dup-1": "other formulas", "dup-2": "other words", "dup-3": "renumbered"}
    # One problem stands in the sample twice without having been planted: that one is merged.
    assert groups == {
        "sample/problems:cal-018": "sample/problems:geo-023",
        "sample/problems:geo-023": "sample/problems:geo-023",
    }
    assert "near renumbered" in capsys.readouterr().out
