"""Exports: ids and gains, whole folders or none, equal bytes, licences, inert cells, and back again without loss."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshot_home import RELEVANCES, SnapshotHome

from warehouse.cli import main
from warehouse.exports.card import licence_tag, plain
from warehouse.exports.folder import export_folder
from warehouse.exports.gains import gain, relevance_of_gain
from warehouse.exports.ids import escape, file_name, unescape
from warehouse.exports.mteb import task_name
from warehouse.exports.trec import tool_scores

HOSTILE = {
    "s/1": "a b\tc", "s/2": "=cmd|' /C calc'!A0", "s/3": "100% \"sure\"", "s/4": "-2+3", "s/5": "è\u00a0é\u200b",
    "s/6": "@x", "s/7": "%41", "s/8": "日本 語\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home whose ids, texts and system names are hostile."""
    names = {one: f"s/{hostile}" for one, hostile in HOSTILE.items()}
    problems = {
        names[f"s/{n}"]: (f'Statement {n}: ${{x}}$ "quoted",\ttabs\n=1+1', f"Solution {n}.") for n in range(1, 9)
    }
    relevances = {names[q]: {names[d]: rel for d, rel in row.items()} for q, row in RELEVANCES.items()}
    domains = {names["s/1"]: ["Alpha"], names["s/2"]: ["Alpha", "Beta"]}
    made = SnapshotHome(tmp_path_factory.mktemp("hostile"), problems, relevances, domains, judge="=2+5 judge")
    tied = {query: dict.fromkeys(documents, 0.1) for query, documents in relevances.items()}
    close = {q: {d: 1 + 1e-12 * n for n, d in enumerate(documents)} for q, documents in relevances.items()}
    for run_id, scores in (("tied run", tied), ("../=close", close), ("spread", _spread(relevances))):
        made.landing.append("runs", made.run_rows(run_id, scores), f"retrieve-{run_id}")
    made.build()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SABER_SETTINGS", str(made.settings_file))
        patch.setenv("SABER_HOME", str(made.path))
        yield made


def _spread(relevances):
    return {q: {d: 1 / (n + 3) for n, d in enumerate(documents)} for q, documents in relevances.items()}


# --- ids ---------------------------------------------------------------------------------------------------


@given(st.text())
def test_escaped_ids_come_back_and_hold_nothing_that_breaks_a_table(text):
    coded = escape(text)
    assert unescape(coded) == text
    assert coded
    assert len(coded.split()) == 1
    assert coded.isprintable()
    assert not set(coded) & set("\"'\t\r\n")
    assert coded[0] not in "=+-@"


@given(st.text(), st.text())
def test_escaping_keeps_different_ids_different(one, other):
    assert (escape(one) == escape(other)) == (one == other)


def test_ordinary_ids_stay_as_they_are():
    for text in ("sample/problems:alg-014", "a.b_c", "naïve", "x=1+2"):
        assert escape(text) == text


def test_foreign_percent_signs_that_are_no_encoding_survive():
    assert unescape("50%FF") == "50%FF"


@given(st.text())
def test_file_names_stay_in_their_folder(text):
    name = file_name(text)
    assert re.fullmatch(r"[A-Za-z0-9._%-]+", name)
    assert not name.startswith(".")
    assert len(name) <= 200


def test_long_names_fit_a_file_system_and_stay_apart():
    one, other = (file_name("系" * 300 + end) for end in "ab")  # no export of a home with such a run was possible
    assert one != other
    assert one.startswith("%E7%B3%BB")
    assert file_name("n" * 200) == "n" * 200


# --- numbers -----------------------------------------------------------------------------------------------


def test_gains_by_hand():
    assert [gain(relevance) for relevance in (0, 0.5, 1, 2, 5)] == [0, 414, 1000, 3000, 31000]
    assert relevance_of_gain(31000) == 5
    for bad in (-0.1, float("nan"), float("inf"), 22):
        with pytest.raises(ValueError, match="between 0 and 21"):
            gain(bad)


@given(st.floats(0, 5))
def test_a_gain_is_its_relevance_to_half_a_thousandth(relevance):
    assert abs(gain(relevance) / 1000 - (2**relevance - 1)) <= 5.001e-4


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_tool_scores_put_documents_in_our_order(scores):
    ordered = np.array(sorted(scores, reverse=True))
    narrow = np.array(tool_scores(ordered), dtype=np.float32)
    assert np.isfinite(narrow).all()
    assert (np.diff(narrow) < 0).all()


def test_scores_that_tools_can_tell_apart_stay_exact():
    assert tool_scores(np.array([0.3, 0.1])) == [0.3, 0.1]
    assert tool_scores(np.array([0.1, 0.1])) == [2, 1]


# --- folders -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["trec", "beir", "mteb", "hf", "parquet"])
def test_exporting_twice_gives_equal_bytes_and_replaces_the_folder(home, tmp_path, kind, capsys):
    target = tmp_path / "out"
    assert main(["export", kind, str(target), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["saber_export"] == kind
    before = contents(target)
    assert main(["export", kind, str(target)]) == 0
    assert contents(target) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_a_folder_of_others_is_left_alone(home, tmp_path, capsys):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    assert main(["export", "trec", str(tmp_path / "thesis")]) == 1
    assert "no earlier export" in capsys.readouterr().err
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"
    assert main(["export", "trec", str(home.path)]) == 1
    assert "warehouse itself" in capsys.readouterr().err


def test_a_failed_export_leaves_the_earlier_one(home, tmp_path, capsys):
    target = tmp_path / "out"
    assert main(["export", "trec", str(target)]) == 0
    before = contents(target)
    assert main(["export", "trec", str(target), "--run", "tied rum"]) == 1
    assert "Close: tied run" in capsys.readouterr().err
    assert contents(target) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_what_killed_exports_left_is_removed_and_an_old_export_comes_back(tmp_path):
    target = tmp_path / "o[u]t"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = tmp_path / f".o[u]t.{gone.pid}.tmp"
    living = tmp_path / f".o[u]t.{os.getppid()}.tmp"
    others = tmp_path / f".out.{gone.pid}.tmp"
    for folder in (left, living, others, tmp_path / f".o[u]t.{gone.pid}.old"):
        folder.mkdir()
        (folder / "saber.json").write_text('{"saber_export": "trec"}')
    with pytest.raises(ZeroDivisionError), export_folder(target):
        raise ZeroDivisionError
    assert sorted(tmp_path.iterdir()) == sorted([living, others, target])  # they stayed for ever
    assert contents(target).keys() == {"saber.json"}


def test_no_cell_of_a_table_would_be_run_by_a_spreadsheet(home, tmp_path):
    for kind in ("trec", "beir"):
        assert main(["export", kind, str(tmp_path / kind)]) == 0
    tables = [*tmp_path.rglob("*.tsv"), *tmp_path.rglob("*.txt")]
    assert len(tables) == 12
    for path in tables:
        for row in csv.reader(path.read_text("utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
            for cell in row:
                first = cell[:1]
                assert first not in "=@+" or not first, (path, cell)
                assert first != "-" or float(cell) <= 0, (path, cell)


def test_run_files_cannot_leave_the_folder(home, tmp_path):
    assert main(["export", "trec", str(tmp_path / "out")]) == 0
    manifest = json.loads((tmp_path / "out" / "saber.json").read_text())
    assert {run["run_id"] for run in manifest["runs"]} == {"tied run", "../=close", "spread"}
    for run in manifest["runs"]:
        assert (tmp_path / "out" / run["file"]).resolve().parent == (tmp_path / "out" / "runs").resolve()


def test_licences_travel_with_every_format(home, tmp_path):
    for kind in ("trec", "beir", "mteb", "hf"):
        assert main(["export", kind, str(tmp_path / kind)]) == 0
        assert json.loads((tmp_path / kind / "saber.json").read_text())["licences"] == {"s": ["CC-BY-4.0"]}
        assert r"| s | CC\-BY\-4.0 |" in (tmp_path / kind / "README.md").read_text()
    assert 'license: "cc-by-4.0"' in (tmp_path / "hf" / "README.md").read_text()
    assert licence_tag({"a": ["CC-BY-4.0"], "b": ["MIT"]}) == "other"
    assert licence_tag({"a": ["house rules"]}) == "other"


def test_the_card_shows_names_as_they_are_and_warns_of_a_flattering_judge(tmp_path, monkeypatch):
    assert plain("<script>|x\n# y") == r"&lt;script&gt;\|x \# y"
    flattering = SnapshotHome(tmp_path, judge="offline-similarity")
    monkeypatch.setenv("SABER_SETTINGS", str(flattering.settings_file))
    assert main(["export", "hf", str(tmp_path / "out"), "--home", str(flattering.path)]) == 0
    assert "flatters lexical systems" in (tmp_path / "out" / "README.md").read_text()


def test_the_marts_as_parquet_are_the_marts(sample_home, tmp_path):
    assert main(["export", "parquet", str(tmp_path / "marts"), "--home", str(sample_home.landing.home)]) == 0
    for name in ("benchmark.qrels", "evaluation.leaderboard", "signals.problem_domains"):
        schema, table = name.split(".")
        rows = pq.read_table(tmp_path / "marts" / schema / f"{table}.parquet")
        expected = sample_home.rows(f"select * from {name} order by all")
        assert [tuple(row.values()) for row in rows.to_pylist()] == expected
    assert not (tmp_path / "marts" / "landing").exists()


def test_task_names_are_words():
    assert task_name("test-bench statement-full") == "TestBenchStatementFull"
    assert task_name("") == "Saber"


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
