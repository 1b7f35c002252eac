"""Landing: atomic, ordered, verified by footer; a bad file is named and never half-read."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.schemas import BOOKKEEPING, TABLES


def problem(number, **values):
    return {"problem_id": f"s/{number}", "source": "s", "statement": f"statement {number}", **values}


def test_every_table_has_one_schema_and_a_key_of_its_own_columns():
    for name, table in TABLES.items():
        names = table.schema.names
        assert table.name == name
        assert set(table.key) <= set(names)
        assert names[-len(BOOKKEEPING) :] == [column for column, _ in BOOKKEEPING]
        assert len(set(names)) == len(names)


def test_latest_wins_and_history_stays(tmp_path):
    landing = Landing(tmp_path)
    assert landing.append("problems", [problem(1), problem(2)], "one").first_sequence == 1
    assert landing.append("problems", [problem(2, statement="new")], "two").first_sequence == 3
    latest = landing.read("problems").to_pylist()
    assert [(row["problem_id"], row["statement"], row["job_id"]) for row in latest] == [
        ("s/1", "statement 1", "one"),
        ("s/2", "new", "two"),
    ]
    assert landing.read("problems", latest=False).num_rows == 3


def test_files_from_before_a_column_was_added_read_it_as_null(tmp_path):
    landing = Landing(tmp_path)
    landing.prepare()
    landing.append("qrels", [{"benchmark": "b", "query_id": "q", "document_id": "d", "variant": "v"}], "one")
    for path in (tmp_path / "landing" / "qrels").glob("*.parquet"):
        old = pq.read_table(path)
        pq.write_table(old.drop_columns(["judge", "class"]), path)  # the schema's marks travel with the table
    # a home built before could not be built again: "Column judge ... cannot be referenced before it is defined"
    assert [(row["query_id"], row["judge"]) for row in Landing(tmp_path).read("qrels").to_pylist()] == [("q", None)]
    row = {"benchmark": "b", "query_id": "q2", "document_id": "d", "variant": "v", "judge": "x"}
    Landing(tmp_path).append("qrels", [row], "two")
    assert [row["judge"] for row in Landing(tmp_path).read("qrels").to_pylist()] == [None, "x"]
    Landing(tmp_path).compact("qrels")
    assert [row["judge"] for row in Landing(tmp_path).read("qrels").to_pylist()] == [None, "x"]


def test_append_new_adds_nothing_twice(tmp_path):
    landing = Landing(tmp_path)
    assert landing.append_new("problems", [problem(1), problem(2)], "j").rows == 2
    assert landing.append_new("problems", [problem(1), problem(2)], "j").rows == 0
    assert landing.append_new("problems", [problem(1), problem(2, answer="4")], "j").rows == 1


def test_wrong_rows_are_refused_and_nothing_lands(tmp_path):
    landing = Landing(tmp_path)
    with pytest.raises(SaberError, match="titel"):
        landing.append("problems", [{"problem_id": "s/1", "titel": "x"}], "j")
    with pytest.raises(SaberError, match="schema"):
        landing.append("runs", [{"run_id": "r", "score": "high"}], "j")
    with pytest.raises(SaberError, match="No landed table"):
        landing.append("../../etc", [], "j")
    assert landing.read("problems").num_rows == 0


def test_a_truncated_and_a_foreign_file_are_named_and_left_out(tmp_path):
    landing = Landing(tmp_path)
    landing.append("problems", [problem(1)], "j")
    whole = landing.files("problems")[0].path
    cut = whole.with_name("cut.parquet")
    cut.write_bytes(whole.read_bytes()[:-20])
    pq.write_table(pa.table({"problem_id": ["x"]}), whole.with_name("foreign.parquet"))
    landing.append("ratings", [{"benchmark": "b"}], "j")
    other = landing.files("ratings")[0].path
    whole.with_name("other-table.parquet").write_bytes(other.read_bytes())
    (whole.parent / "notes.txt").write_text("hello")
    errors = {file.path.name: file.error for file in landing.inspect("problems") if file.error}
    assert set(errors) == {"cut.parquet", "foreign.parquet", "other-table.parquet", "notes.txt"}
    assert landing.read("problems").num_rows == 1


def test_compact_keeps_rows_and_order(tmp_path):
    landing = Landing(tmp_path)
    for number in range(5):
        landing.append("problems", [problem(number % 2, statement=str(number))], f"job{number}")
    before = landing.read("problems", latest=False).to_pylist()
    assert landing.compact("problems") == 5
    assert landing.read("problems", latest=False).to_pylist() == before
    assert len(landing.files("problems")) == 1
    assert landing.append("problems", [problem(9)], "j").first_sequence == 6


def _append_many(home, count):
    landing = Landing(home)
    for number in range(count):
        landing.append("problems", [problem(f"{os.getpid()}-{number}")], "j")


def test_two_writers_never_share_a_sequence(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append_many, args=(tmp_path, 10)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    sequences = Landing(tmp_path).read("problems", latest=False)["sequence"].to_pylist()
    assert sorted(sequences) == list(range(1, 21))


def test_a_killed_writer_leaves_whole_files_only(tmp_path):
    code = (
        "import sys; from warehouse.landing import Landing; l = Landing(sys.argv[1]); n = 0\n"
        "while True:\n"
        "    l.append('problems', [{'problem_id': f's/{n}-{i}', 'source': 's'} for i in range(50)], 'j'); n += 1\n"
        "    print(n, flush=True)\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    acknowledged = 0
    while acknowledged < 5:
        acknowledged = int(writer.stdout.readline())
    time.sleep(0.01)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    landing = Landing(tmp_path)
    assert not [file for file in landing.inspect("problems") if file.error]
    rows = landing.read("problems").num_rows
    assert rows >= 250
    assert rows % 50 == 0
    assert landing.append("problems", [problem(1)], "j").rows == 1
