"""Imports: every kind lands with its provenance, all or nothing, once; faults name the row; the marts read what is
imported as selected."""

from __future__ import annotations

import bz2
import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from snapshot_home import SnapshotHome

from warehouse.cli import main

MADE = ["--provider", "lab", "--model", "m-1"]
PAIR = {"query_id": "s/1", "first_id": "s/4", "second_id": "s/5", "verdict": "tie"}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A home to copy: making one writes many small files."""
    return SnapshotHome(tmp_path_factory.mktemp("template"))


@pytest.fixture
def home(template, tmp_path, monkeypatch):
    """A copy of the template that a test may change."""
    made = template.copy(tmp_path)
    monkeypatch.setenv("SABER_SETTINGS", str(made.settings_file))
    monkeypatch.setenv("SABER_HOME", str(made.path))
    return made


@pytest.fixture
def write(tmp_path):
    """Write rows as JSON Lines, or text as it is; return the path."""

    def write_file(name, rows):
        path = tmp_path / name
        path.write_text(rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return str(path)

    return write_file


def landed(home, table):
    return home.landing.read(table).to_pylist()


# --- annotations -------------------------------------------------------------------------------------------


def test_topics_as_lists_land_as_selected(home, write):
    path = write(
        "topics.jsonl", [{"problem_id": "s/1", "topics": ["A/A1", "B"]}, {"problem_id": "s/2", "topics": ["A/A2"]}]
    )
    assert main(["import", "topics", path, *MADE, "--as-selected"]) == 0
    rows = landed(home, "topic_scores")
    assert [(row["problem_id"], row["visited_topic_id"], row["topic_id"], row["assigned"]) for row in rows] == [
        ("s/1", "A", "A/A1", True),
        ("s/1", "M", "B", True),
        ("s/2", "A", "A/A2", True),
    ]
    assert {row["variant"] for row in rows} == {home.variants.topics}
    assert {(row["provider"], row["model"]) for row in rows} == {("lab", "m-1")}
    assert {row["prompt_version"][:21] for row in rows} == {"import:topics.jsonl@" + rows[0]["prompt_version"][20]}
    assert {row["content_hash"] for row in rows} == {home.hashes["s/1"], home.hashes["s/2"]}


def test_without_as_selected_the_variant_is_the_provenance(home, write):
    path = write("summaries.csv", 'problem_id,core_idea,keywords\ns/1,"Fold, then count","[""a"", ""b""]"\n')
    assert main(["import", "summaries", path, *MADE]) == 0
    assert main(["import", "summaries", path, "--provider", "lab", "--model", "m-2"]) == 0
    rows = landed(home, "summaries")
    assert [row["core_idea"] for row in rows] == ["Fold, then count"] * 2
    assert rows[0]["keywords"] == ["a", "b"]
    assert rows[0]["variant"] != rows[1]["variant"]
    assert home.variants.summaries not in {row["variant"] for row in rows}


def test_a_second_import_lands_nothing_and_a_changed_one_replaces_the_whole_traversal(home, write, capsys):
    rows = [{"problem_id": "s/1", "topic_id": t, "score": 0.9} for t in ("A/A1", "B/B1")]
    path = write("topics.jsonl", rows)
    for expected in (2, 0):
        capsys.readouterr()
        assert main(["import", "topics", path, *MADE, "--as-selected", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["landed"] == expected
    path = write("topics.jsonl", rows[1:])
    assert main(["import", "topics", path, *MADE, "--as-selected"]) == 0
    latest = max(landed(home, "topic_scores"), key=lambda row: row["sequence"])["traversal_id"]
    assert [row["topic_id"] for row in landed(home, "topic_scores") if row["traversal_id"] == latest] == ["B/B1"]


@pytest.mark.parametrize(
    ("kind", "row", "words"),
    [
        ("topics", {"problem_id": "s/99", "topic_id": "A"}, "problem 's/99' is no problem that has landed"),
        ("topics", {"problem_id": "s/1", "topic_id": "A/Z"}, "'A/Z' is no topic of the ontology test"),
        ("topics", {"problem_id": "s/1", "topic_id": "M"}, "root of the ontology"),
        ("topics", {"problem_id": "s/1", "topic_id": "A", "score": 1.5}, "score must lie between 0 and 1, not 1.5"),
        ("topics", {"problem_id": "s/1", "topics": ["A", "A/A1"]}, "'A/A1' is assigned together with"),
        ("topics", {"problem_id": "s/1", "topics": ["A", "A"]}, "the same problem_id, variant"),
        ("topics", {"problem_id": "s/1", "topic_id": "A", "content_hash": "0"}, "another text"),
        ("summaries", {"problem_id": "s/1"}, "core_idea is empty and no_core_idea is not true"),
        ("summaries", {"problem_id": "s/1", "core_idea": "x", "no_core_idea": True}, "no_core_idea is true"),
        ("summaries", {"problem_id": "s/1", "core_idea": "x", "keywords": "a, b"}, "must be a JSON list"),
        ("summaries", {"problem_id": "s/1", "core_idea": "x", "confidence": "high"}, "confidence must be a number"),
        ("judgments", {**PAIR, "second_id": "s/1"}, "different problems"),
        ("judgments", {**PAIR, "verdict": "1"}, "verdict must be one of"),
        ("judgments", {**PAIR, "second_id": "s/8"}, "'s/8' is no candidate"),
        ("judgments", {"query_id": "s/1", "first_id": "s/4", "kind": "score"}, "a grade needs a score"),
        ("judgments", {**PAIR, "kind": "human"}, "needs its annotator"),
        ("ratings", {"query_id": "s/1", "document_id": "s/4", "rating": 6}, "rating must lie between 0 and 5, not 6"),
        ("ratings", {"query_id": "s/1", "document_id": "s/8", "rating": 1}, "'s/8' is no candidate of query 's/1'"),
        ("ratings", {"query_id": "s/1", "document_id": "s/1", "rating": 1}, "rated for itself"),
        ("ratings", {"query_id": "s/1", "document_id": "s/4", "rating": True}, "finite number"),
    ],
)  # fmt: skip
def test_a_fault_names_the_row_and_nothing_lands(home, write, capsys, kind, row, words):
    path = write("rows.jsonl", [row])
    assert main(["import", kind, path, *MADE, "--as-selected"]) == 1
    error = capsys.readouterr().err
    assert "rows.jsonl row 1" in error
    assert words in error
    assert "Nothing has landed" in error
    table = {"topics": "topic_scores"}.get(kind, kind)
    assert landed(home, table) == []
    assert landed(home, "jobs") == []


def test_who_made_it_must_be_known(home, write, capsys):
    path = write("rows.jsonl", [{"problem_id": "s/1", "core_idea": "x"}])
    assert main(["import", "summaries", path, "--model", "m"]) == 1
    assert "give --provider" in capsys.readouterr().err


def test_keep_good_lands_the_others_and_records_the_faults(home, write, capsys):
    rows = [{"problem_id": "s/1", "core_idea": "Fold."}, {"problem_id": "s/99", "core_idea": "x"}]
    path = write("rows.jsonl", [*rows, {"problem_id": "s/2", "core_idea": None}])
    assert main(["import", "summaries", path, *MADE, "--keep-good"]) == 0
    assert "left out rows.jsonl row 2" in capsys.readouterr().err
    assert [row["problem_id"] for row in landed(home, "summaries")] == ["s/1"]
    noted = landed(home, "source_rows")
    assert [(row["source"], row["file"], row["step"]) for row in noted] == [
        ("import summaries", "rows.jsonl row 2", "import"),
        ("import summaries", "rows.jsonl row 3", "import"),
    ]
    jobs = landed(home, "jobs")
    assert json.loads(jobs[-1]["summary"])["files"][0].startswith("rows.jsonl@")


def test_unreadable_lines_are_faults(home, write, capsys):
    path = write("rows.jsonl", '{"problem_id": "s/1", "core_idea": "x"}\n{"problem_id": \n')
    assert main(["import", "summaries", path, *MADE]) == 1
    assert "rows.jsonl row 2: not JSON" in capsys.readouterr().err
    assert landed(home, "summaries") == []


# --- judgments and ratings ---------------------------------------------------------------------------------


def test_judgments_and_ratings_land_as_selected(home, write):
    pair = {"q": "s/1", "a": "s/5", "b": "s/4", "who": "second", "round": 3}
    path = write("verdicts.jsonl", [pair])
    renames = "query_id=q,first_id=a,second_id=b,verdict=who"
    assert main(["import", "judgments", path, *MADE, "--as-selected", "--map", renames]) == 0
    (row,) = landed(home, "judgments")
    assert (row["verdict"], row["kind"], row["vote"], row["round"]) == ("second", "pair", 0, 3)
    assert (row["judge"], row["schedule"], row["benchmark"]) == ("pairwise", "swiss", "test-bench")
    assert row["variant"] == home.variants.judgments
    assert row["content_hash"] == home.pair("s/1", "s/5", "s/4")
    path = write("ratings.csv", "query-id,docno,rating,separable\ns/1,s/4,4.25,true\ns/1,s/5,,\n")
    assert main(["import", "ratings", path, *MADE, "--as-selected"]) == 0
    rows = landed(home, "ratings")
    assert [(row["document_id"], row["rating"], row["separable"]) for row in rows] == [
        ("s/4", 4.25, True),
        ("s/5", None, None),
    ]
    assert {row["variant"] for row in rows} == {home.variants.ratings}


def test_human_choices_land_where_the_annotation_page_lands_its_own(home, write):
    path = write("h.jsonl", [{**PAIR, "annotator": "ann"}])
    assert main(["import", "judgments", path, "--as-selected"]) == 0
    (found,) = landed(home, "judgments")
    assert (found["kind"], found["judge"], found["provider"]) == ("human", "human", "human")
    assert found["variant"] == home.variants.human


# --- qrels -------------------------------------------------------------------------------------------------


def test_trec_qrels_of_another_benchmark(home, write, capsys):
    path = write("qrels.txt", "s/1 0 s/4 3\ns/1\t0\ts/5\t-1\n\ns/2 0 s/4 0\n")
    assert main(["import", "qrels", path, "--benchmark", "other"]) == 0
    rows = landed(home, "qrels")
    assert [(row["query_id"], row["document_id"], row["relevance"], row["gain"]) for row in rows] == [
        ("s/1", "s/4", 3.0, 7000),
        ("s/1", "s/5", 0.0, 0),
        ("s/2", "s/4", 0.0, 0),
    ]
    assert {row["origin"][:10] for row in rows} == {"qrels.txt@"}
    assert "3 rows name no content_hash" in capsys.readouterr().err


def test_a_later_version_of_a_file_is_another_variant(home, write):
    for text in ("s/1 0 s/4 3\ns/1 0 s/5 1\n", "s/1 0 s/4 3\n"):
        assert main(["import", "qrels", write("qrels.txt", text), "--benchmark", "other"]) == 0
    variants = [row["variant"] for row in landed(home, "qrels")]
    assert len(set(variants)) == 2
    assert len(variants) == 3


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("s/1 0 s/4 3\ns/1 0 s/4 2\n", ["--benchmark", "o"], "row 2: the same benchmark, query_id, document_id"),
        ("s/1 0 s/4 3\n", ["--benchmark", "test-bench"], "saber import ratings"),
        ("s/1 0 s/4 3\n", [], "benchmark is missing"),
        ("s/1 0 s/4 nan\n", ["--benchmark", "o"], "relevance must be a finite number"),
        ("s/1 0 s/4 31000\n", ["--benchmark", "o"], "are these gains"),
        ("s/1 0 s/4 3\ns/1 s/4 3\n", ["--benchmark", "o"], "row 2: 3 fields"),
        ("s/1 0 d1 3\ns/1 0 d2 3\n", ["--benchmark", "o"], "'d1' is no problem that has landed"),
    ],
)
def test_unfit_qrels_are_refused(home, write, capsys, text, options, words):
    assert main(["import", "qrels", write("qrels.txt", text), *options]) == 1
    assert words in capsys.readouterr().err
    assert landed(home, "qrels") == []


def test_a_beir_folder_from_elsewhere(home, tmp_path):
    """Queries and documents are numbered alike, as in many collections."""
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": "1", "title": "Sums", "text": "Add them."}, {"_id": "2", "title": "", "text": "Multiply."}]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus))
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "1", "text": "How to add?"}) + "\n")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\t1\t2\n1\t2\t0\n")
    assert main(["import", "problems", str(folder), "--source", "b"]) == 0
    texts = {row["problem_id"]: row["statement"] for row in landed(home, "problems")}
    assert texts["b/document:1"] == "Sums\n\nAdd them."
    assert texts["b/query:1"] == "How to add?"
    assert main(["import", "qrels", str(folder), "--source", "b", "--benchmark", "b"]) == 0
    assert [(row["query_id"], row["document_id"], row["relevance"]) for row in landed(home, "qrels")] == [
        ("b/query:1", "b/document:1", 2.0),
        ("b/query:1", "b/document:2", 0.0),
    ]
    run = tmp_path / "run.txt"
    run.write_text("1 Q0 2 1 9.5 mine\n1 Q0 1 2 9.4 mine\n")
    options = ["--source", "b", "--benchmark", "b", "--setting", "statement-statement"]
    assert main(["import", "runs", str(run), *options]) == 0
    rows = sorted(landed(home, "runs"), key=lambda row: row["rank"])
    assert [(row["document_id"], row["rank"], row["system"]) for row in rows] == [
        ("b/document:2", 1, "mine"),
        ("b/document:1", 2, "mine"),
    ]
    assert {row["variant"] for row in rows} == {landed(home, "qrels")[0]["variant"]}


def test_the_published_layout(home, tmp_path, capsys):
    folder = tmp_path / "published"
    folder.mkdir()
    documents = {"problem": [f"Problem {n}?" for n in range(4)], "solution": [f"Proof {n}." for n in range(4)]}
    pq.write_table(pa.table(documents), folder / "documents.parquet")
    queries = {
        "problem": ["Query A?", "Query B?"],
        "solution": ["Proof A.", "Proof B."],
        "candidates": [[3, 0], [1, 2]],
        "relevance_scores": [[4.5, 0.0], [1.0, 5.0]],
        "domains": [["Algebra"], ["Geometry"]],
    }
    pq.write_table(pa.table(queries), folder / "queries.parquet")
    name = ["--format", "saber", "--source", "saber"]
    assert main(["import", "problems", str(folder), *name]) == 0
    texts = {row["problem_id"]: row["statement"] for row in landed(home, "problems")}
    assert (texts["saber/document:3"], texts["saber/query:1"]) == ("Problem 3?", "Query B?")
    assert main(["import", "qrels", str(folder), *name, "--benchmark", "published"]) == 0
    assert [(row["query_id"], row["document_id"], row["relevance"]) for row in landed(home, "qrels")] == [
        ("saber/query:0", "saber/document:0", 0.0),
        ("saber/query:0", "saber/document:3", 4.5),
        ("saber/query:1", "saber/document:1", 1.0),
        ("saber/query:1", "saber/document:2", 5.0),
    ]
    home.build()
    import warehouse

    best = warehouse.evaluate(lambda q, d: [5.0 if "3" in x or "2" in x else 1.0 for x in d], benchmark="published")
    assert best["overall"] == 1.0
    assert best["measures"]["recall@10"] == 1.0
    assert main(["export", "trec", str(tmp_path / "out"), "--benchmark", "published"]) == 0
    assert (tmp_path / "out" / "qrels.txt").read_text().splitlines() == [
        "saber/query:0 0 saber/document:0 0",
        "saber/query:0 0 saber/document:3 21627",
        "saber/query:1 0 saber/document:1 1000",
        "saber/query:1 0 saber/document:2 31000",
    ]
    queries["candidates"][1] = [1, 4]
    pq.write_table(pa.table(queries), folder / "queries.parquet")
    capsys.readouterr()
    assert main(["import", "qrels", str(folder), *name, "--benchmark", "published"]) == 1
    assert "queries.parquet row 2 candidate 4: problem 'saber/document:4'" in capsys.readouterr().err


# --- runs --------------------------------------------------------------------------------------------------

RUN = "s/1 Q0 s/4 1 0.9 mine\ns/1 Q0 s/5 2 0.8 mine\ns/2 Q0 s/7 1 0.5 mine\n"
SET = ["--setting", "statement-full"]


def test_a_trec_run_lands_under_the_benchmark_in_use(home, write, capsys):
    path = write("run.txt", RUN)
    assert main(["import", "runs", path, *SET]) == 0
    assert "lacks 1 queries" in capsys.readouterr().err
    rows = landed(home, "runs")
    assert [(row["query_id"], row["document_id"], row["rank"], row["score"]) for row in rows] == [
        ("s/1", "s/4", 1, 0.9),
        ("s/1", "s/5", 2, 0.8),
        ("s/2", "s/7", 1, 0.5),
    ]
    assert {row["variant"] for row in rows} == {home.variants.benchmark}
    (run_id,) = {row["run_id"] for row in rows}
    assert run_id.startswith("mine.statement-full.candidates.none.")
    assert json.loads(rows[0]["params"])["origin"].startswith("run.txt@")
    assert main(["import", "runs", path, *SET]) == 0
    assert len(landed(home, "runs")) == 3


@pytest.mark.parametrize(
    "dressed",
    [
        gzip.compress,
        bz2.compress,
        lambda text: b"\xef\xbb\xbf" + text,  # the mark was read as a part of the first query's id
        lambda text: text.replace(b"\n", b"\r\n").replace(b" ", b"\t"),
        lambda text: b"# made by a tool\n\n" + text,
    ],
)
def test_a_trec_run_is_read_in_any_dress(home, tmp_path, dressed, capsys):
    path = tmp_path / "run.txt"
    path.write_bytes(dressed(RUN.encode()))
    kept = ["--keep-good"] if b"#" in path.read_bytes()[:1] else []
    assert main(["import", "runs", str(path), *SET, *kept]) == 0
    found = [(row["query_id"], row["document_id"], row["score"], row["system"]) for row in landed(home, "runs")]
    assert found == [("s/1", "s/4", 0.9, "mine"), ("s/1", "s/5", 0.8, "mine"), ("s/2", "s/7", 0.5, "mine")]


def test_a_comment_and_a_cut_file_are_named(home, tmp_path, capsys):
    path = tmp_path / "run.txt"
    path.write_text("# made by a tool\n" + RUN)
    assert main(["import", "runs", str(path), *SET]) == 1
    assert "run.txt row 1: 5 fields; a TREC line has 4 (qrels) or 6 (runs)" in capsys.readouterr().err
    path.write_bytes(gzip.compress(RUN.encode())[:-12])
    assert main(["import", "runs", str(path), *SET]) == 1
    assert "gzip" in capsys.readouterr().err
    assert landed(home, "runs") == []


def test_a_name_that_is_no_text_is_refused(home, tmp_path, capsys):
    path = tmp_path / "run.txt"
    path.write_bytes(RUN.encode().replace(b"mine", b"m\xffne"))  # ended in a traceback
    assert main(["import", "runs", str(path), *SET]) == 1
    assert "tag is no UTF-8 text: 'm\\udcffne'" in capsys.readouterr().err


def test_a_mended_run_replaces_the_whole_ranking_of_its_queries(home, write):
    assert main(["import", "runs", write("run.txt", RUN), *SET]) == 0
    assert main(["import", "runs", write("run.txt", RUN.replace("s/5", "s/6")), *SET]) == 0
    rows = [row for row in landed(home, "runs") if row["query_id"] == "s/1"]
    last = max(rows, key=lambda row: row["sequence"])["job_id"]
    assert [row["document_id"] for row in rows if row["job_id"] == last] == ["s/4", "s/6"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("s/1 Q0 s/4 1 nan mine\n", "row 1: score must be a finite number, not 'nan'"),
        ("s/1 Q0 s/4 1 -inf mine\n", "score must be a finite number"),
        (RUN + "s/1 Q0 s/4 3 0.1 mine\n", "row 4: the same run_id, query_id, document_id as run.txt row 1"),
        ("s/9 Q0 s/4 1 1.0 mine\n", "unknown query 's/9'"),
        ("s/1 Q0 s/8 1 1.0 mine\n", "unknown document 's/8': it is no candidate of query 's/1'"),
        ("s/1 Q0 s/1 1 1.0 mine\n", "query 's/1' is ranked for itself"),
    ],
)
def test_unfit_runs_are_refused_with_the_ids(home, write, capsys, text, words):
    assert main(["import", "runs", write("run.txt", text), *SET]) == 1
    assert words in capsys.readouterr().err
    assert landed(home, "runs") == []


def test_in_scope_corpus_any_eligible_problem_may_be_ranked(home, write, capsys):
    assert main(["import", "runs", write("r.txt", "s/1 Q0 s/8 1 1.0 mine\n"), *SET, "--scope", "corpus"]) == 0
    assert landed(home, "runs")[0]["scope"] == "corpus"
    assert main(["import", "runs", write("r.txt", "s/1 Q0 s/99 1 1.0 x\n"), *SET, "--scope", "corpus"]) == 1
    assert "it is no eligible problem" in capsys.readouterr().err


def test_what_the_system_saw_must_be_said(home, write, capsys):
    assert main(["import", "runs", write("run.txt", RUN)]) == 1
    assert "give --setting" in capsys.readouterr().err
    assert main(["import", "runs", write("run.txt", RUN), "--setting", "full-statement"]) == 1
    assert "No setting is called 'full-statement'" in capsys.readouterr().err


def test_an_import_never_replaces_a_run_of_the_warehouse(home, write, capsys):
    home.landing.append("runs", home.run_rows("mine.x", {"s/1": {"s/4": 1.0}}), "retrieve-1")
    row = {"run_id": "mine.x", "query_id": "s/1", "document_id": "s/4", "score": 2.0, "system": "mine"}
    assert main(["import", "runs", write("run.jsonl", [row]), *SET]) == 1
    assert "mine.x has landed from another origin" in capsys.readouterr().err
    assert len(landed(home, "runs")) == 1


def test_a_run_is_of_one_benchmark_and_setting(home, write, capsys):
    """Under one id the runs of two benchmarks were one system, with the mean over both."""
    first = {"run_id": "mine.x", "query_id": "s/1", "document_id": "s/4", "score": 2.0, "system": "mine"}
    other = {**first, "query_id": "s/2", "document_id": "s/7", "setting": "full-full"}
    path = write("run.jsonl", [{**first, "setting": "statement-full"}, other])
    assert main(["import", "runs", path]) == 1
    told = capsys.readouterr().err
    assert "run.jsonl row 2" in told
    assert "setting 'full-full', there 'statement-full'" in told
    home.landing.append(
        "runs", [{**home.run_rows("mine.x", {"s/1": {"s/4": 1.0}})[0], "benchmark": "toy"}], "import-1"
    )
    assert main(["import", "runs", write("one.jsonl", [first]), *SET]) == 1
    assert "mine.x of benchmark toy has landed under the same id" in capsys.readouterr().err
    assert len(landed(home, "runs")) == 1


def test_settings_that_the_marts_do_not_have_yet_are_named(home, write, capsys):
    home.settings_file.write_text(
        home.settings_file.read_text().replace('name = "test-bench"', 'name = "test-bench"\nseed = 7')
    )
    assert main(["import", "runs", write("run.txt", RUN), *SET]) == 1
    assert "not drawn under the settings in force" in capsys.readouterr().err


def test_scores_of_another_leaderboard(home, write, capsys):
    path = write("table.csv", "system,nDCG@10\nBM25,0.41\nE5,0.52\n")
    options = [
        "--leaderboard",
        "paper",
        "--measure",
        "statement-full",
        "--origin",
        "table 2",
        "--map",
        "value=nDCG@10",
    ]
    assert main(["import", "scores", path, *options]) == 0
    assert [tuple(row.values())[:5] for row in landed(home, "external_scores")] == [
        ("paper", "BM25", "statement-full", 0.41, "table 2"),
        ("paper", "E5", "statement-full", 0.52, "table 2"),
    ]
    path = write("table.csv", "system,value\nBM25,\n")
    assert main(["import", "scores", path, *options[:4]]) == 1
    assert "table.csv row 1: value is missing" in capsys.readouterr().err


def test_problems_of_any_table_are_ingested(home, write):
    path = write("more.jsonl", [{"question": "What is 2 + 2?", "worked": "It is four, by counting on."}])
    options = ["--source", "more", "--map", "statement=question,solution=worked", "--licence", "MIT"]
    assert main(["import", "problems", path, *options]) == 0
    found = [row for row in landed(home, "problems") if row["source"] == "more"]
    assert [(row["solution"], row["licence"]) for row in found] == [("It is four, by counting on.", "MIT")]


def test_paths_and_columns_that_do_not_exist_are_named(home, write, capsys):
    for arguments, words in (
        (["topics", "nowhere.jsonl"], "nowhere.jsonl does not exist"),
        (["summaries", write("a.jsonl", "\n")], "a.jsonl: the file is empty"),
        (["summaries", write("b.jsonl", [{}]), "--map", "colour=x"], "--map 'colour=x'"),
        (["qrels", write("c.txt", "s/1 0 s/4 1\n"), "--format", "saber"], "--source"),
        (["problems", write("d.jsonl", [{}])], "--source NAME"),
    ):
        assert main(["import", *arguments]) == 1
        assert words in capsys.readouterr().err
