"""Readers of known layouts: each is recognised by its columns and makes of its rows what its data set means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from warehouse.cleaning import credits
from warehouse.errors import SaberError
from warehouse.sources import Ingested, ingest_problems
from warehouse.sources.registry import BY_NAME, SOURCES


def ingest(folder: Path, *records: dict[str, Any], name: str = "a.jsonl", **options: Any) -> Ingested:
    path = folder / name
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    result = ingest_problems([path], "x", **options)
    counts = result.counts
    assert counts["rows_in"] == counts["kept"] + counts["rejected"]
    return result


def one(result: Ingested, reader: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The only record and its metadata, after checking who read it."""
    assert [file.reader for file in result.files] == [reader]
    (row,) = result.rows
    return row, json.loads(row["metadata"])


def test_names_are_distinct_and_unknown_ones_are_errors(tmp_path: Path) -> None:
    assert len(BY_NAME) == len(SOURCES)
    with pytest.raises(SaberError, match="no reader 'nope'"):
        ingest(tmp_path, {"problem": "x"}, reader="nope")


def test_numina_drops_with_counted_reasons(tmp_path: Path) -> None:
    good = {
        "problem": "p",
        "solution": "s",
        "answer": "proof",
        "problem_type": "Algebra",
        "question_type": "proof",
        "problem_is_valid": "Yes",
        "solution_is_valid": "Yes",
        "source": "olympiads",
        "synthetic": False,
    }
    changes: list[dict[str, Any]] = [
        {},
        {"source": "cn_k12"},
        {"synthetic": True},
        {"question_type": "MCQ"},
        {"problem_is_valid": "Incomplete"},
        {"solution_is_valid": "No"},
        {"problem": "other", "answer": "7"},
    ]
    rows = [{**good, **change} for change in changes]
    result = ingest(tmp_path, *rows)
    assert result.counts["rejected_by_reason"] == {
        "invalid problem": 1,
        "invalid solution": 1,
        "multiple choice": 1,
        "other split": 1,
        "synthetic": 1,
    }
    assert [(row["statement"], row["answer"]) for row in result.rows] == [("p", None), ("other", "7")]
    assert ingest(tmp_path, *rows[:2], reader="numina-all").counts["rejected_by_reason"] == {"repeated": 1}


_REPLY = "By the pigeonhole principle we get $n = 7$, hence the claim."


def test_aops_threads_with_a_list_of_posts(tmp_path: Path) -> None:
    posts = [
        {"content_bbcode": "Find $n$.", "thanks_received": 9},
        {"post_canonical": "Nice problem, I will think about it over the weekend!"},
        {"post_canonical": _REPLY, "thanks_received": 1},
        {"post_canonical": "Solution: " + _REPLY, "thanks_received": 5},
        {"post_canonical": "bump"},
    ]
    row, metadata = one(ingest(tmp_path, {"topic_id": 77, "title": "IMO 1", "posts": posts}), "aops-threads")
    assert row["source_id"] == "a:77"
    assert (row["statement"], row["solution"]) == ("Find $n$.", "Solution: " + _REPLY)
    assert metadata["solutions"] == ["Solution: " + _REPLY, _REPLY]
    assert (metadata["title"], metadata["posts"]) == ("IMO 1", 5)


def test_aops_posts_one_a_row_are_gathered(tmp_path: Path) -> None:
    result = ingest(
        tmp_path,
        {"topic_id": 1, "post_number": 2, "post_canonical": _REPLY},
        {"topic_id": 1, "post_number": 1, "post_canonical": "First?"},
        {"topic_id": 2, "post_number": 1, "post_canonical": "Second?"},
    )
    assert result.counts["rejected_by_reason"] == {"reply": 1}
    assert [(row["source_id"], row["statement"], row["solution"]) for row in result.rows] == [
        ("a:1", "First?", _REPLY),
        ("a:2", "Second?", None),
    ]


def test_math_takes_level_subject_and_boxed_answer(tmp_path: Path) -> None:
    record = {"problem": "p", "level": "Level 3", "type": "Algebra", "solution": "so $\\boxed{\\frac{1}{2}}$"}
    row, metadata = one(ingest(tmp_path, record), "math")
    assert row["answer"] == "\\frac{1}{2}"
    assert (metadata["level"], metadata["subject"]) == (3, "Algebra")


def test_omni_math_splits_domain_paths(tmp_path: Path) -> None:
    record = {
        "domain": ["Mathematics -> Algebra -> Other", "Mathematics -> Geometry"],
        "difficulty": 7.5,
        "problem": "p",
        "solution": "s",
        "answer": "1",
        "source": "imo",
    }
    _, metadata = one(ingest(tmp_path, record), "omni-math")
    assert metadata["domains"] == [["Algebra", "Other"], ["Geometry"]]
    assert (metadata["contest"], metadata["difficulty"]) == ("imo", 7.5)


def test_olympiad_bench_joins_context_and_unit(tmp_path: Path) -> None:
    record = {
        "id": 5,
        "subfield": "Geometry",
        "context": "Let $ABC$ be a triangle.",
        "question": "Find the angle.",
        "solution": ["first", "second"],
        "final_answer": ["90"],
        "unit": "degrees",
        "answer_type": "Numerical",
        "language": "English",
    }
    row, metadata = one(ingest(tmp_path, record), "olympiad-bench")
    assert row["statement"] == "Let $ABC$ be a triangle.\n\nFind the angle."
    assert (row["solution"], row["answer"], row["language"]) == ("first", "90 degrees", "en")
    assert metadata["solutions"] == ["first", "second"]


def test_training_table_loses_its_instructions_and_its_bare_answer(tmp_path: Path) -> None:
    record = {
        "problem": "What is $1+1$? Let's think step by step and output the final answer within \\boxed{}.",
        "level": "Level 1",
        "type": "Algebra",
        "solution": "2",
        "reward_model": {"ground_truth": "2", "style": "rule"},
    }
    row, _ = one(ingest(tmp_path, record), "rule-reward")
    assert (row["statement"], row["solution"], row["answer"]) == ("What is $1+1$?", None, "2")


def test_harp_and_aime_have_contest_keys(tmp_path: Path) -> None:
    harp = {"year": "1972", "contest": "USAMO", "number": 1, "problem": "p", "solution_1": "s", "solution_2": "t"}
    row, metadata = one(ingest(tmp_path, harp), "harp")
    assert row["source_id"] == "a:1972/USAMO/1"
    assert metadata["solutions"] == ["s", "t"]
    page = "https://artofproblemsolving.com/wiki/index.php/2022_AIME_I_Problems/Problem_12"
    row, metadata = one(
        ingest(tmp_path, {"id": 3, "question": "q", "answer": "7", "url": page, "solution": "s"}), "aime"
    )
    assert row["source_id"] == "a:2022/AIME_I/12"
    assert (metadata["year"], metadata["contest"], metadata["number"]) == (2022, "AIME I", 12)


def test_gsm8k_parts_answer_and_solution(tmp_path: Path) -> None:
    record = {"question": "q", "answer": "She sold 48/2 = <<48/2=24>>24 clips.\nThat is all.\n#### 1,072"}
    row, _ = one(ingest(tmp_path, record), "gsm8k")
    assert (row["solution"], row["answer"]) == ("She sold 48/2 = 24 clips.\nThat is all.", "1,072")


def test_imo_bench_answer_is_the_short_answer(tmp_path: Path) -> None:
    path = tmp_path / "proofbench.csv"
    path.write_text('Problem ID,Problem,Short Answer,Category,Solution\nPB-1,"p\n",3,Algebra,s\n')
    row, _ = one(ingest_problems([path], "x"), "imo-bench")
    assert (row["source_id"], row["solution"], row["answer"]) == ("proofbench:PB-1", "s", "3")


def test_mathnet_keeps_references_to_images_not_their_bytes(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    record = {
        "id": "m1",
        "problem_markdown": "p",
        "solutions_markdown": ["s", "t"],
        "country": "Ukraine",
        "competition": "UMO",
        "language": "Ukrainian",
        "images": [{"bytes": b"\x89PNG", "path": "fig.png"}],
    }
    pq.write_table(pa.Table.from_pylist([record]), tmp_path / "m.parquet")
    row, metadata = one(ingest_problems([tmp_path / "m.parquet"], "x"), "mathnet")
    assert (row["solution"], row["language"]) == ("s", "uk")
    assert metadata["images"] == [{"path": "fig.png"}]
    assert (metadata["country"], metadata["competition"]) == ("Ukraine", "UMO")


@pytest.mark.parametrize(
    ("name", "code"), [("Dutch", "nl"), ("Serbian", "sr"), ("Slovenian", "sl"), ("Basque", "Basque")]
)
def test_mathnet_languages_by_their_letters(tmp_path: Path, name: str, code: str) -> None:
    record = {"id": "m1", "problem_markdown": "p", "solutions_markdown": [], "country": "C", "language": name}
    row, _ = one(ingest(tmp_path, record), "mathnet")
    assert row["language"] == code


def test_amo_bench_prompt_without_its_instructions(tmp_path: Path) -> None:
    prompt = (
        "Find $x$.\nAfter solving the above problem, please output your final answer like this:\n### $\\boxed{1}$"
    )
    record = {"question_id": 4, "prompt": prompt, "solution": "s", "answer": r"\boxed{\frac{1}{2}}"}
    row, metadata = one(ingest(tmp_path, {**record, "answer_type": "number"}), "amo-bench")
    assert (row["source_id"], row["statement"], row["answer"]) == ("a:4", "Find $x$.", r"\frac{1}{2}")
    assert metadata["answer_type"] == "number"


def test_saber_math_positions_run_on_over_shards(tmp_path: Path) -> None:
    query = {
        "problem": "q",
        "solution": "s",
        "domains": ["Algebra"],
        "candidates": [2, 0],
        "relevance_scores": [5.0, 0.0],
    }
    row, metadata = one(ingest(tmp_path, query), "saber-queries")
    assert row["source_id"] == "query:0"
    assert metadata["candidates"] == ["document:2", "document:0"]
    shards = tmp_path / "documents"
    shards.mkdir()
    for shard in range(2):
        lines = [json.dumps({"problem": f"d{shard}{i}", "solution": "s"}) for i in range(2)]
        (shards / f"train-0000{shard}.jsonl").write_text("\n".join(lines) + "\n")
    rows = ingest_problems([shards], "x", reader="saber-documents").rows
    assert [(row["source_id"], row["statement"]) for row in rows] == [
        ("document:0", "d00"),
        ("document:1", "d01"),
        ("document:2", "d10"),
        ("document:3", "d11"),
    ]


def test_theorem_qa_has_no_solutions(tmp_path: Path) -> None:
    record = {
        "Question": "q",
        "Answer": False,
        "Answer_type": "bool",
        "explanation": "solutions/x_1.txt",
        "theorem": "t",
        "subfield": "Algebra",
        "id": "u/x.json",
    }
    row, metadata = one(ingest(tmp_path, record), "theorem-qa")
    assert (row["solution"], row["answer"], row["source_id"]) == (None, "False", "a:u/x.json")
    assert metadata["explanation"] == "solutions/x_1.txt"


def test_multiple_choice_shows_its_options(tmp_path: Path) -> None:
    record = {
        "passage": None,
        "question": "Which?",
        "options": ["(A)1", "(B)2"],
        "label": "B",
        "answer": None,
        "other": {"solution": "because"},
    }
    row, _ = one(ingest(tmp_path, record), "multiple-choice")
    assert (row["statement"], row["answer"], row["solution"]) == ("Which?\n(A)1\n(B)2", "(B)2", "because")


def test_headerless_tables(tmp_path: Path) -> None:
    text = "A rather long word problem about ducks and eggs, with no header above it."
    (tmp_path / "mgsm_th.tsv").write_text(f"{text} One?\t18\n{text} Two?\t3.5\n")
    (tmp_path / "queries.tsv").write_text(f"TheoremQA_x/y_1.json\t{text}\nq2\t{text} More.\n")
    (tmp_path / "labels.tsv").write_text("00-XX\tGeneral\n00-01\tTeaching\n")
    result = ingest_problems([tmp_path], "x")
    assert [skipped.file for skipped in result.skipped_files] == ["labels.tsv"]
    assert [(row["source_id"], row["language"], row["answer"]) for row in result.rows] == [
        ("mgsm_th:1", "th", "18"),
        ("mgsm_th:2", "th", "3.5"),
        ("queries:TheoremQA_x/y_1.json", None, None),
        ("queries:q2", None, None),
    ]


def test_arqmath_topics_from_xml_that_was_cut_between_topics(tmp_path: Path) -> None:
    path = tmp_path / "topics.xml"
    path.write_text(
        '<?xml version="1.0"?>\n<Topics>\n<Topic number="A.301"><Title>Norms &lt;b&gt;x&lt;/b&gt;</Title>'
        "<Question>&lt;p&gt;$a&lt;b$?&lt;/p&gt;</Question><Tags>norm,matrices</Tags></Topic>\n"
    )
    row, metadata = one(ingest_problems([path], "x"), "arqmath-topics")
    assert row["source_id"] == "topics:A.301"
    assert row["statement"] == "Norms <b>x</b>\n\n<p>$a<b$?</p>"
    assert metadata["tags"] == ["norm", "matrices"]


@pytest.mark.parametrize(
    ("prompt", "left"),
    [
        ("Find $x$. Please reason step by step, and put your final answer within \\boxed{}.", "Find $x$."),
        ("Find $x$.\nPlease think step by step and put your answer within \\boxed{}.", "Find $x$."),
        ("Find $x$. Put your answer in \\boxed{ANSWER}. Let's think step by step.", "Find $x$."),
        ("Express $\\boxed{3}$ as a sum.", "Express $\\boxed{3}$ as a sum."),
        ("Give the number of ways to climb step by step to the top of 10 stairs.", None),
        ("Find $x$. Give your answer as a fraction.", "Find $x$. Give your answer as a fraction."),
    ],
)
def test_instructions_are_told_from_the_problem(prompt: str, left: str | None) -> None:
    assert credits.strip_instructions(prompt) == (prompt if left is None else left)
