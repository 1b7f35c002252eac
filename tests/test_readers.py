"""Format readers: every record is a row or a rejection with its place; files that lie are told by their bytes."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.errors import SaberError
from warehouse.readers import (
    DEFAULT_LIMITS,
    Item,
    Limits,
    Note,
    Reading,
    RefusedError,
    Rejection,
    Row,
    SkippedFile,
    open_files,
)
from warehouse.readers.delimited import Dialect, guess
from warehouse.readers.records import place

NAMES = frozenset({"problem", "solution", "question", "answer"})
SMALL = Limits(record_bytes=200, document_bytes=2000, unpacked_bytes=50_000, ratio=50, ratio_from=1000, members=3)


def opened(path: Path, limits: Limits = DEFAULT_LIMITS, **options: object) -> list[Reading | SkippedFile]:
    return list(open_files([path], limits=limits, names=NAMES, **options))  # type: ignore[arg-type]


def items(path: Path, limits: Limits = DEFAULT_LIMITS, **options: object) -> list[Item]:
    (reading,) = opened(path, limits, **options)
    assert isinstance(reading, Reading), reading
    return list(reading.items)


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def fields(found: list[Item]) -> list[dict[str, object]]:
    return [item.fields for item in found if isinstance(item, Row)]


def rejected(found: list[Item]) -> list[tuple[str, int | None, int | None, int | None]]:
    return [(r.kind, r.number, r.line, r.byte_offset) for r in found if isinstance(r, Rejection)]


# ---------------------------------------------------------------- JSON Lines


def test_json_lines_named_json_keep_good_rows_around_a_bad_one(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", '{"problem": "one"}\n\n{"problem": oops}\r\n{"problem": "drei"}\n')
    found = items(path)
    assert fields(found) == [{"problem": "one"}, {"problem": "drei"}]
    # Line 3 begins at byte 20, its bad value 12 bytes later.
    assert rejected(found) == [("not JSON", 3, 3, 32)]
    assert [item.number for item in found if isinstance(item, Row)] == [1, 4]


def test_json_lines_last_line_cut(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.jsonl", '{"problem": "one"}\n{"problem": "tw'))
    assert fields(found) == [{"problem": "one"}]
    assert rejected(found)[0][:3] == ("cut", 2, 2)


def test_json_lines_cut_line_in_the_middle_is_no_cut_file(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.jsonl", '{"problem": "tw\n{"problem": "one"}\n'))
    assert rejected(found)[0][0] == "not JSON"
    assert fields(found) == [{"problem": "one"}]


def test_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.jsonl", b'\xef\xbb\xbf{"problem": "\xc3\xa9"}\n{"problem": 2}\n'))
    assert fields(found) == [{"problem": "é"}, {"problem": 2}]
    assert [row.byte_offset for row in found if isinstance(row, Row)] == [3, 21]


def test_latin_1_line_is_read_and_reported_with_its_byte(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.jsonl", b'{"problem": "a"}\n{"problem": "caf\xe9"}\n{"problem": "\xc3\xa9"}\n'))
    assert [f["problem"] for f in fields(found)] == ["a", "café", "é"]
    notes = [item for item in found if isinstance(item, Note)]
    assert [(n.kind, n.number, n.byte_offset) for n in notes] == [("encoding", 2, 33)]


def test_named_encoding_is_used_for_every_line(tmp_path: Path) -> None:
    found = items(
        write(tmp_path, "a.jsonl", '{"problem": "求证"}\n{"problem": 1}\n'.encode("gb18030")), encoding="gb18030"
    )
    assert fields(found)[0] == {"problem": "求证"}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings(tmp_path: Path, encoding: str) -> None:
    text = '{"problem": "Let $x$ be é."}\n{"problem": "b"}\n'
    assert [f["problem"] for f in fields(items(write(tmp_path, "a.jsonl", text.encode(encoding))))] == [
        "Let $x$ be é.",
        "b",
    ]


def test_line_beyond_the_limit_is_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '{"problem": "a"}\n{"problem": "' + "x" * 5000 + '"}\n{"problem": "c"}\n')
    found = items(path, SMALL)
    assert fields(found) == [{"problem": "a"}, {"problem": "c"}]
    assert rejected(found) == [("line too long", 2, 2, 17)]


def test_huge_single_line_is_one_rejection(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '{"problem": "' + "x" * (3 << 20) + '"}')
    assert rejected(items(path, Limits(record_bytes=1 << 20))) == [("line too long", 1, 1, 0)]


def test_absurd_numbers_depths_and_constants_do_not_break_the_reader(tmp_path: Path) -> None:
    lines = [
        '{"problem": "a", "x": NaN}',
        '{"problem": ' + "9" * 5000 + "}",
        '{"problem": ' + "[" * 100_000 + "}",
        "[1]",
        "3",
    ]
    found = items(write(tmp_path, "a.jsonl", "\n".join(lines) + "\n"))
    assert fields(found) == [{"problem": "a", "x": None}]
    assert [kind for kind, *_ in rejected(found)] == ["not JSON", "not JSON", "not a record", "not a record"]


def test_nesting_that_no_later_step_could_walk_is_rejected(tmp_path: Path) -> None:
    levels = [99, 100, 900]  # the object itself is one more
    lines = [f'{{"problem": "a", "x": {"[" * n}{"]" * n}}}' for n in levels]
    found = items(write(tmp_path, "a.jsonl", "\n".join(lines) + "\n"))
    assert len(fields(found)) == 1
    assert [(kind, row) for kind, row, *_ in rejected(found)] == [("not JSON", 2), ("not JSON", 3)]


def test_doubtful_values_are_read_and_noted(tmp_path: Path) -> None:
    lines = ['{"problem": "a", "problem": "b"}', '{"problem": "NaN", "x": NaN, "y": -Infinity}', "[]"]
    found = items(write(tmp_path, "a.jsonl", "\n".join(lines) + "\n"))
    assert fields(found) == [{"problem": "b"}, {"problem": "NaN", "x": None, "y": None}]
    assert rejected(found) == [("not a record", 3, 3, sum(len(line) + 1 for line in lines[:2]))]
    said = [(item.number, item.detail) for item in found if isinstance(item, Note)]
    assert said == [
        (1, "key 'problem' stands more than once, the last one counts"),
        (2, "NaN is no JSON value, read as null"),
        (2, "-Infinity is no JSON value, read as null"),
    ]


def test_records_of_one_key_in_a_document_are_all_kept(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.json", '{"P1": {"problem": "a"},\n "P1": {"problem": "b", "x": NaN}}'))
    assert [row["problem"] for row in fields(found)] == ["a", "b"]
    assert any(isinstance(item, Note) and "NaN" in item.detail for item in found)


def test_a_hole_of_zeros_costs_its_line_alone(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'{"problem": "a"}\n' + b"\0" * 5000 + b'\n{"problem": "b"}\n')
    assert [row["problem"] for row in fields(items(path))] == ["a", "b"]
    assert [(kind, row) for kind, row, *_ in rejected(items(path))] == [("not JSON", 2)]


def test_object_of_one_record_a_line_is_unwrapped_with_its_key(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '{"Problem_1": {"question": "a"}}\n{"Problem_2": {"question": "b"}}\n')
    assert fields(items(path)) == [{"_key": "Problem_1", "question": "a"}, {"_key": "Problem_2", "question": "b"}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (r'{"problem": "$\frac{1}{2}$"}', "before 'rac'"),
        (r'{"problem": "$\beta$"}', "before '\\x08eta'"),
        (r'{"problem": "$3 \times 4$"}', "before 'imes'"),
        (r'{"problem": "$\\rho \right)$"}', "before 'ight'"),
        (r'{"problem": "$a \neq 0$"}', "before 'eq'"),
        (r'{"problem": "a\u0000b"}', "U+0000 at character 1"),
        (r'{"x": {"y": ["a\u001bb"]}}', "U+001B at character 1"),
    ],
)
def test_lost_backslashes_and_control_characters_are_noted(tmp_path: Path, text: str, said: str) -> None:
    found = items(write(tmp_path, "a.jsonl", text + "\n" + '{"z": 1}\n'))
    notes = [item for item in found if isinstance(item, Note)]
    assert len(notes) == 1
    assert notes[0].number == 1
    assert said in notes[0].detail


@pytest.mark.parametrize("text", [r"Let\n equal\tparts\r\nbe", r"a\nnot all", r"total:\tabout 3", r"x\nequals"])
def test_honest_white_space_is_not_noted(tmp_path: Path, text: str) -> None:
    assert not [i for i in items(write(tmp_path, "a.jsonl", f'{{"problem": "{text}"}}\n')) if isinstance(i, Note)]


def test_lone_surrogate_becomes_a_character_that_can_be_stored(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.jsonl", '{"problem": "a\\ud83d"}\n{"problem": "b"}\n'))
    assert fields(found)[0] == {"problem": "a\ufffd"}


_TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=30)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.fixed_dictionaries({"problem": _TEXTS, "n": st.integers()}), min_size=2, max_size=8), st.data())
def test_json_lines_survive_any_cut(records: list[dict[str, object]], data: st.DataObject) -> None:
    """Cutting the file anywhere loses the record that was cut and nothing before it."""
    import tempfile

    lines = [json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records]
    whole = b"".join(lines)
    cut = data.draw(st.integers(len(lines[0]) + len(lines[1]), len(whole)))
    with tempfile.TemporaryDirectory() as folder:
        found = items(write(Path(folder), "a.jsonl", whole[:cut]))
    complete = whole[:cut].count(b"\n")
    got = fields(found)
    assert got[:complete] == records[:complete]
    assert len(got) + len(rejected(found)) == complete + (not whole[:cut].endswith(b"\n"))


# ---------------------------------------------------------------- JSON documents


def test_json_list_pretty_printed_and_on_one_line(tmp_path: Path) -> None:
    records = [{"problem": "a"}, {"problem": "b"}]
    for name, text in {"a.json": json.dumps(records, indent=1), "b.jsonl": json.dumps(records)}.items():
        assert fields(items(write(tmp_path, name, text))) == records


def test_json_list_keeps_the_records_before_a_cut(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.json", '[{"problem": "é"},\n {"problem": "b"},\n {"pro'))
    assert fields(found) == [{"problem": "é"}, {"problem": "b"}]
    kind, number, line, at = rejected(found)[0]
    assert (kind, number, line) == ("cut", 3, 3)
    assert at is not None
    assert at >= len('[{"problem": "é"},\n {"problem": "b"},\n {'.encode())


def test_json_list_with_an_error_in_the_middle_says_where(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.json", '[{"problem": "a"}, 7, {"problem": b}, {"problem": "c"}]'))
    assert fields(found) == [{"problem": "a"}]
    assert rejected(found) == [("not a record", 2, None, None), ("not JSON", 3, 1, 34)]


def test_json_object_of_objects_and_wrapper_and_single_object(tmp_path: Path) -> None:
    keyed = write(tmp_path, "a.json", '{\n "p1": {"problem": "a"},\n "p2": {"problem": "b"}\n}')
    assert fields(items(keyed)) == [{"_key": "p1", "problem": "a"}, {"_key": "p2", "problem": "b"}]
    wrapped = write(tmp_path, "b.json", '{"version": 1, "data": [{"problem": "a"}, {"problem": "b"}]}')
    assert fields(items(wrapped)) == [{"problem": "a"}, {"problem": "b"}]
    single = write(tmp_path, "c.json", '{"problem": "a", "tags": ["x"]}')
    assert fields(items(single)) == [{"problem": "a", "tags": ["x"]}]


def test_json_object_of_objects_that_is_cut_keeps_whole_members(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.json", '{"p1": {"problem": "a"},\n"p2": {"prob'))
    assert fields(found) == [{"_key": "p1", "problem": "a"}]
    assert rejected(found)[0][0] == "cut"


def test_concatenated_and_pretty_printed_objects(tmp_path: Path) -> None:
    text = '{\n "problem": "a"\n}\n{\n "problem": "b"\n}\n'
    assert fields(items(write(tmp_path, "a.jsonl", text))) == [{"problem": "a"}, {"problem": "b"}]


def test_chat_record_is_no_wrapper(tmp_path: Path) -> None:
    record = {"prompt": [{"role": "user", "content": "x"}]}
    assert fields(items(write(tmp_path, "a.json", json.dumps(record)))) == [record]


def test_json_document_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="2000 bytes"):
        items(write(tmp_path, "a.json", "[" + '{"problem": "a"},' * 500 + "{}]"), SMALL)


def test_huge_record_in_a_list_is_rejected_and_the_others_kept(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.json", json.dumps([{"problem": "x" * 300}, {"problem": "b"}])), SMALL)
    assert fields(found) == [{"problem": "b"}]
    assert rejected(found)[0][:2] == ("record too long", 1)


# ---------------------------------------------------------------- CSV and TSV


def test_csv_with_quotes_line_ends_and_latex(tmp_path: Path) -> None:
    text = 'id,Problem,answer\r\n1,"Let $a,b$\r\nbe ""nice"".",3\r\n\r\n2,plain,\r\n'
    found = items(write(tmp_path, "a.csv", "\ufeff" + text))
    assert fields(found) == [
        {"id": "1", "Problem": 'Let $a,b$\r\nbe "nice".', "answer": "3"},
        {"id": "2", "Problem": "plain", "answer": None},
    ]
    assert [(row.number, row.line, row.byte_offset) for row in found if isinstance(row, Row)] == [
        (1, 2, 22),
        (2, 5, 55),
    ]


def test_csv_cut_inside_a_quote(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.csv", 'id,problem\n1,"one"\n2,"two\nand more\n3,three'))
    assert fields(found) == [{"id": "1", "problem": "one"}]
    assert rejected(found) == [("cut inside a quote", 2, 3, 19)]
    assert "lines up to 5" in next(str(item) for item in found if isinstance(item, Rejection))


def test_csv_missing_closing_quote_costs_one_row(tmp_path: Path) -> None:
    """Real file: the closing quote of one statement was lost, the next field opens with its own."""
    text = 'id,problem,answer,topic\n1,"one\n,"$x,y$",A\n2,"two\n","$z,w$",B\n'
    found = items(write(tmp_path, "a.csv", text))
    assert [row["id"] for row in fields(found)] == ["2"]
    assert [kind for kind, *_ in rejected(found)] == ["quoting"]


def test_csv_ragged_rows_are_rejected_and_empty_tails_forgiven(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.csv", "id,problem\n1,one,,\n2\n3,three,4\n5,five\n"))
    assert [row["id"] for row in fields(found)] == ["1", "5"]
    assert [(kind, number) for kind, number, *_ in rejected(found)] == [("field count", 2), ("field count", 3)]


def test_header_with_a_name_twice_loses_no_column(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.csv", "problem,solution,problem\nx,y,z\n"))
    assert fields(found) == [{"problem": "x", "solution": "y", "problem_3": "z"}]
    assert [item.kind for item in found if isinstance(item, Note)] == ["header"]


def test_headerless_tsv_and_quotes_that_are_text(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.tsv", '"Janet" has 3 ducks, he said "yes.\t18\nAnother one\t3\n'))
    assert fields(found) == [
        {"column_1": '"Janet" has 3 ducks, he said "yes.', "column_2": "18"},
        {"column_1": "Another one", "column_2": "3"},
    ]


def test_tsv_quoted_by_a_spreadsheet(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.tsv", 'problem\tanswer\n"say ""hi"""\t3\n'))
    assert fields(found) == [{"problem": 'say "hi"', "answer": "3"}]


def test_csv_named_json_and_tab_named_csv(tmp_path: Path) -> None:
    assert fields(items(write(tmp_path, "a.json", "problem,answer\nx,1\n"))) == [{"problem": "x", "answer": "1"}]
    assert fields(items(write(tmp_path, "b.csv", "problem\tanswer\nx, y\t1\n"))) == [
        {"problem": "x, y", "answer": "1"}
    ]
    assert fields(items(write(tmp_path, "c.csv", "problem;answer\nx, y;1\nz;2\n")))[0] == {
        "problem": "x, y",
        "answer": "1",
    }


def test_bare_carriage_returns_end_lines_too(tmp_path: Path) -> None:
    assert fields(items(write(tmp_path, "a.csv", "problem,answer\rx,1\ry,2\r"))) == [
        {"problem": "x", "answer": "1"},
        {"problem": "y", "answer": "2"},
    ]


def test_csv_line_beyond_the_limit(tmp_path: Path) -> None:
    found = items(write(tmp_path, "a.csv", "id,problem\n1," + "x" * 400 + "\n2,b\n"), SMALL)
    assert fields(found) == [{"id": "2", "problem": "b"}]
    assert rejected(found) == [("line too long", None, 2, 11)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(_TEXTS.filter(str.strip), _TEXTS.filter(str.strip)), min_size=1, max_size=6))
def test_csv_written_by_the_standard_library_comes_back(rows: list[tuple[str, str]]) -> None:
    import csv
    import io
    import tempfile

    sink = io.StringIO()
    csv.writer(sink).writerows([("problem", "answer"), *rows])
    with tempfile.TemporaryDirectory() as folder:
        found = items(write(Path(folder), "a.csv", sink.getvalue()))
    assert fields(found) == [{"problem": left, "answer": right} for left, right in rows]


def test_header_is_told_from_a_first_row() -> None:
    assert guess("A.1\t0\t12\t2\nA.2\t0\t13\t1\n", NAMES, "q.tsv") == Dialect("\t", False, False)
    assert guess("Problem ID,Problem\n1,x\n", NAMES, "q.csv") == Dialect(",", True, True)
    assert guess("parent,child\nx,y\n", frozenset(), "q.csv").header
    assert not guess("00-XX\t总论\n00-01\t教学\n", NAMES, "q.tsv").header


# ---------------------------------------------------------------- Parquet


def test_parquet_with_nested_values(tmp_path: Path) -> None:
    rows = [{"problem": "a", "extra": {"i": 1}, "s": ["x", "y"]}, {"problem": "b", "extra": None, "s": []}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.json", row_group_size=1)
    found = items(tmp_path / "a.json")
    assert fields(found) == rows
    assert [row.number for row in found if isinstance(row, Row)] == [1, 2]


def test_parquet_cut_is_refused_and_broken_group_is_counted(tmp_path: Path) -> None:
    table = pa.table({"problem": [f"text {i} " * 20 for i in range(300)]})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=100, compression="snappy", use_dictionary=False)
    data = bytearray(path.read_bytes())
    with pytest.raises(RefusedError, match="footer"):
        items(write(tmp_path, "cut.parquet", bytes(data[:-40])))
    start = pq.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    data[start : start + 60] = b"\xff" * 60
    found = items(write(tmp_path, "broken.parquet", bytes(data)))
    (lost,) = [item for item in found if isinstance(item, Rejection)]
    assert (lost.kind, lost.number, lost.rows) == ("broken row group", 101, 100)
    assert len(fields(found)) == 200


def test_parquet_that_promises_too_much_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"problem": ["x" * 100_000]}), tmp_path / "a.parquet")
    with pytest.raises(RefusedError, match="over the limit"):
        items(tmp_path / "a.parquet", SMALL)


# ---------------------------------------------------------------- packed files


def test_packed_files_are_read_through(tmp_path: Path) -> None:
    text = b'{"problem": "a"}\n{"problem": "b"}\n'
    gz, bz = write(tmp_path, "a.jsonl.gz", gzip.compress(text)), write(tmp_path, "b.jsonl", bz2.compress(text))
    stems = []
    for reading in open_files([gz, bz]):
        assert isinstance(reading, Reading)
        assert len(fields(list(reading.items))) == 2
        stems.append(reading.stem)
    assert stems == ["a", "b"]


def test_zip_members_are_files_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("train/x.jsonl", '{"problem": "a"}\n')
        archive.writestr("../evil.csv", "problem,answer\nb,1\n")
        archive.writestr("inner.zip", b"PK\x05\x06" + b"\0" * 18)
    seen = []
    for reading in open_files([path], names=NAMES):
        assert isinstance(reading, Reading | SkippedFile)
        if isinstance(reading, Reading):
            seen.append((reading.name, reading.stem, len(fields(list(reading.items)))))
        else:
            seen.append((reading.file, reading.reason[:8], -1))
    assert seen == [
        ("a.zip!train/x.jsonl", "x", 1),
        ("a.zip!../evil.csv", "evil", 1),
        ("a.zip!inner.zip", "zip insi", -1),
    ]
    assert not (tmp_path.parent / "evil.csv").exists()


@pytest.mark.parametrize("kind", ["gz", "zip"])
def test_bombs_are_refused_by_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"bomb.{kind}"
    zeros = b"0" * 40_000
    if kind == "gz":
        path.write_bytes(gzip.compress(zeros))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.jsonl", zeros)
    (refused,) = opened(path, SMALL)
    assert isinstance(refused, SkippedFile)
    assert refused.refused
    assert "50 times" in refused.reason
    (refused,) = opened(path, Limits(unpacked_bytes=10_000))
    assert isinstance(refused, SkippedFile)
    assert "10000" in refused.reason


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_rows_before_the_cut_of_a_packed_file_are_kept(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    numbers = random.Random(0)
    text = b"".join(b'{"problem": "%d"}\n' % numbers.getrandbits(400) for _ in range(20_000))
    path = write(tmp_path, "a.jsonl.gz", pack(text)[:-1000])
    rows, refused = [], []
    for reading in open_files([path]):
        if isinstance(reading, SkippedFile):
            refused.append(reading)
        else:
            rows += fields(list(reading.items))
    assert 0 < len(rows) < 20_000
    assert [row["problem"].encode() in text for row in rows[-2:]] == [True, True]
    (cut,) = refused
    assert cut.refused
    assert "end early" in cut.reason


def test_broken_archives_and_too_many_members_are_refused(tmp_path: Path) -> None:
    whole = gzip.compress(os.urandom(5000))
    wrong = write(tmp_path, "a.jsonl.gz", whole[:-8] + bytes(4) + whole[-4:])  # the checksum of other data
    bad = write(tmp_path, "b.zip", b"PK\x03\x04 not really")
    many = tmp_path / "c.zip"
    with zipfile.ZipFile(many, "w") as archive:
        for number in range(4):
            archive.writestr(f"{number}.csv", "problem\n")
    for path in (wrong, bad, many):
        (refused,) = opened(path, SMALL)
        assert isinstance(refused, SkippedFile)
        assert refused.refused


# ---------------------------------------------------------------- files and folders


def test_folder_is_read_in_order_without_loops_or_repeats(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", ".hidden.jsonl"):
        write(tmp_path, name, '{"problem": "a"}\n')
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", "c.jsonl", '{"problem": "a"}\n')
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    (tmp_path / "sub" / "self").symlink_to(tmp_path / "sub" / "self")
    (tmp_path / "z.jsonl").symlink_to(tmp_path / "a.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    found = opened(tmp_path)
    assert [reading.name for reading in found if isinstance(reading, Reading)] == ["a.jsonl", "b.jsonl", "c.jsonl"]
    reasons = {Path(s.file).name: s.reason for s in found if isinstance(s, SkippedFile)}
    assert "leads back" in reasons["up"]
    assert "too many levels" in reasons["self"]
    assert "not a regular file" in reasons["pipe.jsonl"]


def test_glob_and_patterns_choose_files(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    write(tmp_path, "a.csv", "problem\nx\n")
    write(tmp_path / "train", "b.jsonl", '{"problem": 1}\n')
    assert [r.name for r in open_files([tmp_path], glob="train/*") if isinstance(r, Reading)] == ["b.jsonl"]
    assert [r.name for r in open_files([tmp_path], glob="*.csv") if isinstance(r, Reading)] == ["a.csv"]
    assert [r.name for r in open_files([f"{tmp_path}/*/*.jsonl"]) if isinstance(r, Reading)] == ["b.jsonl"]


@pytest.mark.parametrize("given_path", ["absent.jsonl", "*.nothing", "dangling"])
def test_paths_that_lead_nowhere_are_errors(tmp_path: Path, given_path: str) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    with pytest.raises(SaberError, match=r"dangling|absent|nothing"):
        list(open_files([tmp_path / given_path]))


def test_glob_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", "problem\nx\n")
    with pytest.raises(SaberError, match="matching"):
        list(open_files([tmp_path], glob="*.parquet"))


@pytest.mark.parametrize(
    ("name", "content", "refused"),
    [
        ("empty.jsonl", b" \n", False),
        ("photo.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00", False),
        ("data.parquet", b"\x00\x01\x02\x00\x00", True),
        ("README.md", b"# Hello\n", False),
        ("x.xml", b"<?xml version='1.0'?><a/>", False),
        ("x.txt", b"just words, with a comma\n", False),
    ],
)
def test_files_that_are_no_tables_are_skipped_by_name(
    tmp_path: Path, name: str, content: bytes, refused: bool
) -> None:
    (skipped,) = opened(write(tmp_path, name, content))
    assert isinstance(skipped, SkippedFile)
    assert (skipped.file, skipped.refused) == (name, refused)


def test_place_is_said_once() -> None:
    assert place(3, 17, 4211) == "row 3 (line 17, byte 4211): "
    assert place(3, 3, None) == "row 3: "
    assert place(None, 2, 5) == "line 2, byte 5: "
    assert place(None, None, None) == ""
