"""A home that cannot be made used to end in a traceback of pathlib."""

from pathlib import Path

import pytest

from warehouse.cli import main


def test_home_below_a_file_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    problems = tmp_path / "p.csv"
    problems.write_text("question,answer\nFind the roots of $x^2 = 4$.,Two and minus two.\n")
    monkeypatch.setenv("SABER_HOME", str(tmp_path / "file" / "home"))
    assert main(["ingest", "problems", str(problems), "--source", "mine"]) == 1
    errors = capsys.readouterr().err
    assert "file" in errors
    assert "SABER_HOME" in errors
    assert "Traceback" not in errors
