"""Fixtures shared by test files: the sample, built once by the command a user runs."""

from __future__ import annotations

import shutil

import pytest
from evaluation_home import extended_home
from homes import Home

from warehouse.settings import ROOT

LEXICAL = ("bm25", "tfidf", "jaccard", "random")
"""Systems of the sample home: the embedded model has tests of its own and takes half a minute here."""


@pytest.fixture(scope="session")
def sample_home(tmp_path_factory) -> Home:
    """The sample corpus after `saber build`; tests that change it take a copy (`copy_home`)."""
    home = Home(tmp_path_factory.mktemp("sample"), (ROOT / "saber.toml").read_text("utf-8"))
    result = home.saber("build", "--system", *LEXICAL)
    assert result.returncode == 0, result.stdout + result.stderr
    home.build_output = result.stdout
    return home


@pytest.fixture
def copy_home(tmp_path):
    """Return a function that copies a home into this test's own folder."""

    def copy(home: Home) -> Home:
        other = Home(tmp_path / "copy", home.settings_file.read_text())
        shutil.copytree(home.landing.home, other.landing.home, dirs_exist_ok=True)
        return other

    return copy


@pytest.fixture(scope="session")
def evaluation_home(sample_home, tmp_path_factory) -> Home:
    """The sample with an imported benchmark, refits, further runs and judgments; read it, do not change it."""
    return extended_home(sample_home, tmp_path_factory.mktemp("evaluation"))
