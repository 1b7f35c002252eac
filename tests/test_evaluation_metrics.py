"""nDCG and its companions against hand-computed numbers, a plain computation, and the field's own tools."""

import csv
import math
import os
import random
from pathlib import Path

import ir_measures
import numpy as np
import pyarrow as pa
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import R, nDCG

from warehouse.errors import SaberError
from warehouse.metrics import measure_runs
from warehouse.settings import ROOT

REALDATA = Path(os.environ.get("SABER_REALDATA") or ROOT.parent / "shared" / "data")


def table(rows, *names):
    return pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)})


def measured(run, qrels, cutoffs=(10,), **options):
    """Return {(query, measure): row} of one run [(query, document, score), ...]."""
    runs = table([("run", *row) for row in run], "run_id", "query_id", "document_id", "score")
    rows = measure_runs(runs, table(qrels, "query_id", "document_id", "relevance"), cutoffs, **options).to_pylist()
    return {(row["query_id"], row["measure"]): row for row in rows}


def values(run, qrels, cutoffs=(10,), **options):
    return {key: row["value"] for key, row in measured(run, qrels, cutoffs, **options).items()}


QRELS = [("q", "a", 3.0), ("q", "b", 0.0), ("q", "c", 1.5), ("q", "d", 5.0)]


def test_both_gains_by_hand():
    """Order c, a, d: gains 2^1.5 - 1, 7, 31 at discounts 1, log2 3, 2; ideal d, a, c."""
    found = values([("q", "c", 0.9), ("q", "a", 0.5), ("q", "d", 0.1)], QRELS, (1, 3))
    low = 2**1.5 - 1
    exponential = (low + 7 / math.log2(3) + 31 / 2) / (31 + 7 / math.log2(3) + low / 2)
    linear = (1.5 + 3 / math.log2(3) + 5 / 2) / (5 + 3 / math.log2(3) + 1.5 / 2)
    assert found["q", "ndcg_exp@3"] == pytest.approx(exponential, abs=1e-12)
    assert found["q", "ndcg_lin@3"] == pytest.approx(linear, abs=1e-12)
    assert found["q", "ndcg_exp@1"] == pytest.approx(low / 31, abs=1e-12)
    assert found["q", "ndcg_lin@1"] == pytest.approx(0.3, abs=1e-12)


def test_measures_that_count_relevant_documents_by_hand():
    run = [("q", "b", 3.0), ("q", "c", 2.0), ("q", "d", 1.0)]
    found = values(run, QRELS, (1, 2), counts_relevant=True)
    assert {name: found["q", name] for name in ("recall@1", "hit@1", "rr@1", "recall@2", "hit@2", "rr@2")} == {
        "recall@1": 0.0, "hit@1": 0.0, "rr@1": 0.0, "recall@2": pytest.approx(1 / 3), "hit@2": 1.0, "rr@2": 0.5,
    }  # fmt: skip
    assert {measure for _, measure in values(run, QRELS)} == {"ndcg_exp@10", "ndcg_lin@10"}


def test_an_ideal_order_scores_one_and_documents_without_judgment_gain_nothing():
    ideal = [("q", "d", 4.0), ("q", "a", 3.0), ("q", "c", 2.0), ("q", "b", 1.0)]
    assert set(values(ideal, QRELS).values()) == {1.0}
    pushed = values([("q", "unknown", 9.0), *ideal], QRELS, (1,))
    assert set(pushed.values()) == {0.0}


def test_ties_are_broken_by_id_and_counted():
    """All equal: a, b, c, d in ascending order by default, d first as trec_eval does."""
    constant = [("q", document, 1.0) for document, _ in zip("dacb", range(4), strict=True)]
    rows = measured(constant, QRELS, (1,))
    assert rows["q", "ndcg_lin@1"]["value"] == pytest.approx(3 / 5)
    assert rows["q", "ndcg_lin@1"]["is_tied_at_cutoff"]
    assert rows["q", "ndcg_lin@1"]["n_tied"] == 1
    assert values(constant, QRELS, (1,), tie_break="trec")["q", "ndcg_lin@1"] == 1.0
    untied = measured([("q", "a", 2.0), ("q", "d", 1.0), ("q", "c", 1.0)], QRELS, (1, 2))
    assert not untied["q", "ndcg_lin@1"]["is_tied_at_cutoff"]
    assert untied["q", "ndcg_lin@1"]["n_tied"] == 0
    assert untied["q", "ndcg_lin@2"]["is_tied_at_cutoff"]


def test_trec_reads_scores_as_float32():
    """0.1 and 0.1 + 1e-9 are one float32, so trec_eval puts z before a; as float64 a is above."""
    run = [("q", "a", 0.1 + 1e-9), ("q", "z", 0.1)]
    qrels = [("q", "a", 1.0), ("q", "z", 0.0)]
    assert values(run, qrels, (1,))["q", "ndcg_lin@1"] == 1.0
    assert values(run, qrels, (1,), tie_break="trec")["q", "ndcg_lin@1"] == 0.0
    assert measured(run, qrels, (1,))["q", "ndcg_lin@1"]["n_tied"] == 1


def test_missing_and_degenerate_queries_are_told_apart():
    qrels = [*QRELS, ("none", "a", 0.0), ("missing", "a", 2.0), ("negative", "a", -2.0), ("negative", "b", 1.0)]
    rows = measured([("q", "d", 1.0), ("none", "a", 1.0), ("negative", "a", 1.0)], qrels)
    assert rows["missing", "ndcg_exp@10"]["value"] == 0.0
    assert rows["missing", "ndcg_exp@10"]["is_missing"]
    assert rows["none", "ndcg_exp@10"]["value"] is None
    assert not rows["none", "ndcg_exp@10"]["is_missing"]
    assert rows["negative", "ndcg_exp@10"]["value"] == 0.0  # spam gains nothing, it does not cost


def test_gains_beyond_any_number_have_no_exponential_score():
    rows = values([("q", "a", 1.0)], [("q", "a", 4000.0)])
    assert rows == {("q", "ndcg_exp@10"): None, ("q", "ndcg_lin@10"): 1.0}


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_scores_that_are_no_number_are_refused_by_name(score):
    with pytest.raises(SaberError, match=r"no finite number.*run q b"):
        measured([("q", "a", 1.0), ("q", "b", score)], QRELS)


def test_repeated_documents_are_refused_by_name():
    with pytest.raises(SaberError, match=r"ranked twice.*run q a"):
        measured([("q", "a", 1.0), ("q", "a", 0.5)], QRELS)


def plain_ndcg(run, qrels, k, tie_break, exponential):
    """nDCG of one query, straight from the definition: [(document, score)], {document: relevance}."""

    def gain(relevance):
        relevance = max(relevance, 0.0)
        return 2**relevance - 1 if exponential else relevance

    if tie_break == "trec":
        order = sorted(run, key=lambda row: (np.float32(row[1]), row[0]), reverse=True)
    else:
        order = sorted(run, key=lambda row: (-row[1], row[0]))
    gained = math.fsum(gain(qrels.get(d, 0.0)) / math.log2(i + 2) for i, (d, _) in enumerate(order[:k]))
    best = sorted(map(gain, qrels.values()), reverse=True)
    ideal = math.fsum(g / math.log2(i + 2) for i, g in enumerate(best[:k]))
    return gained / ideal if ideal else None


documents = st.sampled_from([f"d{n}" for n in range(8)])
relevances = st.dictionaries(documents, st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.25, 5.0]), min_size=1)
rankings = st.dictionaries(documents, st.sampled_from([0.0, 0.1, 0.1 + 1e-9, 0.5, 3.0, -2.0]), min_size=1)


@settings(max_examples=60, deadline=None)
@given(rankings, relevances, st.integers(1, 6), st.sampled_from(["document", "trec"]))
def test_equals_the_definition(run, qrels, k, tie_break):
    rows = [("q", document, score) for document, score in run.items()]
    found = values(rows, [("q", d, r) for d, r in qrels.items()], (k,), tie_break=tie_break)
    for name, exponential in (("ndcg_exp", True), ("ndcg_lin", False)):
        expected = plain_ndcg(list(run.items()), qrels, k, tie_break, exponential)
        assert found["q", f"{name}@{k}"] == (None if expected is None else pytest.approx(expected, abs=1e-11))


@settings(max_examples=60, deadline=None)
@given(rankings, relevances, st.integers(1, 6))
def test_where_nothing_is_tied_the_rule_does_not_matter(run, qrels, k):
    rows, graded = [("q", *row) for row in run.items()], [("q", *row) for row in qrels.items()]
    by_id = measured(rows, graded, (k,))["q", f"ndcg_exp@{k}"]
    as_trec = measured(rows, graded, (k,), tie_break="trec")["q", f"ndcg_exp@{k}"]
    assert by_id["value"] == as_trec["value"] or by_id["n_tied"] > 0


def graded_collection(seed, n_queries=20, n_documents=60):
    rng = random.Random(seed)
    names = [f"d{n:02d}" for n in range(n_documents)]
    qrels = [(f"q{q}", d, rng.choice([0, 0, 1, 2, 3])) for q in range(n_queries) for d in rng.sample(names, 30)]
    run = [(f"q{q}", d, rng.random()) for q in range(n_queries) for d in rng.sample(names, 40)]
    return qrels, run


def test_linear_gain_equals_ir_measures():
    qrels, run = graded_collection(1)
    found = values(run, qrels, (5, 10), counts_relevant=True)
    theirs = ir_measures.iter_calc(
        [nDCG @ 5, nDCG @ 10, R @ 5, R @ 10],
        [ir_measures.Qrel(*row) for row in qrels],
        [ir_measures.ScoredDoc(*row) for row in run],
    )
    names = {"nDCG": "ndcg_lin", "R": "recall"}
    compared = 0
    for metric in theirs:
        name, _, k = str(metric.measure).partition("@")
        assert found[metric.query_id, f"{names[name]}@{k}"] == pytest.approx(metric.value, abs=1e-9)
        compared += 1
    assert compared == 80


def as_pytrec(qrels, run, k):
    judged, ranked = {}, {}
    for query, document, relevance in qrels:
        judged.setdefault(query, {})[document] = int(relevance)
    for query, document, score in run:
        ranked.setdefault(query, {})[document] = score
    found = pytrec_eval.RelevanceEvaluator(judged, {f"ndcg_cut.{k}"}).evaluate(ranked)
    return {query: row[f"ndcg_cut_{k}"] for query, row in found.items()}


@pytest.mark.realdata
def test_trec_eval_s_own_expected_values():
    folder = need(REALDATA / "trec_eval")
    qrels = [(q, d, int(r)) for q, _, d, r in map(str.split, (folder / "qrels.test").open())]
    run = [(q, d, float(s)) for q, _, d, _, s, _ in map(str.split, (folder / "results.test").open())]
    expected = {name: value for name, _, value in map(str.split, (folder / "out.test.a").open())}
    cutoffs = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
    rows = measured(run, qrels, cutoffs, tie_break="trec", counts_relevant=True)
    means = {}
    for (_, name), row in rows.items():
        means.setdefault(name, []).append(row["value"])
    ours = {name: f"{sum(found) / len(found):.4f}" for name, found in means.items()}
    for k in cutoffs:
        assert ours[f"ndcg_lin@{k}"] == expected[f"ndcg_cut_{k}"]
        assert ours[f"recall@{k}"] == expected[f"recall_{k}"]
    assert ours["ndcg_lin@1000"] == expected["ndcg"]
    assert ours["rr@1000"] == expected["recip_rank"]
    assert [ours["hit@5"], ours["hit@10"]] == [expected["success_5"], expected["success_10"]]


@pytest.mark.realdata
@pytest.mark.parametrize("kind", ["random", "constant", "coarse"])
@pytest.mark.parametrize("file", ["qrel_task1_2020.tsv", "qrel_task1_2022.tsv"])
def test_trec_order_equals_pytrec_eval_on_arqmath(file, kind):
    with (need(REALDATA / "arqmath_qrels") / file).open() as lines:
        qrels = [(query, document, int(level)) for query, _, document, level in csv.reader(lines, delimiter="\t")]
    rng = random.Random(kind)
    draw = {"random": rng.random, "constant": lambda: 1.0, "coarse": lambda: round(rng.random(), 1)}[kind]
    run = [(query, document, draw()) for query, document, _ in qrels]
    trec, default = measured(run, qrels, tie_break="trec"), measured(run, qrels)
    theirs = as_pytrec(qrels, run, 10)
    assert len(theirs) > 70
    differences = 0
    for query, value in theirs.items():
        ours = trec[query, "ndcg_lin@10"]["value"]
        assert (ours or 0.0) == pytest.approx(value, abs=1e-9)
        if default[query, "ndcg_lin@10"]["value"] != ours:
            differences += 1
            assert default[query, "ndcg_lin@10"]["n_tied"] > 0
    assert (differences > 0) == (kind != "random")


def need(folder):
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent: set SABER_REALDATA to the folder with the real data")
    return folder
