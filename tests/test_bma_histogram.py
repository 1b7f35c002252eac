"""Dense rows and histograms of the topic signal against integer arithmetic on the rounded similarities."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_bma_blocks import realistic, space_of
from topic_corpora import Corpus, brute_lin, corpora, set_lists

from udfs import bma_dense, bma_histogram
from udfs.bma import best_match_averages
from udfs.bma_dense import bma_rows
from udfs.bma_histogram import N_BINS, added_pair_histogram, pair_histogram
from udfs.bma_space import SetSpace
from udfs.topic_sets import TopicSets


def rounded_bma(corpus: Corpus) -> list[list[Fraction]]:
    """Averages of Lin rounded to 2^-20, as fractions: no floating point at all after the rounding."""
    lists = set_lists(corpus.sets)
    lin = {pair: Fraction(round(value * 2**20), 2**20) for pair, value in brute_lin(corpus).items()}

    def average(x: list[int], y: list[int]) -> Fraction:
        rows = sum(max(lin[t, u] for u in y) for t in x)
        return (rows + sum(max(lin[t, u] for t in x) for u in y)) / (len(x) + len(y))

    return [[average(x, y) for y in lists] for x in lists]


def random_weights(sets: TopicSets, groups: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, sets.multiplicity[:, None] + 1, (len(sets), groups))


def brute_histogram(corpus: Corpus, weights: np.ndarray) -> np.ndarray:
    averages = rounded_bma(corpus)
    histogram = np.zeros((weights.shape[1], N_BINS), dtype=np.int64)
    for x, row in enumerate(averages):
        for y, value in enumerate(row):
            others = int(corpus.sets.multiplicity[y]) - (x == y)
            histogram[:, int(value * 2**14)] += weights[x] * others
    return histogram


def test_hand_computed_histogram() -> None:
    # Sets {2}, {3} and twice {2, 3}; topics 2 and 3 share the root alone. Averages 0, 2/3, 2/3 and 1.
    corpus = Corpus([-1, 0, 0, 0], [[2], [3], [2, 3], [2, 3]])
    weights = np.array([[1, 0], [0, 0], [1, 2]])  # group 0: {2} and one {2, 3}; group 1: both {2, 3}
    histogram = pair_histogram(space_of(corpus), weights)
    assert {int(b): histogram[0, b] for b in np.flatnonzero(histogram[0])} == {0: 1, 10922: 4, 16384: 1}
    assert {int(b): histogram[1, b] for b in np.flatnonzero(histogram[1])} == {10922: 4, 16384: 2}


@settings(max_examples=40, deadline=None)
@given(corpora(problems=15, most=6), st.integers(1, 3), st.integers(0, 99))
def test_histogram_equals_integer_arithmetic(corpus: Corpus, groups: int, seed: int) -> None:
    weights = random_weights(corpus.sets, groups, seed)
    histogram = pair_histogram(space_of(corpus), weights)
    np.testing.assert_array_equal(histogram, brute_histogram(corpus, weights))
    assert histogram.sum(axis=1).tolist() == (weights.sum(axis=0) * (len(corpus.topics) - 1)).tolist()


@settings(max_examples=8, deadline=None)
@given(corpora(problems=7, most=30))
def test_histogram_of_large_sets_is_summed_in_float64(corpus: Corpus) -> None:
    weights = corpus.sets.multiplicity[:, None]
    np.testing.assert_array_equal(pair_histogram(space_of(corpus), weights), brute_histogram(corpus, weights))


@settings(max_examples=40, deadline=None)
@given(corpora(problems=15), st.lists(st.integers(0, 14), max_size=5))
def test_rows_are_the_rounded_averages(corpus: Corpus, chosen: list[int]) -> None:
    rows = np.array([row % len(corpus.sets) for row in chosen], dtype=np.int64)
    averages = bma_rows(space_of(corpus), rows)
    expected = np.array([rounded_bma(corpus)[row] for row in rows.tolist()], dtype=np.float64)
    np.testing.assert_array_equal(averages, expected.reshape(averages.shape).astype(np.float32))


def test_rows_are_close_to_the_definition() -> None:
    corpus = realistic(200)
    n = len(corpus.sets)
    x, y = (axis.ravel() for axis in np.indices((n, n)))
    exact = best_match_averages(corpus.ancestors, corpus.information_content, corpus.sets, x, y).reshape(n, n)
    averages = bma_rows(space_of(corpus), np.arange(n))
    assert np.abs(averages - exact).max() < 2.0**-20
    assert (averages == averages.T).all()


def test_tiles_threads_and_the_matrix_do_not_change_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = realistic(300, common=0.4)
    weights = random_weights(corpus.sets, 3, 1)
    expected = pair_histogram(space_of(corpus), weights, workers=1)
    rows = bma_rows(space_of(corpus), np.arange(40))
    for module in (bma_dense, bma_histogram):
        monkeypatch.setattr(module, "TILE_SETS", 23)
    np.testing.assert_array_equal(pair_histogram(space_of(corpus, 0), weights, workers=3), expected)
    np.testing.assert_array_equal(bma_rows(space_of(corpus, 0), np.arange(40), workers=3), rows)


@settings(max_examples=25, deadline=None)
@given(corpora(problems=15), st.integers(0, 99))
def test_earlier_and_added_pairs_make_the_whole(corpus: Corpus, seed: int) -> None:
    sets = corpus.sets
    rng = np.random.default_rng(seed)
    added = rng.integers(0, sets.multiplicity + 1)
    added_weights = rng.integers(0, added[:, None] + 1, (len(sets), 2))
    kept_weights = rng.integers(0, sets.multiplicity[:, None] - added[:, None] + 1, (len(sets), 2))
    space = space_of(corpus)
    before = SetSpace(
        corpus.ancestors,
        corpus.information_content,
        TopicSets(sets.starts, sets.topics, sets.multiplicity - added),
    )
    growth = added_pair_histogram(space, kept_weights + added_weights, added, added_weights)
    whole = pair_histogram(space, kept_weights + added_weights)
    np.testing.assert_array_equal(pair_histogram(before, kept_weights) + growth, whole)


def test_weights_must_fit_the_sets() -> None:
    corpus = Corpus([-1, 0, 0], [[1], [2], [2]])
    space = space_of(corpus)
    with pytest.raises(ValueError, match=r"weights have shape \(2,\), not \(2, groups\)"):
        pair_histogram(space, np.array([1, 2]))
    with pytest.raises(ValueError, match="weights of topic set 1 are not between"):
        pair_histogram(space, np.array([[1], [3]]))
    with pytest.raises(ValueError, match="More problems were added"):
        added_pair_histogram(space, np.array([[0], [1]]), np.array([0, 2]), np.array([[0], [2]]))


def test_no_sets_no_pairs() -> None:
    empty = TopicSets(np.array([0]), np.array([], np.int32), np.array([], np.int64))
    space = SetSpace(np.array([[0]], np.int32), np.array([0.0]), empty)
    assert pair_histogram(space, np.zeros((0, 2), int)).sum() == 0
    assert bma_rows(space, np.array([], int)).shape == (0, 0)
