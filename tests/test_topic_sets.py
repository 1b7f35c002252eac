"""Distinct topic sets: grouping by definition, stable numbers, any size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_corpora import Corpus, corpora, set_lists

from udfs.topic_sets import TopicSets, distinct_topic_sets


def test_sets_are_numbered_by_first_appearance() -> None:
    problem = np.array([3, 0, 0, 1, 3, 1, 4])
    topic = np.array([7, 9, 2, 7, 5, 5, 2])
    sets, set_of_problem = distinct_topic_sets(problem, topic, 5)
    assert set_lists(sets) == [[2, 9], [5, 7], [2]]
    assert set_of_problem.tolist() == [0, 1, -1, 1, 2]
    assert sets.multiplicity.tolist() == [1, 2, 1]
    assert set_of_problem.dtype == np.int32


def test_no_annotations_no_sets() -> None:
    sets, set_of_problem = distinct_topic_sets(np.array([], int), np.array([], int), 2)
    assert len(sets) == 0
    assert set_of_problem.tolist() == [-1, -1]


def test_malformed_input_is_named() -> None:
    with pytest.raises(ValueError, match=r"outside 0\.\.1"):
        distinct_topic_sets(np.array([2]), np.array([0]), 2)
    one = np.array([1])
    with pytest.raises(ValueError, match="topic set 1 is not strictly ascending"):
        TopicSets(np.array([0, 1, 3]), np.array([5, 2, 2], np.int32), np.array([1, 1]))
    with pytest.raises(ValueError, match="topic set 0 is empty"):
        TopicSets(np.array([0, 0]), np.array([], np.int32), one)
    with pytest.raises(ValueError, match="do not fit together"):
        TopicSets(np.array([0, 2]), np.array([4], np.int32), one)


@settings(max_examples=60, deadline=None)
@given(corpora(most=6), st.randoms(use_true_random=False))
def test_grouping_is_the_definition_for_any_order_and_repeats(corpus: Corpus, random: object) -> None:
    problem, topic = corpus.annotations
    shuffled = np.concatenate([np.arange(len(problem)), np.arange(len(problem))[::3]])
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    sets, set_of_problem = distinct_topic_sets(problem[shuffled], topic[shuffled], len(corpus.topics))
    lists = set_lists(sets)
    assert [lists[s] for s in set_of_problem] == corpus.topics
    assert len({tuple(members) for members in lists}) == len(lists)
    assert sets.multiplicity.tolist() == np.bincount(set_of_problem).tolist()


@settings(max_examples=60, deadline=None)
@given(corpora(), st.integers(0, 25))
def test_adding_problems_later_gives_the_same_sets(corpus: Corpus, cut: int) -> None:
    cut = min(cut, len(corpus.topics))
    whole, set_of_problem = distinct_topic_sets(*corpus.annotations, len(corpus.topics))
    first, early = distinct_topic_sets(*Corpus(corpus.parent, corpus.topics[:cut]).annotations, cut)
    grown, late = distinct_topic_sets(
        *Corpus(corpus.parent, corpus.topics[cut:]).annotations, len(corpus.topics) - cut, known=first
    )
    assert set_lists(grown) == set_lists(whole)
    assert grown.multiplicity.tolist() == whole.multiplicity.tolist()
    assert np.concatenate([early, late]).tolist() == set_of_problem.tolist()


def test_sixty_topics_and_one() -> None:
    problem = np.concatenate([np.zeros(60, int), [1], np.full(60, 2)])
    topic = np.concatenate([np.arange(60)[::-1], [59], np.arange(60)])
    sets, set_of_problem = distinct_topic_sets(problem, topic, 3)
    assert sets.sizes.tolist() == [60, 1]
    assert set_of_problem.tolist() == [0, 1, 0]
