"""Exporting and importing again loses nothing: problems, relevances and runs come back equal, whatever their ids."""

from __future__ import annotations

import json
import shutil

import pyarrow.parquet as pq
import pytest
from test_exports import home  # noqa: F401  (the fixture with hostile ids)

from warehouse.cli import main
from warehouse.collection import QREL, load_collection
from warehouse.landing import Landing
from warehouse.settings import load_settings

PROBLEM = (
    "problem_id", "source", "source_id", "statement", "solution", "answer", "language", "licence", "metadata",
    "content_hash",
)  # fmt: skip
RUN = (
    "run_id",
    "query_id",
    "document_id",
    "setting",
    "scope",
    "idf",
    "system",
    "score",
    "rank",
    "latency_s",
    "params",
)


def landed(landing, table, columns, where=lambda row: True):
    rows = [row for row in landing.read(table).to_pylist() if where(row)]
    return sorted(tuple(row[column] for column in columns) for row in rows)


@pytest.fixture(scope="module")
def template(home, tmp_path_factory):  # noqa: F811
    """A home into which the problems have been imported."""
    folder = tmp_path_factory.mktemp("problems")
    assert main(["export", "beir", str(folder / "out"), "--scope", "corpus"]) == 0
    assert main(["import", "problems", str(folder / "out"), "--home", str(folder / "home")]) == 0
    return folder / "home"


@pytest.fixture
def other(template, tmp_path):
    """A copy of the template."""
    shutil.copytree(template, tmp_path / "other")
    return Landing(tmp_path / "other")


@pytest.mark.parametrize("kind", ["beir", "hf", "mteb"])
def test_problems_come_back_equal(home, tmp_path, kind):  # noqa: F811
    other, out = Landing(tmp_path / "empty"), str(tmp_path / "out")
    assert main(["export", kind, out, "--scope", "corpus"]) == 0
    assert main(["import", "problems", out, "--home", str(other.home)]) == 0
    assert landed(other, "problems", PROBLEM) == landed(home.landing, "problems", PROBLEM)


@pytest.mark.parametrize("kind", ["trec", "beir", "hf", "mteb"])
def test_relevances_come_back_equal(home, other, tmp_path, kind):  # noqa: F811
    out = str(tmp_path / "out")
    assert main(["export", kind, out]) == 0
    assert main(["import", "qrels", out, "--benchmark", "copy", "--home", str(other.home)]) == 0
    expected = sorted(
        (query, document, relevance)
        for query, documents in home.relevances.items()
        for document, relevance in documents.items()
    )
    found = landed(other, "qrels", ("query_id", "document_id", "relevance"))
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert {row["content_hash"] for row in other.read("qrels").to_pylist()} == {
        home.pair(query, document) for query, documents in home.relevances.items() for document in documents
    }
    # who judged was lost: a copy of an offline judge's benchmark no longer said so
    told = load_collection(load_settings(home=home.path)).qrels
    assert {row["judge"] for row in told} >= {"=2+5 judge"}
    assert sorted(map(str, landed(other, "qrels", QREL))) == sorted(str(tuple(map(row.get, QREL))) for row in told)


def test_an_export_names_its_own_benchmark(home, tmp_path, capsys):  # noqa: F811
    out = str(tmp_path / "out")
    assert main(["export", "trec", out]) == 0
    assert main(["import", "qrels", out]) == 1
    assert "'test-bench' is the benchmark built here" in capsys.readouterr().err  # it was "benchmark is missing"


@pytest.mark.parametrize("kind", ["trec", "hf"])
def test_runs_come_back_equal_though_tools_see_other_scores(home, other, tmp_path, kind):  # noqa: F811
    out = str(tmp_path / "out")
    assert main(["export", kind, out]) == 0
    assert main(["import", "qrels", out, "--benchmark", "copy", "--home", str(other.home)]) == 0
    assert main(["import", "runs", out, "--benchmark", "copy", "--home", str(other.home)]) == 0
    assert landed(other, "runs", RUN) == landed(home.landing, "runs", RUN)


def test_a_run_imported_into_its_own_home_lands_nothing_new(home, tmp_path, capsys):  # noqa: F811
    out = str(tmp_path / "out")
    assert main(["export", "trec", out]) == 0
    assert main(["import", "runs", out]) == 0
    assert "0 new or changed rows landed" in capsys.readouterr().out


def test_gains_alone_come_back_to_half_a_thousandth(home, other, tmp_path):  # noqa: F811
    assert main(["export", "beir", str(tmp_path / "out")]) == 0
    file = str(tmp_path / "out" / "qrels" / "test.tsv")
    options = ["--benchmark", "gains", "--gains", "--escaped-ids", "--home", str(other.home)]
    assert main(["import", "qrels", file, *options]) == 0
    found = {(row["query_id"], row["document_id"]): row for row in other.read("qrels").to_pylist()}
    judged = {
        (q, d): rel for q, documents in home.relevances.items() for d, rel in documents.items() if rel is not None
    }
    assert found.keys() == judged.keys()
    for pair, relevance in judged.items():
        assert abs(2 ** found[pair]["relevance"] - 2**relevance) <= 5.001e-4


def test_a_changed_export_is_refused_by_name(home, other, tmp_path, capsys):  # noqa: F811
    out = tmp_path / "out"
    assert main(["export", "trec", str(out)]) == 0
    exact = out / "qrels.exact.tsv"
    exact.write_text(exact.read_text().replace("5.0", "4.0", 1))
    assert main(["import", "qrels", str(out), "--benchmark", "copy", "--home", str(other.home)]) == 1
    assert "changed after the export" in capsys.readouterr().err


def test_rows_about_older_texts_are_refused(home, other, tmp_path, capsys):  # noqa: F811
    assert main(["export", "trec", str(tmp_path / "out")]) == 0
    row = other.read("problems").to_pylist()[3]
    changed = {name: row[name] for name in PROBLEM} | {"statement": "Another text.", "content_hash": "0" * 32}
    other.append("problems", [changed], "later")
    command = ["import", "qrels", str(tmp_path / "out"), "--benchmark", "copy", "--home", str(other.home)]
    assert main(command) == 1
    assert "another text" in capsys.readouterr().err
    assert other.read("qrels").num_rows == 0


def test_the_data_set_holds_the_texts_of_the_setting(home, tmp_path):  # noqa: F811
    assert main(["export", "hf", str(tmp_path / "out"), "--setting", "full-full"]) == 0
    queries = pq.read_table(tmp_path / "out" / "data" / "queries.parquet").to_pylist()
    assert [row["id"] for row in queries] == list(home.relevances)
    assert all(row["text"].startswith("Problem: Statement") and "Solution: " in row["text"] for row in queries)
    lines = (tmp_path / "out" / "README.md").read_text().splitlines()
    configs = json.loads(next(line for line in lines if line.startswith("configs: "))[len("configs: ") :])
    for config in configs:
        assert (tmp_path / "out" / config["data_files"][0]["path"]).is_file()


def test_the_layout_of_the_release_is_in_the_data_set(home, other, tmp_path):  # noqa: F811
    """Positions count from 0; our own reader of that layout gives the same relevances back."""
    out = tmp_path / "out"
    assert main(["export", "hf", str(out)]) == 0
    files = [out / "data" / f"published_{name}.parquet" for name in ("queries", "documents")]
    queries, documents = (pq.read_table(file).to_pylist() for file in files)
    found = {
        row["id"]: {
            documents[at]["id"]: relevance
            for at, relevance in zip(row["candidates"], row["relevance_scores"], strict=True)
        }
        for row in queries
    }
    assert found == home.relevances
    assert min(at for row in queries for at in row["candidates"]) == 0
    problems = {row["problem_id"]: row for row in home.landing.read("problems").to_pylist()}
    for row in [*queries, *documents]:
        assert (row["problem"], row["solution"]) == tuple(
            problems[row["id"]][name] for name in ("statement", "solution")
        )
    assert {domain for row in queries for domain in row["domains"]} == {"Alpha", "Beta"}
    name = ["--format", "saber", "--source", "again", "--home", str(other.home)]
    given = [str(file) for file in files]
    assert main(["import", "problems", *given, *name]) == 0
    assert main(["import", "qrels", *given, *name, "--benchmark", "again"]) == 0
    ids = {f"again/query:{at}": row["id"] for at, row in enumerate(queries)}
    ids |= {f"again/document:{at}": row["id"] for at, row in enumerate(documents)}
    back = [
        (ids[row["query_id"]], ids[row["document_id"]], row["relevance"]) for row in other.read("qrels").to_pylist()
    ]
    expected = [(q, d, r) for q, those in home.relevances.items() for d, r in those.items()]
    assert sorted(back, key=str) == sorted(expected, key=str)
