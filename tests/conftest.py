"""Fixtures shared by test files: the sample, built once by the command a user runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from evaluation_home import extended_home
from filelock import FileLock
from homes import Home

from warehouse.settings import ROOT

LEXICAL = ("bm25", "tfidf", "jaccard", "random")
"""Systems of the sample home: the embedded model has tests of its own and takes half a minute here."""

LONG_FILES = (
    "test_pipeline.py",
    "test_growth_reverted.py",
    "test_growth.py",
    "test_growth_interrupted.py",
    "test_failed_build.py",
    "test_leaks.py",
    "test_notebooks.py",
    "test_analysis_variants.py",
    "test_analysis_parts.py",
    "test_imports_as_selected.py",
    "test_exports_tools.py",
)
"""Few tests that take minutes: they begin first, so that no process is left alone with one of them at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long files first; the order within a file stays."""
    places = {name: place for place, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONG_FILES)))


def shared_home(tmp_path_factory, name: str, make: Callable[[Path], Home]) -> Home:
    """Build a home once for all worker processes of a run: the first that asks builds, the others wait and read."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"shared-{name}"
    output = folder / "build_output.txt"
    with FileLock(f"{folder}.lock"):
        if output.exists():
            home = Home(folder, (folder / "saber.toml").read_text("utf-8"))
            home.build_output = output.read_text("utf-8")
            return home
        shutil.rmtree(folder, ignore_errors=True)  # what a failed attempt left
        home = make(folder)
        output.write_text(home.build_output, "utf-8")
        return home


def build_sample(folder: Path) -> Home:
    """Build the sample corpus in a folder."""
    home = Home(folder, (ROOT / "saber.toml").read_text("utf-8"))
    result = home.saber("build", "--system", *LEXICAL)
    assert result.returncode == 0, result.stdout + result.stderr
    home.build_output = result.stdout
    return home


@pytest.fixture(scope="session")
def sample_home(tmp_path_factory) -> Home:
    """The sample corpus after `saber build`; tests that change it take a copy (`copy_home`)."""
    return shared_home(tmp_path_factory, "sample", build_sample)


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
    return shared_home(tmp_path_factory, "evaluation", lambda folder: extended_home(sample_home, folder))
