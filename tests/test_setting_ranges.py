"""Numbers no build can mean are refused where they are read: K = -3 used to pass until deep inside dbt."""

import dataclasses
from pathlib import Path

import pytest

from warehouse import settings
from warehouse.errors import SaberError
from warehouse.setting_ranges import RANGES, in_range

FILE = Path("saber.toml")


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("benchmark.candidates_per_class", -3, "at least 1"),
        ("judging.rounds", 0, "at least 1"),
        ("annotation.topic_threshold", 7.0, "between 0 and 1"),
        ("ratings.ridge", float("nan"), "at least 0"),
    ],
)
def test_out_of_range_names_file_setting_and_range(name: str, value: float, wanted: str) -> None:
    section, _, key = name.partition(".")
    current = settings._SECTIONS[section]()
    with pytest.raises(SaberError, match=f"saber.toml: {name} must be {wanted}"):
        settings._checked(section, key, current, value, FILE)


def test_bounds_and_words_pass() -> None:
    assert in_range("corpus.duplicate_threshold", 1.0, FILE) == 1.0
    assert in_range("ratings.ridge", "auto", FILE) == "auto"
    assert in_range("benchmark.seed", -1, FILE) == -1


def test_every_range_is_of_a_setting_and_holds_its_default() -> None:
    for name in RANGES:
        section, _, key = name.partition(".")
        current = settings._SECTIONS[section]()
        assert key in {f.name for f in dataclasses.fields(current)}
        in_range(name, getattr(current, key), FILE)
