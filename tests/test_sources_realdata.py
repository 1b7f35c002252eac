"""Ingest and ontology readers on the real data folder: every file is accounted for."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from warehouse.cleaning import clean_problems
from warehouse.cli import main
from warehouse.deduplication import find_duplicates
from warehouse.landing import Landing
from warehouse.ontologies import read_ontology, unfold
from warehouse.sources import ingest_problems

DATA = Path(os.environ.get("SABER_REALDATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no real data in {DATA} (set SABER_REALDATA)"),
]


PROBLEM_FOLDERS = (
    *("math_test", "omni_math_rule", "olympiadbench", "gsm8k", "harp_proof", "aime_aops", "theoremqa", "imobench"),
    "math_parquet",
)
FORMATS = frozenset((".jsonl", ".json", ".csv", ".tsv", ".xml", ".parquet"))
# Labels and edges, no problems.
OTHERS = frozenset(("aops_subject_labels.jsonl", "domain_edges.csv", "13_bom_utf8.tsv"))


@pytest.mark.parametrize(
    ("folder", "rows_in", "kept", "rejected"),
    [
        ("math_test", 5000, 5000, {}),
        ("omni_math_rule", 2821, 2816, {"repeated": 5}),
        ("olympiadbench", 1350, 675, {"repeated": 675}),
        ("gsm8k", 8792, 8792, {}),
        ("harp_proof", 310, 310, {}),
        ("aime_aops", 90, 90, {}),
        ("theoremqa", 800, 800, {}),
        ("imobench", 980, 979, {"quoting": 1}),
        ("math_parquet", 8081, 8080, {"repeated": 1}),
    ],
)
def test_every_row_of_the_problem_folders_is_accounted_for(
    folder: str, rows_in: int, kept: int, rejected: dict[str, int]
) -> None:
    counts = ingest_problems([DATA / folder], folder).counts
    assert (counts["rows_in"], counts["kept"], counts["rejected_by_reason"]) == (rows_in, kept, rejected)


@pytest.mark.parametrize(
    "folder", ["alfworld", "amo_bench", "judgebench", "arqmath_qrels", "trec_eval", "ontomathpro", "mathworld"]
)
def test_folders_without_problems_give_no_rows_and_no_failure(folder: str) -> None:
    result = ingest_problems([DATA / folder], folder)
    assert not result.rows
    assert not result.refused
    assert len(result.skipped_files) == len([path for path in (DATA / folder).iterdir() if path.is_file()])


def _rows_in(path: Path) -> int:
    """Rows of a file, counted by the standard library and pyarrow alone."""
    if path.suffix == ".parquet":
        return pq.read_metadata(path).num_rows
    text = path.read_text("utf-8-sig")
    if path.suffix == ".json":
        return len(json.loads(text))
    if path.suffix == ".csv":
        return sum(1 for row in csv.reader(io.StringIO(text, newline="")) if row) - 1
    if path.suffix == ".xml":
        return text.count("<Topic ")
    return sum(1 for line in text.split("\n") if line.strip())


@pytest.mark.parametrize("folder", [*PROBLEM_FOLDERS, "nasty"])
def test_one_command_a_file_lands_all_rows_or_says_why_not(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [path for path in sorted((DATA / folder).iterdir()) if path.suffix in FORMATS and path.name not in OTHERS]
    assert files
    for number, path in enumerate(files):
        home = tmp_path / str(number)
        main(["ingest", "problems", str(path), "--source", "s", "--home", str(home)])
        audit = Landing(home).read("source_rows").to_pylist()
        rejected = sum(row["n_rows"] for row in audit if row["step"] == "read")
        assert Landing(home).read("problems").num_rows + rejected == _rows_in(path), path.name
        assert capsys.readouterr().out.splitlines()[-1].startswith(f"s: {_rows_in(path)} rows in = ")


def test_mathworld_counts() -> None:
    ontology = read_ontology(DATA / "mathworld", "mathworld")
    assert (ontology.counts["nodes_in"], ontology.counts["nodes"]) == (17113, 17022)
    assert "'Geometry/Surfaces/AlgebraicSurfaces'" in ontology.warnings[0]
    topics = unfold(ontology.edges)
    assert len({topic.topic_id for topic in topics}) == 17022
    assert max(topic.depth for topic in topics) == 5
    assert sum(topic.depth == 1 for topic in topics) == 11


def test_ontomathpro_counts() -> None:
    ontology = read_ontology(DATA / "ontomathpro", "ontomathpro")
    assert ontology.counts["multi_parent_nodes"] == 175
    assert (ontology.counts["nodes_in"], ontology.counts["roots"]) == (3449, 2)
    # 3,627 edges as given and one for each of the two roots.
    assert ontology.counts["edges"] == 3629


def test_math_in_parquet_and_json_lines_collapses_and_no_two_problems_merge(tmp_path: Path) -> None:
    """All 5,000 problems twice: every row has its copy, and only the one problem that MATH holds twice merges."""
    rows = ingest_problems([DATA / "math_test"], "math").rows
    original = [json.loads(line) for line in (DATA / "math_test" / "test.jsonl").read_text().splitlines()]
    pq.write_table(pa.Table.from_pylist(original), tmp_path / "test.parquet")
    copies = ingest_problems([tmp_path], "math-parquet").rows
    assert [row["content_hash"] for row in copies] == [row["content_hash"] for row in rows]
    found = find_duplicates(rows + copies, priority=["math", "math-parquet"])
    kept = {row["problem_id"] for row in rows + copies} - found.dropped
    assert len(kept) == 4999
    assert {problem.split("/")[0] for problem in kept} == {"math"}
    assert "math/test:2348" in found.dropped
    assert "math/test:1022" in kept


def test_problems_of_math_that_differ_in_their_figure_alone_stay_apart() -> None:
    """In this file the solution is the answer alone, so the content hash of such problems is the same."""
    rows = clean_problems(ingest_problems([DATA / "math_parquet" / "repo_math_train.parquet"], "math").rows).rows
    place = {row["problem_id"]: json.loads(row["metadata"])["_row"] for row in rows}
    found = find_duplicates(rows)
    merged: dict[str, set[int]] = {}
    for row in found.groups:
        merged.setdefault(row["group_id"], set()).add(place[row["problem_id"]])
    # Looked at one by one: each pair is one problem in two notations.
    assert sorted(map(sorted, merged.values())) == [
        [294, 3658],
        [778, 1715],
        [1159, 3882],
        [3494, 4323],
        [6893, 7379],
    ]
    figures = {
        frozenset((place[row["first_id"]], place[row["second_id"]]))
        for row in found.near
        if row["kind"] == "other figures"
    }
    assert {frozenset(pair) for pair in [(3210, 3279), (5867, 6099), (639, 1704), (5587, 6290)]} <= figures


def test_the_two_files_of_math_share_three_problems() -> None:
    """Looked at one by one: each pair is one problem in two notations."""
    files = (DATA / "math_test", DATA / "math_parquet" / "repo_math_train.parquet")
    rows = [
        row for path, name in zip(files, ("test", "train"), strict=True) for row in ingest_problems([path], name).rows
    ]
    rows = clean_problems(rows).rows
    place = {row["problem_id"]: json.loads(row["metadata"])["_row"] for row in rows}
    found = find_duplicates(rows)
    assert (found.counts["groups"], found.counts["dropped"]) == (9, 9)
    shared = {
        (place[row["group_id"]], place[row["problem_id"]])
        for row in found.groups
        if row["group_id"].startswith("test/") and row["problem_id"].startswith("train/")
    }
    assert shared == {(120, 4556), (3024, 751), (312, 1599)}


def test_two_circuits_of_one_text_stay_apart() -> None:
    rows = ingest_problems([DATA / "theoremqa"], "theoremqa").rows
    found = find_duplicates(rows)
    circuits = {f"theoremqa/theoremqa_test:maxku/basic-electronics-{name}.json" for name in ("2-1", "A1-1")}
    assert circuits <= {row["problem_id"] for row in rows}
    assert not circuits & {row["problem_id"] for row in found.groups}
    assert any(
        {row["first_id"], row["second_id"]} == circuits and row["kind"] == "other figures" for row in found.near
    )


def test_the_same_problem_in_four_languages_is_near() -> None:
    rows = [row for name in ("gsm8k", "nasty") for row in ingest_problems([DATA / name], name).rows]
    found = find_duplicates(rows)
    pairs = {frozenset((row["first_id"], row["second_id"])) for row in found.near if row["kind"] == "translation"}
    thai, telugu = (f"nasty/15_mgsm_{language}:3" for language in ("th", "te"))
    assert frozenset((thai, telugu)) in pairs
    assert any("gsm8k" in problem for pair in pairs if thai in pair for problem in pair)
    assert not {thai, telugu} & found.dropped


def test_every_nasty_row_is_kept_with_a_reader_that_knows_it() -> None:
    result = ingest_problems([DATA / "nasty"], "nasty")
    assert (result.counts["rows_in"], result.counts["kept"]) == (43, 43)
    skipped = {item.file for item in result.skipped_files}
    assert skipped == {"13_bom_utf8.tsv", "PROVENANCE.md"}  # labels of a classification, not problems
    cleaned = clean_problems(result.rows)
    assert not clean_problems(cleaned.rows).changes
    for row in cleaned.rows:
        assert not any(
            sign in row["statement"] for sign in ("[hide", "[list", "[asy]", "<span", "&lt;", "\\noindent")
        )
