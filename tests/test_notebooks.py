"""Notebooks run headless over a home that holds a snapshot and nothing else; the files hold no outputs."""

import json
import re
import shlex
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.notebook import Snapshot
from warehouse.settings import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = [
    "01_explore",
    "02_signal_ablation",
    "03_tournament",
    "04_leaderboard",
    "05_math_vs_words",
    "06_bring_your_own_system",
]
# What the homes of the tests cannot have: the figure gives way to the command that lands it.
MISSING = {
    "evaluation": {"people", "variant-scores"},
    "sample": {
        *("agreement", "copies", "external-scores", "people", "prefixes", "recorded", "scores", "share", "systems"),
        "variant-scores",
    },
}
PROBE = """
import json

def data_of(axes):
    # Lines to read against hang on the frame of the axes, not on the data alone.
    points = sum(len(line.get_xdata()) for line in axes.lines if line.get_transform() == axes.transData)
    return points + len(axes.patches) + len(axes.images) + sum(len(one.get_paths()) for one in axes.collections)

print(json.dumps([
    [data_of(axes) for axes in one.figure.axes if axes.get_label() != "<colorbar>"]
    if hasattr(one, "figure") else None
    for one in snapshot.drawn
]))
"""


def lone_snapshot(home, folder: Path) -> Path:
    """Copy the snapshot alone; in place of the warehouse stands a file that no reader of databases survives."""
    folder.mkdir()
    shutil.copy(home.landing.home / "snapshot.duckdb", folder)
    (folder / "warehouse.duckdb").write_text("no database")
    return folder


def executed(path: Path, home, folder: Path):
    """Run a notebook; return it and, for each figure, the data artists of its axes (None where nothing is drawn)."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(PROBE))
    environment = {
        **home.environment,
        "SABER_HOME": str(lone_snapshot(home, folder / "home")),
        "IPYTHONDIR": str(folder / "ipython"),
        "TMPDIR": str(folder),
    }
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env=environment)
    drawn = json.loads(notebook.cells.pop()["outputs"][0]["text"])
    assert sorted(file.name for file in (folder / "home").iterdir()) == ["snapshot.duckdb", "warehouse.duckdb"]
    return notebook, drawn


def without_figure(notebook) -> set[str]:
    """Return the ids of cells that show what is missing; every other cell that draws shows a picture."""
    found = set()
    for cell in notebook.cells:
        if cell.cell_type != "code" or "snapshot.draw(" not in cell.source:
            continue
        shown = cell.outputs[-1]["data"]
        if "image/png" not in shown:
            assert shown["text/markdown"].startswith("**Nothing to draw"), cell.id
            assert "`" in shown["text/markdown"]  # the command that lands it
            found.add(cell.id)
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_on_everything_the_evaluation_reads(path, evaluation_home, tmp_path):
    run(path, evaluation_home, "evaluation", tmp_path)


@pytest.mark.parametrize("path", NOTEBOOKS[3:5], ids=lambda path: path.stem)
def test_notebooks_say_what_the_sample_lacks(path, sample_home, tmp_path):
    run(path, sample_home, "sample", tmp_path)


def run(path: Path, home, kind: str, folder: Path) -> None:
    notebook, drawn = executed(path, home, folder)
    cells = {cell.id for cell in notebook.cells}
    assert without_figure(notebook) == MISSING[kind] & cells
    assert sum(one is None for one in drawn) == len(MISSING[kind] & cells)
    figures = [axes for axes in drawn if axes is not None]
    assert figures
    for axes in figures:
        assert axes
        assert all(count > 0 for count in axes)
    if "landing" in cells and kind == "evaluation":
        lands(notebook, home, folder)


def lands(notebook, home, folder: Path) -> None:
    """The command that the notebook prints lands the run, under the scores that the notebook has shown."""
    (printed,) = [cell.outputs[0]["text"] for cell in notebook.cells if cell.id == "landing"]
    command = shlex.split(printed.splitlines()[0])
    shutil.copytree(home.landing.home / "landing", folder / "mine" / "landing")
    shutil.copy(home.landing.home / "snapshot.duckdb", folder / "mine")
    result = home.saber(*command[1:], "--home", str(folder / "mine"))
    assert result.returncode == 0, result.stdout + result.stderr
    rows = Landing(folder / "mine").read("runs", where="system = 'overlap'").to_pylist()
    candidates = home.rows("select count(*) from benchmark.candidates")[0][0]
    assert len(rows) == candidates
    assert {(row["setting"], row["scope"]) for row in rows} == {("statement-full", "candidates")}


def test_all_six_are_there():
    assert [path.stem for path in NOTEBOOKS] == NAMES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_files_hold_no_outputs_and_nothing_of_a_machine(path):
    text = path.read_text("utf-8")
    notebook = json.loads(text)
    nbformat.validate(notebook)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert notebook["metadata"]["language_info"] == {"name": "python"}
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", one) for one in ids)
    for cell in notebook["cells"]:
        assert cell["metadata"] == {}
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
    assert not re.search(r"/(home|tmp|root|work|Users)/|[A-Z]:\\\\", text)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_figure_has_words_that_say_how_to_read_it(path):
    """A cell that draws is led by prose, or follows a cell that the same prose leads."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    for at, cell in enumerate(cells):
        if "snapshot.draw(" in "".join(cell["source"]):
            assert "markdown" in {before["cell_type"] for before in cells[max(at - 2, 0) : at]}, cell["id"]


def test_a_home_without_snapshot_and_an_older_snapshot_are_explained(tmp_path, sample_home):
    with pytest.raises(SaberError, match="make build"):
        Snapshot(tmp_path)
    snapshot = Snapshot(sample_home.landing.home)
    with pytest.raises(SaberError, match=r"no_such_table.*dbt build"):
        snapshot.table("select * from analysis.no_such_table")
    assert snapshot.table("select ? + 1 as n", 1).rows() == [(2,)]
    assert snapshot.table("select 1 as n where false").columns == ["n"]


def test_runs_of_one_name_are_told_apart(evaluation_home):
    rows = Snapshot(evaluation_home.landing.home).table("select run_id, label from run_labels").rows()
    labels = dict(rows)
    assert labels["dense.statement-full.plain"] == "dense (plain)"
    assert labels["dense.statement-full.prefixed"] == "dense (prefixed)"
    assert labels["toy.sound"] == "toy.sound"
