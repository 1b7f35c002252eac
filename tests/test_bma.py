"""Best-match average: hand-computed values, brute force, the Arrow forms, and the order of summation in SQL."""

import math

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_corpora import Corpus, brute_bma, brute_lin, corpora, set_lists

from udfs.bma import (
    best_match_average,
    best_match_average_of_matrix,
    best_match_averages,
    qualifying_threshold,
)
from udfs.jaccard import qualifies
from udfs.topic_sets import distinct_topic_sets

LISTS = pa.list_(pa.float64())


def all_pairs(corpus: Corpus) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sets = corpus.sets
    x, y = (axis.ravel() for axis in np.indices((len(sets), len(sets))))
    return x, y, best_match_averages(corpus.ancestors, corpus.information_content, sets, x, y)


def test_hand_computed_average_takes_both_directions() -> None:
    # x = {a, b}, y = {c}: Lin(a, c) = 0.9, Lin(b, c) = 0.3. Rows 0.9 + 0.3, column 0.9: 2.1 / 3.
    rows, columns = pa.array([[0.9, 0.3]], LISTS), pa.array([[0.9]], LISTS)
    assert best_match_average(rows, columns).to_pylist() == [pytest.approx(0.7)]
    matrix = pa.array([[0.9, 0.3]], LISTS)
    assert best_match_average_of_matrix(matrix, pa.array([1])).to_pylist() == [pytest.approx(0.7)]
    # Read as one row of two columns it is {c} against {a, b}: the same pair.
    assert best_match_average_of_matrix(matrix, pa.array([2])).to_pylist() == [pytest.approx(0.7)]


def test_hand_computed_average_on_an_ontology() -> None:
    # root 0 ── 1 ── 3, 4; 2. c = 8, 6, 2, 3, 1. Lin(3, 4) = 2 ln(8/6) / (ln(8/3) + ln 8) = 0.18801086
    corpus = Corpus([-1, 0, 0, 1, 1], [[3, 4], [2, 3], [3], [2], [1], [1]])
    sets, set_of_problem = distinct_topic_sets(*corpus.annotations, len(corpus.topics))
    values = best_match_averages(
        corpus.ancestors, corpus.information_content, sets, set_of_problem[[0, 0]], set_of_problem[[1, 2]]
    )
    # {3, 4} with {2, 3}: rows 1 + 0.188, columns 0 + 1: 2.188 / 4. With {3}: (1 + 0.188 + 1) / 3.
    assert values.tolist() == [pytest.approx(2.18801086 / 4, abs=1e-8), pytest.approx(2.18801086 / 3, abs=1e-8)]


def test_empty_and_unknown_are_null() -> None:
    rows = pa.array([[], None, [0.5], [None], [0.5]], LISTS)
    columns = pa.array([[0.5], [0.5], None, [0.5], [0.5, 0.5]], LISTS)
    assert best_match_average(rows, columns).to_pylist() == [None, None, None, None, 0.5]
    matrix = pa.array([[], None, [0.5], [None], [0.5]], LISTS)
    width = pa.array([1, 1, None, 1, 1])
    assert best_match_average_of_matrix(matrix, width).to_pylist() == [None, None, None, None, 0.5]


def test_chunks_and_slices_do_not_matter() -> None:
    rows = pa.chunked_array([pa.array([[9.0], [1.0, 0.5], None], LISTS)[1:], pa.array([[0.25]], LISTS)])
    columns = pa.chunked_array([pa.array([[1.0], [1.0], [0.25]], LISTS)])
    assert best_match_average(rows, columns).to_pylist() == [2.5 / 3, None, 0.25]


def test_malformed_input_is_refused() -> None:
    with pytest.raises(ValueError, match="1 rows of row maxima, 2 of column maxima"):
        best_match_average(pa.array([[1.0]], LISTS), pa.array([[1.0], [1.0]], LISTS))
    with pytest.raises(ValueError, match="not a whole number of rows"):
        best_match_average_of_matrix(pa.array([[1.0, 0.0, 0.5]], LISTS), pa.array([2]))


def test_registers_as_a_duckdb_function() -> None:
    con = duckdb.connect()
    con.create_function(
        "bma", best_match_average, [LISTS_SQL, LISTS_SQL], "DOUBLE", type="arrow", null_handling="special"
    )
    query = "select bma(list_value(1.0, i / 5000), list_value(1.0)) from range(5000) t(i) order by i"
    values = [row[0] for row in con.execute(query).fetchall()]
    assert values == [(1.0 + i / 5000 + 1.0) / 3 for i in range(5000)]
    assert con.execute("select bma(null, [1.0])").fetchall() == [(None,)]


LISTS_SQL = "DOUBLE[]"


@settings(max_examples=60, deadline=None)
@given(corpora())
def test_equals_brute_force_to_the_bit(corpus: Corpus) -> None:
    x, y, values = all_pairs(corpus)
    lists, lin = set_lists(corpus.sets), brute_lin(corpus)
    assert values.tolist() == [brute_bma(lin, lists[a], lists[b]) for a, b in zip(x, y, strict=True)]


@settings(max_examples=60, deadline=None)
@given(corpora())
def test_symmetric_in_range_and_one_on_itself(corpus: Corpus) -> None:
    _, _, values = all_pairs(corpus)
    n = len(corpus.sets)
    matrix = values.reshape(n, n)
    assert (matrix == matrix.T).all()
    assert (np.diag(matrix) == 1.0).all()
    assert ((matrix >= 0.0) & (matrix <= 1.0)).all()


@settings(max_examples=30, deadline=None)
@given(corpora(), st.randoms(use_true_random=False))
def test_numbering_of_topics_and_problems_does_not_matter(corpus: Corpus, random: object) -> None:
    names = list(range(len(corpus.parent)))
    random.shuffle(names)  # type: ignore[attr-defined]
    parent = [-1] * len(names)
    for topic, above in enumerate(corpus.parent):
        parent[names[topic]] = names[above] if above >= 0 else -1
    renamed = Corpus(parent, [sorted(names[t] for t in topics) for topics in corpus.topics][::-1])
    n = len(corpus.topics)

    def by_problem(one: Corpus) -> np.ndarray:
        sets, of = distinct_topic_sets(*one.annotations, n)
        values = best_match_averages(one.ancestors, one.information_content, sets, np.repeat(of, n), np.tile(of, n))
        return values.reshape(n, n)

    # Another numbering is another order of summation: equal up to rounding.
    np.testing.assert_allclose(by_problem(renamed)[::-1, ::-1], by_problem(corpus), rtol=0, atol=1e-14)


@settings(max_examples=20, deadline=None)
@given(corpora(most=12))
def test_sql_sums_in_the_same_order(corpus: Corpus) -> None:
    lin, lists = brute_lin(corpus), set_lists(corpus.sets)
    _, _, values = all_pairs(corpus)
    con = duckdb.connect()
    con.execute("create table lin (t int, u int, similarity double)")
    con.executemany("insert into lin values (?, ?, ?)", [(t, u, s) for (t, u), s in lin.items()])
    con.execute("create table member (s int, t int)")
    con.executemany("insert into member values (?, ?)", [(s, t) for s, topics in enumerate(lists) for t in topics])
    rows = con.execute(
        """
        with
            crossed as (
                select a.s as x, b.s as y, lin.t, lin.u, lin.similarity
                from lin join member as a on a.t = lin.t join member as b on b.t = lin.u
            ),
            best as (
                select x, y, 0 as side, t as topic, max(similarity) as best from crossed group by all
                union all
                select x, y, 1 as side, u as topic, max(similarity) as best from crossed group by all
            ),
            sides as (
                select x, y, side, list_sum(list(best order by topic)) as total, count(*) as n from best group by all
            )
        select x, y, (any_value(total) filter (side = 0) + any_value(total) filter (side = 1)) / sum(n)
        from sides group by x, y order by x, y
        """
    ).fetchall()
    assert [value for _, _, value in rows] == values.tolist()


def test_published_thresholds_were_applied_to_float16() -> None:
    threshold = 0.8579101562504547
    published = qualifying_threshold(threshold, "published")
    assert published < threshold == qualifying_threshold(threshold, "exact")
    # 0.8579101562504547 rounds to the float16 0.85791015625 = 1757 / 2048; 1756.5 / 2048 ties to the even 1756.
    assert published == math.nextafter(1756.5 / 2048, 1.0)
    jaccard = qualifying_threshold(0.21057128906295475, "published")
    assert jaccard <= 4 / 19
    assert 4 / 19 < 0.21057128906295475


@settings(max_examples=200, deadline=None)
@given(st.floats(0, 1), st.floats(-2e-3, 2e-3))
def test_qualifying_threshold_is_the_comparison(threshold: float, offset: float) -> None:
    for comparison in ("exact", "published"):
        limit = qualifying_threshold(threshold, comparison)
        for value in (threshold + offset, limit, math.nextafter(limit, -math.inf), math.nextafter(limit, math.inf)):
            assert (value >= limit) == bool(qualifies(value, threshold, comparison))


def test_thresholds_must_be_numbers() -> None:
    with pytest.raises(ValueError, match="not a number"):
        qualifying_threshold(math.nan)
    with pytest.raises(ValueError, match="Unknown comparison 'float8'"):
        qualifying_threshold(0.5, "float8")
