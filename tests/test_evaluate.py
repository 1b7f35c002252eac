"""warehouse.evaluate: the number of the SQL view for the same scores, by hand, in batches, and its refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from snapshot_home import SnapshotHome

import warehouse
from warehouse.collection import load_collection
from warehouse.errors import SaberError
from warehouse.runs import Runs
from warehouse.settings import load_settings


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Three queries with hand-made relevances."""
    made = SnapshotHome(tmp_path_factory.mktemp("evaluate"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SABER_SETTINGS", str(made.settings_file))
        patch.setenv("SABER_HOME", str(made.path))
        yield made


def by_number(query, documents):
    """Score "Solution 4." as 4: the documents of highest number come first."""
    return [float(document.rpartition("Solution ")[2][0]) for document in documents]


def test_by_hand(home):
    row = warehouse.evaluate(by_number)
    # s/1 ranks 6 (0), 5 (2.5), 4 (5); s/2 ranks 7 (1.25), 5 (5), 4 (0); s/3 ranks 8 (unjudged), 7 (0), 6 (5).
    second, third = 1 / math.log2(3), 0.5
    ideal_1 = 31 + (2**2.5 - 1) * second
    ideal_2 = 31 + (2**1.25 - 1) * second
    ndcg = {
        "s/1": ((2**2.5 - 1) * second + 31 * third) / ideal_1,
        "s/2": ((2**1.25 - 1) + 31 * second) / ideal_2,
        "s/3": 31 * third / 31,
    }
    assert row["overall"] == pytest.approx(sum(ndcg.values()) / 3, abs=1e-12)
    assert row["domains"]["Alpha"] == pytest.approx((ndcg["s/1"] + ndcg["s/2"]) / 2, abs=1e-12)
    assert row["domains"]["Beta"] == pytest.approx((ndcg["s/2"] + ndcg["s/3"]) / 2, abs=1e-12)
    linear = (2.5 * second + 5 * third) / (5 + 2.5 * second)
    linear += (1.25 + 5 * second) / (5 + 1.25 * second) + 5 * third / 5
    assert row["ndcg_lin_10"] == pytest.approx(linear / 3, abs=1e-12)
    assert (row["n_queries"], row["n_missing"], row["n_degenerate"], row["n_tied_at_cutoff"]) == (3, 0, 0, 0)
    assert (row["benchmark"], row["system"], row["judge"]) == ("test-bench", "by_number", "pairwise")
    assert row["share_judged"] == pytest.approx(8 / 9)


def test_the_gain_is_that_of_the_settings(home, tmp_path, monkeypatch):
    linear = tmp_path / "saber.toml"
    linear.write_text(home.settings_file.read_text() + '[evaluation]\ngain = "lin"\n')
    plain = warehouse.evaluate(by_number)
    monkeypatch.setenv("SABER_SETTINGS", str(linear))
    row = warehouse.evaluate(by_number)
    assert row["overall"] == plain["ndcg_lin_10"] != plain["overall"]
    assert row["overall_low"] <= row["overall"] <= row["overall_high"]


def test_batches_give_the_same_row(home):
    def many(queries, documents):
        return [by_number(query, texts) for query, texts in zip(queries, documents, strict=True)]

    one = warehouse.evaluate(by_number, name="x", per_query=True)
    for size in (1, 2, 100):
        found = warehouse.evaluate(many, name="x", batch=size, per_query=True)
        assert {**found, "seconds": 0} == {**one, "seconds": 0}


def test_a_query_left_out_scores_0_and_is_counted(home):
    row = warehouse.evaluate(lambda q, d: None if "number 1" in q else by_number(q, d), per_query=True)
    assert row["queries"]["s/1"] == 0
    assert row["n_missing"] == 1


def test_queries_without_an_ideal_gain_are_left_out_and_counted(tmp_path, monkeypatch):
    made = SnapshotHome(
        tmp_path, relevances={"s/1": {"s/4": 0.0, "s/5": 0.0}, "s/2": {"s/4": 5.0, "s/5": 1.0}, "s/3": {"s/4": None}}
    )
    monkeypatch.setenv("SABER_SETTINGS", str(made.settings_file))
    row = warehouse.evaluate(by_number, home=made.path, per_query=True)
    assert row["queries"]["s/1"] is None
    assert row["queries"]["s/3"] is None
    assert row["n_degenerate"] == 2
    assert row["overall"] == pytest.approx(row["queries"]["s/2"])


@pytest.mark.parametrize(
    ("scorer", "words"),
    [
        (lambda q, d: [1.0], "1 scores for the 3 documents of query s/1"),
        (lambda q, d: [1.0, float("nan"), 2.0], "no finite number for query s/1: s/5"),
        (lambda q, d: ["a", "b", "c"], "no numbers"),
        (lambda q, d: "abc", "no numbers"),
        (lambda q, d: {1.0, 2.0, 3.0}, "a set, which has no order"),
        # these ended in Python's own errors, or in a message that said 3 scores for the 3 documents
        (lambda q, d: [10**400] * len(d), "no numbers"),
        (lambda q, d: np.ones((len(d), 1)), r"scores of shape \(3, 1\) for the 3 documents"),
        (3, "must be a function"),
    ],
)
def test_unfit_scores_are_refused_by_name(home, scorer, words):
    with pytest.raises(SaberError, match=words):
        warehouse.evaluate(scorer)


@pytest.mark.parametrize(
    "kind",
    [
        tuple,
        iter,
        np.array,
        lambda scores: (score for score in scores),
        lambda scores: dict(enumerate(scores)).values(),
    ],
)
def test_scores_may_come_as_anything_in_order(home, kind):
    plain = warehouse.evaluate(by_number, name="x")
    row = warehouse.evaluate(lambda query, documents: kind(by_number(query, documents)), name="x")
    assert {**row, "seconds": 0} == {**plain, "seconds": 0}  # generators and views were refused as no numbers


def test_a_batch_without_scores_is_refused(home):
    with pytest.raises(SaberError, match="no scores for the 2 queries from s/1"):
        warehouse.evaluate(lambda queries, documents: None, batch=2)
    with pytest.raises(SaberError, match=r"batch must be at least 1 query a call, not 1\.5"):
        warehouse.evaluate(by_number, batch=1.5)


def test_unknown_names_are_refused(home):
    for given, words in (
        ({"setting": "full-statement"}, "No setting"),
        ({"scope": "world"}, "No scope"),
        ({"benchmark": "elsewhere"}, "No benchmark 'elsewhere'"),
        ({"batch": 0}, "at least 1"),
    ):
        with pytest.raises(SaberError, match=words):
            warehouse.evaluate(by_number, **given)


def test_scorers_see_the_texts_of_the_setting(home):
    seen = []

    def look(query, documents):
        seen.append((query, documents[0]))
        return [0.0] * len(documents)

    for setting in ("statement-statement", "statement-full", "full-full"):
        warehouse.evaluate(look, setting=setting)
    statement = "Statement 1 of problem number 1."
    full = "Problem: Statement 4 of problem number 4.\n\nSolution: Solution 4."
    assert seen[0] == (statement, "Statement 4 of problem number 4.")
    assert seen[3] == (statement, full)
    assert seen[6] == (f"Problem: {statement}\n\nSolution: Solution 1.", full)


def test_in_scope_corpus_a_query_ranks_all_but_itself(home):
    seen = {}

    def look(query, documents):
        seen[query] = len(documents)
        return by_number(query, documents)

    row = warehouse.evaluate(look, scope="corpus")
    assert set(seen.values()) == {7}
    assert row["scope"] == "corpus"


def test_nothing_lands(home):
    before = sorted(path.name for path in home.path.rglob("*"))
    warehouse.evaluate(by_number)
    assert sorted(path.name for path in home.path.rglob("*")) == before


def test_the_same_scores_give_exactly_the_numbers_of_the_view(sample_home, monkeypatch):
    """Every run of the sample, its landed scores handed back by a scorer, against evaluation.leaderboard."""
    home = sample_home.landing.home
    monkeypatch.setenv("SABER_SETTINGS", str(sample_home.settings_file))
    settings = load_settings(home)
    collection = load_collection(settings)
    runs = {facts["run_id"]: (facts, rows.to_pylist()) for facts, rows in Runs(settings, collection)}
    names = ["overall", *(column for _, column in collection.domain_columns), "ndcg_lin_10"]
    names += ["n_queries", "n_missing", "n_degenerate", "n_tied_at_cutoff", "share_judged", "judge"]
    expected = {
        row[0]: row[1:] for row in sample_home.rows(f"select run_id, {', '.join(names)} from evaluation.leaderboard")
    }
    assert expected.keys() == runs.keys()
    intervals = sample_home.rows("select run_id, domain, low, high from evaluation.bootstrap_intervals")
    for run_id in expected:
        facts, rows = runs[run_id]
        scores = {(row["query_id"], row["document_id"]): row["score"] for row in rows}
        ids = iter(collection.query_ids)

        def replay(query, documents, scores=scores, ids=ids):
            query_id = next(ids)
            return np.array([scores[query_id, one] for one in collection.candidates[query_id]])

        found = warehouse.evaluate(replay, home, facts["setting"])
        flat = {**found, **{column: found["domains"][domain] for domain, column in collection.domain_columns}}
        assert tuple(flat[name] for name in names) == expected[run_id]
        drawn = {domain: (low, high) for run, domain, low, high in intervals if run == run_id}
        assert (found["overall_low"], found["overall_high"]) == pytest.approx(drawn["overall"], abs=1e-11)
        for domain, ends in found["domain_intervals"].items():
            assert ends == pytest.approx(drawn[domain], abs=1e-11)


def test_ties_are_broken_as_the_settings_say(tmp_path, monkeypatch):
    """All scores equal: by ascending ids the best document of s/1 comes first, by descending ids last."""
    values = {}
    for rule in ("document", "trec"):
        made = SnapshotHome(
            tmp_path / rule,
            settings=f'[benchmark]\nname = "b"\n[evaluation]\ntie_break = "{rule}"\n[domains.test]\nAlpha = ["A"]\n',
        )
        monkeypatch.setenv("SABER_SETTINGS", str(made.settings_file))
        values[rule] = warehouse.evaluate(lambda q, d: [0.0] * len(d), made.path, per_query=True)["queries"]
    second, third = 1 / math.log2(3), 0.5
    ideal = 31 + (2**2.5 - 1) * second
    assert values["document"]["s/1"] == pytest.approx(1.0)
    assert values["trec"]["s/1"] == pytest.approx(((2**2.5 - 1) * second + 31 * third) / ideal)


def test_a_tie_at_the_cut_is_counted(tmp_path, monkeypatch):
    problems = {f"s/{n:02d}": (f"Statement {n}.", f"Solution {n}.") for n in range(13)}
    relevances = {"s/00": {f"s/{n:02d}": float(n % 6) for n in range(1, 13)}}
    made = SnapshotHome(tmp_path, problems, relevances, {})
    monkeypatch.setenv("SABER_SETTINGS", str(made.settings_file))
    tied = warehouse.evaluate(lambda q, d: [1.0] * 12, made.path)
    spread = warehouse.evaluate(lambda q, d: list(range(12)), made.path)
    assert (tied["n_tied_at_cutoff"], spread["n_tied_at_cutoff"]) == (1, 0)
