"""``saber ingest problems`` on files that lie about what they are: where it is said, what is kept, how it exits."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.documents import lines_of_text, write_pdf
from tests.test_sourcing_steps import home, open_items
from warehouse.cli import main
from warehouse.landing import Landing
from warehouse.readers import Limits
from warehouse.sources import ingest_problems

__all__ = ["home"]


def problem(n: int) -> dict[str, str]:
    return {"problem": f"Compute ${n}+{n}$ for the apples of basket {n}.", "solution": f"It is ${2 * n}$."}


def json_lines(*numbers: int) -> str:
    return "".join(json.dumps(problem(n)) + "\n" for n in numbers)


def ingest(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    code = main(["ingest", "problems", *arguments, "--json"])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, json.loads(captured.out) if captured.out else {}, captured.err


def a_file(name: str, content: bytes | str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def huge_line(folder: Path) -> Path:
    path = folder / "huge.jsonl"
    with path.open("w") as handle:
        handle.write(json_lines(1) + '{"problem": "')
        for _ in range(70):
            handle.write("x" * (1 << 20))
        handle.write('"}\n' + json_lines(2))
    return path


def zip_bomb(folder: Path) -> Path:
    path = folder / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("good.jsonl", json_lines(1))
        with archive.open("bomb.jsonl", "w") as handle:
            for _ in range(66):
                handle.write(b" " * (1 << 20))
    return path


def gzip_bomb(folder: Path) -> Path:
    path = folder / "bomb.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as handle:
        for _ in range(66):
            handle.write(b" " * (1 << 20))
    return path


def workbook(folder: Path) -> Path:
    path = folder / "book.csv"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("[Content_Types].xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml"):
            archive.writestr(name, "<sheet><row>1</row></sheet>")
    return path


def loop(folder: Path) -> Path:
    (folder / "tree" / "inner").mkdir(parents=True)
    (folder / "tree" / "inner" / "up").symlink_to("..")
    (folder / "tree" / "a.jsonl").write_text(json_lines(1))
    return folder / "tree"


def cut_parquet(folder: Path) -> Path:
    path = folder / "cut.parquet"
    pq.write_table(pa.Table.from_pylist([problem(n) for n in range(99)]), path)
    path.write_bytes(path.read_bytes()[:-9])
    return path


def parquet_named_csv(folder: Path) -> Path:
    path = folder / "table.csv"
    pq.write_table(pa.Table.from_pylist([problem(1), problem(2)]), path)
    return path


def scanned(folder: Path) -> Path:
    return write_pdf(folder / "contest.pdf", [lines_of_text(["Problem 1."])])


WINDOWS = "problem,solution\nFür alle Zahlen,so\nZwei,ja\n".encode("cp1252")
QUOTE = 'problem,solution\nOne,A\n"Two\nlines",B\n"Three never ends,C\nFour,D\n'


@pytest.mark.parametrize(
    ("make", "code", "kept", "rejected", "said"),
    [
        (a_file("lines.json", json_lines(1, 2, 3)), 0, 3, 0, ""),
        (a_file("cut.csv", QUOTE), 1, 2, 1, "row 3 (line 5, byte 37): cut inside a quote"),
        (a_file("cut.jsonl", json_lines(1, 2) + '{"problem": "cut he'), 1, 2, 1, "row 3 (byte "),
        (a_file("cut.json", f"[{json_lines(1).strip()}, {{'"), 1, 1, 1, "byte "),
        (a_file("latin.csv", WINDOWS), 0, 2, 0, "not UTF-8 at byte 18, read as Windows-1252; name --encoding"),
        (a_file("wide.jsonl", json_lines(1, 2).encode("utf-16")), 0, 2, 0, "read as utf-16"),
        (a_file("zero.csv", b"problem,solution\nOne,A\nTw\x00o,B\n"), 0, 2, 0, "U+0000"),
        (a_file("hole.csv", b"problem,solution\nA apples?,b\n" + b"\0" * 5000 + b"\nB apples?,c\n"),
         1, 2, 1, "row 2 (line 3, byte 29): field count"),
        (a_file("mgsm_de.tsv", "".join(f"Wie viele Äpfel liegen zusammen in {n} Körben?\t{n}\n" for n in (3, 4))),
         0, 2, 0, ""),
        (a_file("short.tsv", "One?\t1\nTwo?\t2\n"), 1, 0, 0, "--map statement=COLUMN"),
        (huge_line, 1, 2, 1, "row 2 (byte "),
        (zip_bomb, 1, 1, 0, "refused bomb.zip!bomb.jsonl: "),
        (gzip_bomb, 1, 0, 0, "like a bomb"),
        (workbook, 1, 0, 0, "refused book.csv: an Excel workbook; save the sheet as CSV"),
        (loop, 0, 1, 0, "a symbolic link that leads back"),
        (cut_parquet, 1, 0, 0, "the file is cut or foreign"),
        (parquet_named_csv, 0, 2, 0, ""),
        (scanned, 1, 0, 0, "saber source segment"),
        (a_file("deep.jsonl", json_lines(1) + '{"problem": "x", "y": ' + "[" * 900 + "]" * 900 + "}\n"),
         1, 1, 1, "row 2 (byte "),
        (a_file("pointer.parquet", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
         1, 0, 0, "git lfs pull"),
        (a_file("prose.jsonl", "Not found\n"), 1, 0, 0, "refused prose.jsonl: "),
        (a_file("noise.jsonl", bytes(range(256)) * 20), 1, 0, 0, "binary data of no known format"),
    ],
)  # fmt: skip
def test_a_file_that_lies(
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    make: Callable[[Path], Path],
    code: int,
    kept: int,
    rejected: int,
    said: str,
) -> None:
    path = make(tmp_path)
    found, summary, told = ingest(capsys, str(path), "--source", "s", "--licence", "test")
    assert (found, summary["kept"], summary["rejected"]) == (code, kept, rejected)
    assert summary["rows_in"] == kept + rejected
    assert said in told
    assert Landing(home).read("problems").num_rows == kept  # good rows land though the command fails
    audit = Landing(home).read("source_rows").to_pylist()
    assert sum(row["n_rows"] for row in audit if row["step"] == "read") == rejected
    if rejected:
        accepted, _, _ = ingest(capsys, str(path), "--source", "s", "--accept-damaged")
        assert accepted == 0


def test_the_right_encoding_can_be_named(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("problem,solution\nЗадача,Ответ\n".encode("cp1251"))
    ingest(capsys, str(path), "--source", "s", "--encoding", "cp1251")
    assert Landing(home).read("problems").to_pylist()[0]["statement"] == "Задача"


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.data"])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\n \n"])
@pytest.mark.parametrize("first", ["1", '"a, b"', "null", "true", "-1.5e3", "[]", '["a"]'])
def test_a_first_line_that_is_no_record_is_rejected_alone(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, mark: str, first: str
) -> None:
    path = a_file(name, mark + first + "\n" + json_lines(1) + '{"problem": \n' + json_lines(2))(tmp_path)
    code, counts, told = ingest(capsys, str(path), "--source", "s")
    assert (code, counts["rows_in"], counts["kept"]) == (1, 4, 2)
    assert counts["rejected_by_reason"] == {"not a record": 1, "not JSON": 1}
    line = 1 + mark.count("\n")
    assert f"row {line} (byte " in told
    assert Landing(home).read("problems").num_rows == 2


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("remark.jsonl", "# exported\n" + json_lines(1, 2), (3, 2)),
        ("numbers.json", "1\n2\n", (2, 0)),
        ("null.jsonl", "null", (1, 0)),
        ("list.json", f"[{json_lines(1).strip()},\n{json_lines(2).strip()}]", (2, 2)),
        ("lists.jsonl", f"[{json_lines(1).strip()}]\n" + json_lines(2), (2, 2)),
    ],
)
def test_lines_around_records_are_counted(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, rows: tuple[int, int]
) -> None:
    _, counts, _ = ingest(capsys, str(a_file(name, content)(tmp_path)), "--source", "s")
    assert (counts["rows_in"], counts["kept"]) == rows


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("long.md", "# Problem 1\nHow many apples are there?\n\n# Problem 2\n{}\n\n# Problem 3\nHow many pears?\n"),
        ("long.tex", "\\begin{{problem}}Apples?\\end{{problem}}\\begin{{problem}}{}\\end{{problem}}"
                     "\\begin{{problem}}Pears?\\end{{problem}}"),
    ],
)  # fmt: skip
def test_a_document_has_no_record_beyond_the_limit(tmp_path: Path, name: str, text: str) -> None:
    path = a_file(name, text.format("x" * 2000))(tmp_path)
    for limit, kept in ((5000, 3), (1000, 2)):
        result = ingest_problems([path], "s", limits=Limits(record_bytes=limit))
        assert result.counts["rows_in"] == 3
        assert len(result.rows) == kept
    assert result.counts["rejected_by_reason"] == {"record too long": 1}


def test_a_dry_run_shows_what_kind_of_answers_there_are(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"problem": f"How many apples has basket {n}?", "answer": value} for n, value in enumerate(("3", "x^2", ""))
    ]
    path = a_file("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))(tmp_path)
    _, summary, _ = ingest(capsys, str(path), "--source", "s", "--dry-run")
    assert summary["quality"]["answer types"] == {"integer": 1, "expression": 1, "none": 1}


@pytest.mark.parametrize("name", ["klingon", "base64", "utf-8\0"])
def test_an_encoding_that_does_not_exist_is_told_in_one_line(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = a_file("a.jsonl", json_lines(1))(tmp_path)
    assert main(["ingest", "problems", str(path), "--source", "s", "--encoding", name]) == 1
    assert capsys.readouterr().err.startswith("saber: There is no text encoding")
    assert not (home / "landing" / "problems").exists()


def test_licence_and_language_come_from_the_row_the_flag_or_the_settings(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "own.toml"
    settings.write_text(settings.read_text() + '\n[sources.official]\nlicence = "CC-BY-4.0"\nlanguage = "en"\n')
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({**problem(1), "license": "MIT"}) + "\n" + json_lines(2))

    def landed(source: str) -> list[tuple[str | None, str | None]]:
        rows = Landing(home).read("problems").to_pylist()
        return [(row["licence"], row["language"]) for row in rows if row["source"] == source]

    _, _, told = ingest(capsys, str(path), "--source", "official")
    assert landed("official") == [("MIT", "en"), ("CC-BY-4.0", "en")]
    assert "licence" not in told
    ingest(capsys, str(path), "--source", "official", "--licence", "CC0", "--language", "de")
    assert sorted(landed("official")) == [("CC0", "de"), ("MIT", "de")]
    _, _, told = ingest(capsys, str(path), "--source", "forum")
    assert landed("forum") == [("MIT", None), (None, None)]
    assert "1 rows have no licence" in told
    assert "[sources.forum]" in told


def test_a_document_whose_counts_differ_comes_to_the_review_list_and_leaves_it_when_mended(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "contest.md"
    path.write_text("## Problem 1\nAdd.\n\n## Problem 2\nSubtract.\n\n## Solution 2\nDone.\n")
    _, _, told = ingest(capsys, str(path), "--source", "s")
    assert "for review contest.md: 2 problems and 1 solutions" in told
    assert open_items(home) == [("contest.md", "read", "counts differ")]
    path.write_text(path.read_text() + "\n## Solution 1\nDone too.\n")
    ingest(capsys, str(path), "--source", "s")
    assert open_items(home) == []
