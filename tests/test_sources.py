"""Ingest: rows in = kept + rejected; columns find their roles; ids are stable; repeats are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from warehouse.errors import SaberError
from warehouse.identity import content_hash
from warehouse.sources import Ingested, ingest_problems, parse_mapping
from warehouse.sources.columns import answers_are_solutions, assign
from warehouse.sources.draft import answer_of, id_of, metadata_text, text_of, texts_of


def lines(folder: Path, name: str, *records: Any) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def balanced(result: Ingested) -> dict[str, Any]:
    counts = result.counts
    assert counts["rows_in"] == counts["kept"] + counts["rejected"]
    assert counts["kept"] == len(result.rows)
    assert counts["rejected"] == sum(rejection.rows for rejection in result.rejections)
    return counts


def test_record_has_its_id_hash_and_metadata(tmp_path: Path) -> None:
    record = {
        "Problem ID": "A/1",
        "Problem": "Find  $x$.",
        "Solution": "It is 3, clearly.",
        "Level": 5,
        "empty": None,
    }
    (row,) = ingest_problems([lines(tmp_path, "test.jsonl", record)], "mine", licence="MIT").rows
    assert row["problem_id"] == "mine/test:A/1"
    assert (row["source"], row["source_id"], row["licence"]) == ("mine", "test:A/1", "MIT")
    assert row["content_hash"] == content_hash("Find $x$.", "It is 3, clearly.")
    assert json.loads(row["metadata"]) == {"Problem ID": "A/1", "Level": 5, "_file": "test.jsonl", "_row": 1}


def test_rows_without_statement_are_rejected_and_without_solution_kept(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        "a.jsonl",
        {"problem": "one", "solution": "s"},
        {"problem": "  ", "solution": "s"},
        {"problem": "two", "solution": "None."},
        {"problem": None, "solution": "s"},
        {"problem": "three", "solution": []},
    )
    result = ingest_problems([path], "x")
    counts = balanced(result)
    assert counts["rejected_by_reason"] == {"no statement": 2}
    assert [rejection.number for rejection in result.rejections] == [2, 4]
    assert counts["without_solution"] == 2
    assert [row["solution"] for row in result.rows] == ["s", None, None]


def test_file_without_statement_column_is_skipped_by_name(tmp_path: Path) -> None:
    lines(tmp_path, "labels.jsonl", {"uid": "1", "subject": "algebra"})
    lines(tmp_path, "test.jsonl", {"problem": "one", "answer": "1"})
    result = ingest_problems([tmp_path], "x")
    assert [(skipped.file, skipped.refused) for skipped in result.skipped_files] == [("labels.jsonl", False)]
    assert "uid, subject" in result.skipped_files[0].reason
    assert balanced(result)["kept"] == 1


def test_broken_file_is_refused_and_others_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 cut")
    lines(tmp_path, "test.jsonl", {"problem": "one"})
    result = ingest_problems([tmp_path], "x")
    assert [skipped.file for skipped in result.refused] == ["a.parquet"]
    assert balanced(result)["kept"] == 1


def test_mapping_wins_and_opens_headerless_files(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("How many ducks are there?\t18\nHow many eggs?\t3\n")
    assert ingest_problems([path], "x").skipped_files
    result = ingest_problems([path], "x", parse_mapping("statement=column_1, answer=column_2"))
    assert [(row["statement"], row["answer"]) for row in result.rows] == [
        ("How many ducks are there?", "18"),
        ("How many eggs?", "3"),
    ]


def test_mapped_column_that_is_absent_skips_the_file(tmp_path: Path) -> None:
    path = lines(tmp_path, "a.jsonl", {"problem": "x"})
    result = ingest_problems([path], "x", {"statement": "task"})
    assert "'task'" in result.skipped_files[0].reason


@pytest.mark.parametrize("bad", ["statement", "stmt=problem", "statement="])
def test_mapping_that_makes_no_sense_is_an_error(bad: str) -> None:
    with pytest.raises(SaberError, match="ROLE=COLUMN"):
        parse_mapping(bad)


@pytest.mark.parametrize("bad", ["", "a/b", "-x", "ä"])
def test_source_names_are_checked(tmp_path: Path, bad: str) -> None:
    with pytest.raises(SaberError, match="source name"):
        ingest_problems([tmp_path], bad)


def test_ids_fall_back_to_the_content_hash(tmp_path: Path) -> None:
    repeated_ids = lines(tmp_path, "a.jsonl", {"id": 1, "problem": "one"}, {"id": 1, "problem": "two"})
    missing_id = lines(tmp_path, "b.jsonl", {"id": 1, "problem": "three"}, {"problem": "four"})
    second_best = lines(tmp_path, "c.jsonl", {"id": 1, "idx": 7, "problem": "5"}, {"id": 1, "idx": 8, "problem": "6"})
    ids = [row["source_id"] for row in ingest_problems([repeated_ids, missing_id, second_best], "x").rows]
    assert ids[:4] == ["h" + content_hash(text, None)[:16] for text in ("one", "two", "three", "four")]
    assert ids[4:] == ["c:7", "c:8"]


def test_same_rows_in_two_layouts_are_kept_once(tmp_path: Path) -> None:
    records = [{"id": 1, "problem": "one", "solution": "a"}, {"id": 2, "problem": "two", "solution": "b"}]
    (tmp_path / "test.json").write_text(json.dumps(records, indent=2))
    lines(tmp_path, "test.jsonl", *records)
    result = ingest_problems([tmp_path], "x")
    assert balanced(result)["rejected_by_reason"] == {"repeated": 2}
    assert "test.json row 1" in result.rejections[0].detail


def test_one_id_for_two_texts_keeps_both(tmp_path: Path) -> None:
    lines(tmp_path, "one/test.jsonl", {"id": 1, "problem": "one"})
    lines(tmp_path, "two/test.jsonl", {"id": 1, "problem": "two"})
    rows = ingest_problems([tmp_path], "x").rows
    assert [row["source_id"] for row in rows] == ["test:1", "h" + content_hash("two", None)[:16]]


def test_repeats_without_ids_are_rejected_but_another_solution_is_another_row(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        "a.jsonl",
        {"problem": "one", "solution": "a"},
        {"problem": "one ", "solution": "a"},
        {"problem": "one", "solution": "b"},
    )
    result = ingest_problems([path], "x")
    assert balanced(result)["kept"] == 2
    assert [(r.kind, r.number) for r in result.rejections] == [("repeated", 2)]


def test_ingesting_again_gives_the_same_records(tmp_path: Path) -> None:
    path = lines(tmp_path, "a.jsonl", {"id": 1, "problem": "one"}, {"id": 2, "problem": "two", "solution": "b"})
    assert ingest_problems([path], "x").rows == ingest_problems([path], "x").rows


def test_answers_stand_for_solutions_only_when_they_are_worked_out(tmp_path: Path) -> None:
    worked = lines(tmp_path, "a.jsonl", {"question": "q1", "answer": "Natalia sold 48/2 = 24 clips in May."})
    bare = lines(tmp_path, "b.jsonl", {"question": "q2", "answer": 18.0}, {"question": "q3", "answer": "x = 3"})
    first, *rest = ingest_problems([worked, bare], "x").rows
    assert first["solution"].startswith("Natalia")
    assert first["answer"] is None
    assert [(row["solution"], row["answer"]) for row in rest] == [(None, "18"), (None, "x = 3")]
    assert not answers_are_solutions([None, "", "12"])


def test_several_solutions_give_the_first_and_keep_all(tmp_path: Path) -> None:
    listed = {"question": "q1", "solution": ["", "first", "second"], "final_answer": ["1", "2"]}
    numbered = {"problem": "q2", "solution_1": "first", "solution_2": "second", "solution_3": None}
    rows = ingest_problems([lines(tmp_path, "a.jsonl", listed), lines(tmp_path, "b.jsonl", numbered)], "x").rows
    assert [row["solution"] for row in rows] == ["first", "first"]
    assert rows[0]["answer"] == "1, 2"
    for row in rows:
        assert json.loads(row["metadata"])["solutions"] == ["first", "second"]
    assert "solution_2" not in json.loads(rows[1]["metadata"])


def test_chat_prompt_is_the_last_message_of_the_user(tmp_path: Path) -> None:
    prompt = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "Find x."}]
    (row,) = ingest_problems([lines(tmp_path, "a.jsonl", {"prompt": prompt, "solution": "s"})], "x").rows
    assert row["statement"] == "Find x."


def test_roles_are_found_by_name_in_any_case() -> None:
    columns = assign(["ID", "Question", "Final Answer", "Solution", "prompt", "lang"])
    assert (columns.statement, columns.solution, columns.answer) == ("Question", "Solution", "Final Answer")
    assert (columns.id, columns.language) == (("ID",), "lang")
    assert assign(["title", "body"]).statement is None
    assert assign(["Problem", "q"], {"statement": "q"}).statement == "q"


def test_cells_are_read_as_text() -> None:
    assert [text_of(cell) for cell in (None, True, float("nan"), "N/A", "None.", [])] == [None] * 6
    assert [answer_of(cell) for cell in (True, "None", [0, 5], "", {"x": 1})] == ["True", "None", "0, 5", None, None]
    assert [text_of(cell) for cell in (18.0, 0.5, 7, ["", "a"])] == ["18", "0.5", "7", "a"]
    assert texts_of(["a", None, "none", "b"]) == ["a", "b"]
    assert [id_of(cell) for cell in (3.0, 3.5, True, " x ", "", [1])] == ["3", None, None, "x", None, None]


def test_metadata_leaves_out_empties_and_image_bytes() -> None:
    data = {"a": None, "b": float("nan"), "c": [], "d": {"x": float("inf")}, "image": {"bytes": b"123", "path": "p"}}
    assert json.loads(metadata_text(data)) == {"d": {"x": None}, "image": {"bytes": {"bytes": 3}, "path": "p"}}
