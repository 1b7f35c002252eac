"""Runs: texts of the settings, order and ties, refusals, identity, what is ranked again and what is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from retrieval_home import PROBLEMS, RetrievalHome

from annotate.retrieval import job as retrieval_job
from annotate.retrieval.base import Scored, System, Task
from annotate.retrieval.job import configured_systems, retrieve
from annotate.retrieval.ranking import best, check_run
from annotate.retrieval.registry import system_class
from annotate.retrieval.runs import plan_run
from annotate.retrieval.systems.bm25 import BM25
from annotate.retrieval.systems.random import Random
from warehouse.cli import main
from warehouse.errors import SaberError
from warehouse.identity import content_hash, pair_hash


@pytest.fixture
def home(tmp_path):
    return RetrievalHome(tmp_path)


@pytest.fixture
def run(home):
    """Run ``saber retrieve`` on the home under its own settings file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SABER_SETTINGS", str(home.home.parent / "saber.toml"))
        yield lambda *systems, **given: retrieve(home.arguments(*systems, **given))


def landed(home: RetrievalHome) -> list[dict]:
    return home.landing.read("runs", latest=False).to_pylist()


# --- order -----------------------------------------------------------------------------------------------


def test_ties_go_to_the_lower_index_also_at_the_cut():
    scores = np.array([0.5, 0.9, 0.5, 0.1, 0.5])
    assert best(scores, 5).tolist() == [1, 0, 2, 4, 3]
    assert best(scores, 3).tolist() == [1, 0, 2]
    assert best(np.zeros(4), 2).tolist() == [0, 1]
    assert best(np.empty(0), 3).tolist() == []


@given(scores=st.lists(st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e300]), max_size=12), top=st.integers(1, 14))
def test_best_equals_sorting(scores, top):
    expected = sorted(range(len(scores)), key=lambda at: (-scores[at], at))[:top]
    assert best(np.array(scores, dtype=float), top).tolist() == expected


# --- refusals --------------------------------------------------------------------------------------------

ALLOWED = {"q": {"a", "b", "q"}, "r": {"a"}}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("q", "a", float("nan")), ("q", "b", 1.0)], "no finite number .*: q a"),
        ([("q", "a", float("inf"))], "no finite number"),
        ([("q", "a", 1.0), ("r", "a", 1.0), ("q", "a", 2.0)], "ranked twice .*: q a"),
        ([("s", "a", 1.0)], "unknown queries .*: s"),
        ([("q", "q", 1.0)], "ranked for themselves .*: q q"),
        ([("r", "b", 1.0)], "may not be ranked .*: r b"),
    ],
)
def test_unfit_runs_are_refused_by_name(rows, words):
    with pytest.raises(SaberError, match=words):
        check_run("x", [r[0] for r in rows], [r[1] for r in rows], np.array([r[2] for r in rows]), ALLOWED)


def test_a_refusal_names_five_and_counts_the_rest():
    ids = [f"d{number}" for number in range(8)]
    with pytest.raises(SaberError, match="q d4 and 3 more"):
        check_run("x", ["q"] * 8, ids, np.full(8, np.nan), {"q": set(ids)})


def test_a_fit_run_is_not_refused():
    check_run("x", ["q", "q", "r"], ["a", "b", "a"], np.array([1.0, -2.0, 0.0]), ALLOWED)


# --- texts and documents of a task -----------------------------------------------------------------------


def test_texts_of_the_settings(home):
    benchmark = home.benchmark()
    statement, solution = PROBLEMS["s/1"]
    full = f"Problem: {statement}\n\nSolution: {solution}"
    for setting, query_text, document_text in [
        ("statement-statement", statement, statement),
        ("statement-full", statement, full),
        ("full-full", full, full),
    ]:
        documents, queries = benchmark.collection(setting, "corpus", "corpus", benchmark.queries)
        assert queries[0].text[:2] == ("s/1", query_text)
        assert documents[0][:2] == ("s/1", document_text)


def test_candidates_alone_are_the_documents_unless_statistics_need_the_corpus(home):
    benchmark = home.benchmark()
    for idf, ids in [("none", ["s/2", "s/3", "s/4"]), ("candidates", ["s/2", "s/3", "s/4"]), ("corpus", [*PROBLEMS])]:
        documents, (query,) = benchmark.collection("full-full", "candidates", idf, benchmark.queries[:1])
        assert [text.problem_id for text in documents] == ids
        assert [documents[at].problem_id for at in query.documents] == ["s/2", "s/3", "s/4"]


def test_corpus_scope_leaves_out_the_query_and_equal_texts(tmp_path):
    problems = {
        **PROBLEMS,
        "s/1copy": PROBLEMS["s/1"],
        "s/1spaced": (f"  {PROBLEMS['s/1'][0]}\n", PROBLEMS["s/1"][1]),
    }
    benchmark = RetrievalHome(tmp_path, problems).benchmark()
    allowed = [benchmark.problem_ids[at] for at in benchmark.allowed(benchmark.queries[0], "corpus")]
    assert allowed == ["s/2", "s/3", "s/4", "s/5", "s/6"]


def test_a_warehouse_of_other_settings_is_refused(home):
    home.build(PROBLEMS, {"s/1": ["s/2"]}, variant="ffffffffffff")
    with pytest.raises(SaberError, match="variant ffffffffffff"):
        home.benchmark()


def test_a_warehouse_that_is_not_built_so_far_is_named(home):
    import duckdb

    with duckdb.connect(str(home.home / "warehouse.duckdb")) as connection:
        connection.execute("drop table benchmark.candidates")
    with pytest.raises(SaberError, match="dbt build"):
        home.benchmark()


# --- landing ---------------------------------------------------------------------------------------------


def test_what_lands(home, run):
    (outcome,) = run("bm25", setting=["statement-full"])
    rows = landed(home)
    assert (outcome.landed, outcome.rows, outcome.missing, len(rows)) == (2, 6, 0, 6)
    first = [row for row in rows if row["query_id"] == "s/1"]
    assert [row["rank"] for row in first] == [1, 2, 3]
    assert first[0]["document_id"] == "s/2"  # the other quadratic
    assert [row["score"] for row in first] == sorted((row["score"] for row in first), reverse=True)
    row = first[0]
    assert row["content_hash"] == pair_hash(content_hash(*PROBLEMS["s/1"]), content_hash(*PROBLEMS["s/2"]))
    assert row["run_id"].startswith("bm25.statement-full.candidates.corpus.")
    assert (row["benchmark"], row["setting"], row["scope"], row["idf"], row["system"]) == (
        home.settings.benchmark.name,
        "statement-full",
        "candidates",
        "corpus",
        "bm25",
    )
    params = json.loads(row["params"])
    assert params["k1"] == 1.5
    assert params["corpus"] == home.benchmark().fingerprint
    assert row["variant"] == home.benchmark().variant
    assert len({row["latency_s"] for row in first}) == 1
    assert first[0]["latency_s"] > 0
    # One append a run, so that a query never lands in parts.
    assert len({file.path for file in home.landing.files("runs") if file.rows}) == 1


def test_second_call_lands_nothing(home, run):
    everything = ["random", "jaccard", "tfidf", "bm25", "bm25-math"]
    settings = ["statement-statement", "full-full"]
    run(*everything, setting=settings)
    before, jobs = landed(home), home.landing.read("jobs", latest=False).num_rows
    again = run(*everything, setting=settings)
    assert landed(home) == before
    assert home.landing.read("jobs", latest=False).num_rows == jobs
    assert {(outcome.current, outcome.rows) for outcome in again} == {(2, 0)}


def test_only_the_query_whose_candidates_changed_is_ranked_again(home, run):
    run("jaccard")
    home.build(PROBLEMS, {"s/1": ["s/2", "s/3", "s/4"], "s/3": ["s/1", "s/2", "s/6"]})
    (outcome,) = run("jaccard")
    assert (outcome.current, outcome.landed, outcome.rows) == (1, 1, 3)
    (outcome,) = run("jaccard")
    assert outcome.current == 2


def test_only_the_query_whose_text_changed_is_ranked_again(home, run):
    run("jaccard")
    home.build({**PROBLEMS, "s/4": ("How many subsets has a set of 6 elements?", "There are $2^6$.")}, CANDIDATES)
    (outcome,) = run("jaccard")
    assert (outcome.current, outcome.landed) == (1, 1)  # s/4 is a candidate of s/1 alone


CANDIDATES = {"s/1": ["s/2", "s/3", "s/4"], "s/3": ["s/1", "s/5", "s/6"]}


def test_statistics_of_a_changed_corpus_make_every_query_outdated(home, run):
    first = run("bm25", "bm25", "tfidf", idf="corpus") + run("bm25", idf="candidates")
    home.build({**PROBLEMS, "s/7": ("A new problem about primes.", "Count.")}, CANDIDATES)
    second = run("bm25", "tfidf", idf="corpus") + run("bm25", idf="candidates")
    assert [outcome.landed for outcome in second] == [2, 2, 0]
    assert [outcome.run_id for outcome in first] == [outcome.run_id for outcome in second]


def test_statistics_from_candidates_and_corpus_are_different_runs(home, run):
    corpus, candidates = run("bm25", idf="corpus") + run("bm25", idf="candidates")
    assert corpus.run_id.split(".")[3] == "corpus"
    assert candidates.run_id.split(".")[3] == "candidates"
    scores = {(row["idf"], row["document_id"]): row["score"] for row in landed(home) if row["query_id"] == "s/1"}
    assert scores["corpus", "s/2"] != scores["candidates", "s/2"]


def test_a_system_without_statistics_is_one_run_whatever_idf_says(home, run):
    first, second = run("jaccard", idf="corpus") + run("jaccard", idf="candidates")
    assert first.run_id == second.run_id
    assert (first.run_id.split(".")[3], second.rows) == ("none", 0)


def test_idf_of_the_settings_is_the_default(tmp_path):
    home = RetrievalHome(tmp_path, settings='[retrieval]\nidf = "candidates"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SABER_SETTINGS", str(tmp_path / "saber.toml"))
        (outcome,) = retrieve(home.arguments("bm25"))
    assert ".candidates.candidates." in outcome.run_id


def test_corpus_scope_lands_the_top_and_is_resumed(home, run):
    (outcome,) = run("bm25", scope="corpus", top=2)
    assert (outcome.rows, ".corpus.corpus." in outcome.run_id) == (4, True)
    assert all(row["query_id"] != row["document_id"] for row in landed(home))
    assert run("bm25", scope="corpus", top=2)[0].rows == 0
    (more,) = run("bm25", scope="corpus")
    assert more.run_id != outcome.run_id
    assert more.rows == 10
    assert run("bm25", scope="corpus")[0].rows == 0


def test_corpus_scope_has_no_candidates_to_take_statistics_from(run):
    with pytest.raises(SaberError, match="--scope candidates"):
        run("bm25", scope="corpus", idf="candidates")


def test_scores_of_equal_documents_are_ranked_by_id(tmp_path):
    problems = {name: ("Same words here.", f"Solution {name}.") for name in ("s/9", "s/10", "s/2", "s/1")}
    home = RetrievalHome(tmp_path, problems, {"s/1": ["s/9", "s/10", "s/2"]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SABER_SETTINGS", str(tmp_path / "saber.toml"))
        retrieve(home.arguments("bm25", "tfidf", "jaccard"))
    by_run: dict[str, list[str]] = {}
    for row in sorted(landed(home), key=lambda row: row["rank"]):
        by_run.setdefault(row["system"], []).append(row["document_id"])
    assert by_run == {system: ["s/10", "s/2", "s/9"] for system in ("bm25", "tfidf", "jaccard")}


# --- identity and parameters -----------------------------------------------------------------------------


def test_run_id_depends_on_parameters_and_variant_not_on_versions_or_corpus(home):
    benchmark = home.benchmark()

    def of(system: System, bench=benchmark) -> str:
        return plan_run(system, "full-full", "candidates", "corpus", 1000, bench, home.context()).run_id

    assert of(BM25()) == of(BM25(k1=1.5))
    assert of(BM25()) != of(BM25(k1=1.2))
    assert of(BM25()) != of(BM25(), replace(benchmark, variant="other"))
    other_corpus = replace(benchmark, hashes=[*benchmark.hashes[:-1], "changed"])
    assert other_corpus.fingerprint != benchmark.fingerprint
    assert of(BM25()) == of(BM25(), other_corpus)


def test_parameters_from_the_command_line(home):
    systems = configured_systems(["bm25", "jaccard"], home.settings, ["k1=1.2", "jaccard.tokeniser=mathematics"])
    assert systems[0] == BM25(k1=1.2)
    assert systems[1].parameters == {"tokeniser": "mathematics"}
    assert configured_systems(["random"], home.settings, []) == [Random(seed=home.settings.retrieval.seed)]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("k1", "KEY=VALUE"),
        ("k2=1", "fits none"),
        ("tfidf.k1=1", "fits none"),
        ("bm25.k2=1", "no parameter 'k2'"),
        ("k1=much", "type float"),
        ("b=nan", "type float"),
    ],
)
def test_bad_parameters_are_refused(home, given, words):
    with pytest.raises(SaberError, match=words):
        configured_systems(["bm25"], home.settings, [given])


def test_entry_points_bring_systems(monkeypatch):
    class Point:
        name, value = "theirs", "theirs:System"

        def load(self):
            return Theirs if self.name == "theirs" else int

    @dataclass(frozen=True)
    class Theirs(Random):
        name: ClassVar[str] = "theirs"

    from annotate.retrieval import registry

    monkeypatch.setattr(registry, "entry_points", lambda group: [Point()] if group == "saber.systems" else [])
    assert system_class("theirs") is Theirs
    assert "theirs" in registry.system_names()
    monkeypatch.setattr(Point, "name", "mine")
    with pytest.raises(SaberError, match="no system of that name"):
        system_class("mine")


# --- failures --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Broken(System):
    """Ranks the first query, then does as told."""

    name: ClassVar[str] = "broken"
    fault: str = "stop"

    def run(self, task: Task) -> Iterator[Scored]:
        first, second = task.queries
        yield Scored(first, first.documents[::-1], np.arange(len(first.documents), dtype=float), 0.5)
        if self.fault == "stop":
            return
        if self.fault == "raise":
            raise SaberError("the server is gone")
        if self.fault == "code":
            raise ZeroDivisionError("division by zero")
        if self.fault == "short":
            yield Scored(second, second.documents, [1.0], 0.5)
        if self.fault == "words":
            yield Scored(second, second.documents, ["a"] * len(second.documents), 0.5)
        if self.fault == "twice":
            yield Scored(second, second.documents[[0, 0, 1]], np.zeros(3), 0.5)
        if self.fault == "foreign":
            others = np.setdiff1d(np.arange(len(task.documents)), second.documents)
            yield Scored(second, others[-1:], np.zeros(1), 0.5)
        yield Scored(second, second.documents, np.full(len(second.documents), np.nan), 0.5)


@pytest.fixture
def broken(monkeypatch):
    monkeypatch.setattr(retrieval_job, "resolve", lambda name, settings: (Broken, {}))


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("raise", "gone"),
        # a fault in the code of a system of one's own ended in a traceback, and so did too few scores
        (
            "code",
            r"broken failed in run broken\..*: ZeroDivisionError: division by zero .*test_retrieval_runs.py line",
        ),
        ("short", r"scores of shape \(1,\) for the 3 documents of query s/3"),
        ("words", "scores of query s/3 .* are no numbers"),
        ("nan", "no finite number .*: s/3 s/1"),
        ("twice", "ranked twice .*: s/3 s/1"),
        ("foreign", "may not be ranked .*: s/3 s/4"),
    ],
)
def test_queries_ranked_before_a_failure_are_kept(home, run, fault, words):
    with pytest.raises(SaberError, match=words):
        run("broken", param=[f"fault={fault}"])
    assert [(row["query_id"], row["document_id"], row["rank"]) for row in landed(home)] == [
        ("s/1", "s/2", 1),  # the scores came for the documents in reverse
        ("s/1", "s/3", 2),
        ("s/1", "s/4", 3),
    ]
    assert sum(row["latency_s"] for row in landed(home)) == pytest.approx(0.5)
    assert home.landing.read("jobs")["state"].to_pylist()[-1] == "failed"


@dataclass(frozen=True)
class Lists(System):
    """Gives lists where arrays are usual."""

    name: ClassVar[str] = "lists"

    def run(self, task: Task) -> Iterator[Scored]:
        for query in task.queries:
            yield Scored(query, query.documents.tolist(), list(range(len(query.documents))), 0.0)


def test_lists_of_scores_are_as_good_as_arrays(home, run, monkeypatch):
    monkeypatch.setattr(retrieval_job, "resolve", lambda name, settings: (Lists, {}))
    (outcome,) = run("lists")
    assert (outcome.landed, outcome.missing) == (2, 0)
    assert [row["document_id"] for row in landed(home) if row["query_id"] == "s/1"] == ["s/4", "s/3", "s/2"]


@pytest.mark.usefixtures("broken")
def test_a_query_without_a_ranking_makes_the_job_incomplete(home, run):
    (outcome,) = run("broken")
    assert (outcome.landed, outcome.missing) == (1, 1)
    assert home.landing.read("jobs")["state"].to_pylist()[-1] == "incomplete"


# --- command line ----------------------------------------------------------------------------------------


def test_command_line(home, capsys, monkeypatch):
    monkeypatch.setenv("SABER_SETTINGS", str(home.home.parent / "saber.toml"))
    call = ["retrieve", "--home", str(home.home), "--json", "--system", "random", "tfidf"]
    assert main(call) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [(row["landed"], row["current"]) for row in printed] == [(2, 0)] * 6  # two systems, three settings
    assert main(call) == 0
    assert [row["current"] for row in json.loads(capsys.readouterr().out)] == [2] * 6
    assert main([*call, "--setting", "full"]) == 1
    assert "full-full" in capsys.readouterr().err
    assert main(["retrieve", "--home", str(home.home)]) == 1
    assert main(["retrieve", "--list", "--json"]) == 0
    assert "bm25-math" in [row["system"] for row in json.loads(capsys.readouterr().out)]


def test_a_package_that_cannot_be_loaded_hides_no_other_system(capsys, monkeypatch):
    class Point:
        name, value = "theirs", "theirs:System"

        def load(self):
            raise ModuleNotFoundError("No module named 'theirs'")

    from annotate.retrieval import registry

    monkeypatch.setattr(registry, "entry_points", lambda group: [Point()])
    assert main(["retrieve", "--list", "--json"]) == 0
    shown = {row["system"]: row["description"] for row in json.loads(capsys.readouterr().out)}
    assert "No module named 'theirs'" in shown["theirs"]
    assert shown["bm25"] == "BM25 over words."


def test_no_queries_is_nothing_to_do(tmp_path, monkeypatch):
    home = RetrievalHome(tmp_path, candidates={})
    monkeypatch.setenv("SABER_SETTINGS", str(tmp_path / "saber.toml"))
    assert main(["retrieve", "--home", str(home.home), "--system", "bm25"]) == 0
    assert landed(home) == []


def test_the_warehouse_file_is_not_held_while_ranking(home, run, monkeypatch):
    import duckdb

    @dataclass(frozen=True)
    class Builder(Random):
        name: ClassVar[str] = "builder"

        def run(self, task: Task) -> Iterator[Scored]:
            with duckdb.connect(str(home.home / "warehouse.duckdb")) as connection:
                connection.execute("create table main.written_meanwhile as select 1 as x")
            return super().run(task)

    monkeypatch.setattr(retrieval_job, "resolve", lambda name, settings: (Builder, {}))
    assert run("builder")[0].landed == 2
