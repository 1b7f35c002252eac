"""saber sql: JSON that any reader takes, tables that no text can disturb, and an exit code that tells of errors."""

from __future__ import annotations

import io
import json

import duckdb
import pytest

from warehouse.cli import main


@pytest.fixture
def home(tmp_path, monkeypatch):
    with duckdb.connect(str(tmp_path / "snapshot.duckdb")) as connection:
        connection.execute("create table t as select 1 as a")
    monkeypatch.setenv("SABER_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("home")
def test_json_keeps_every_column_and_holds_json_numbers_alone(capsys):
    query = "select 1 as a, 2 as a, 'nan'::double as b, ['inf'::double, 1.5::double] as c"
    assert main(["sql", "--json", query]) == 0
    # the first of two namesakes was lost, and NaN is no JSON
    (row,) = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(name))
    assert row == {"a": 1, "a_1": 2, "b": None, "c": [None, 1.5]}


@pytest.mark.usefixtures("home")
def test_no_text_reaches_the_terminal_as_a_command(capsys):
    assert main(["sql", "select chr(27) || '[31mred' || chr(9) || chr(10) || chr(155) || 'é' as name"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "�[31mred  �é"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("lines", ["select nope;\nselect 1;\n", "select 1;\nselect nope"])
def test_a_failed_query_of_a_script_shows_in_the_exit_code_and_stops_nothing(capsys, monkeypatch, lines):
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    assert main(["sql"]) == 1  # 0 before, and a traceback where the last query had no semicolon
    shown = capsys.readouterr()
    assert shown.out.split() == ["1", "-", "1"]
    assert "nope" in shown.err


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("arguments", "words"), [([""], "empty"), ([" ;"], "empty"), (["select 1", "--limit", "-2"], "0")]
)
def test_what_cannot_be_asked_is_said(capsys, arguments, words):
    assert main(["sql", *arguments]) == 1
    assert words in capsys.readouterr().err


def test_the_snapshot_cannot_be_changed(home, capsys):
    before = (home / "snapshot.duckdb").read_bytes()
    for query in ("drop table t", "insert into t values (2)", "create table u (a int)"):
        assert main(["sql", query]) == 1
    assert "read-only" in capsys.readouterr().err
    assert (home / "snapshot.duckdb").read_bytes() == before
