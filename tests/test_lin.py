"""Lin similarity: hand-computed values, brute force, and the float32 rows on their grid."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from topic_corpora import Corpus, brute_lin, corpora

from udfs.lin import GRID, TopicSimilarities, lin_similarity

# root 0 ── 1 ── 3, 4      annotations: 3 on topic 3, 1 on 4, 2 on 2, 2 on 1; IC = ln(8 / c), c = 8, 6, 2, 3, 1
#        └─ 2
CORPUS = Corpus([-1, 0, 0, 1, 1], [[3], [3], [3], [4], [2], [2], [1], [1]])


def lin(t: int, u: int) -> float:
    return float(lin_similarity(CORPUS.ancestors, CORPUS.information_content, np.array(t), np.array(u)))


def test_hand_computed_similarities() -> None:
    # LCA(3, 4) = 1: 2 ln(8/6) / (ln(8/3) + ln 8)
    assert lin(3, 4) == pytest.approx(0.18801086, abs=1e-8)
    # LCA(1, 3) = 1: 2 ln(8/6) / (ln(8/6) + ln(8/3))
    assert lin(1, 3) == pytest.approx(0.45357431, abs=1e-8)
    assert lin(3, 2) == 0.0  # they share the root alone


def test_a_topic_is_wholly_similar_to_itself_even_the_root() -> None:
    assert [lin(t, t) for t in range(5)] == [1.0] * 5
    assert lin(0, 3) == 0.0


def test_similarity_to_a_topic_nobody_uses_is_unknown() -> None:
    ic = CORPUS.information_content.copy()
    ic[4] = math.nan
    values = lin_similarity(CORPUS.ancestors, ic, np.array([3, 4, 4]), np.array([4, 3, 4]))
    assert np.isnan(values).tolist() == [True, True, False]


def test_topics_of_different_trees_are_not_similar() -> None:
    forest = Corpus([-1, -1, 0, 1], [[2], [3], [3]])
    assert lin_similarity(forest.ancestors, forest.information_content, np.array([2]), np.array([3])).tolist() == [
        0.0
    ]


def test_a_topic_without_information_content_is_named() -> None:
    ic = CORPUS.information_content.copy()
    ic[3] = math.nan
    with pytest.raises(ValueError, match=r"1 annotated topics have no information content \(3\)"):
        TopicSimilarities(CORPUS.ancestors, ic, np.array([2, 3]))


@settings(max_examples=60, deadline=None)
@given(corpora())
def test_equals_brute_force_and_is_symmetric_in_range(corpus: Corpus) -> None:
    expected = brute_lin(corpus)
    t, u = np.array(list(expected)).T
    values = lin_similarity(corpus.ancestors, corpus.information_content, t, u)
    assert values.tolist() == list(expected.values())
    swapped = lin_similarity(corpus.ancestors, corpus.information_content, u, t)
    assert values.tolist() == swapped.tolist()
    assert ((values >= 0.0) & (values <= 1.0)).all()


@settings(max_examples=60, deadline=None)
@given(corpora())
def test_rows_are_the_similarities_on_their_grid_with_and_without_a_matrix(corpus: Corpus) -> None:
    args = corpus.ancestors, corpus.information_content, corpus.annotations[1]
    kept, computed = TopicSimilarities(*args), TopicSimilarities(*args, memory_budget=0)
    topics = kept.topics
    exact = lin_similarity(*args[:2], topics[:, None], topics[None, :])
    positions = np.arange(len(topics))[::-2]
    rows, row_of_position = computed.rows(positions)
    matrix, _ = kept.rows(positions)
    assert len(rows) == len(positions)
    np.testing.assert_array_equal(rows[row_of_position[positions]], matrix[positions])
    np.testing.assert_array_equal(matrix, np.rint(exact / GRID) * GRID)
    assert kept.position[topics].tolist() == list(range(len(topics)))


@settings(max_examples=40, deadline=None)
@given(corpora())
def test_rows_vanish_outside_the_branch(corpus: Corpus) -> None:
    similarities = TopicSimilarities(corpus.ancestors, corpus.information_content, corpus.annotations[1])
    matrix, _ = similarities.rows(np.arange(len(similarities)))
    for row, start, stop in zip(matrix, similarities.branch_start, similarities.branch_stop, strict=True):
        assert not row[:start].any()
        assert not row[stop:].any()
