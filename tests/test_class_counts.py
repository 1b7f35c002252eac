"""Class counts against counting by hand and over all pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from udfs.class_counts import ClassCounts, SetPairs, class_counts, class_counts_by_slices


def stream(pairs: list[tuple[int, int]], size: int = 3) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for start in range(0, max(len(pairs), 1), size):
        part = np.array(pairs[start : start + size], dtype=np.int32).reshape(-1, 2)
        yield part[:, 0], part[:, 1]


def as_rows(counts: ClassCounts) -> list[tuple[int, int, int]]:
    columns = (counts.topic_only, counts.summary_only, counts.both)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def brute_force(sets: list[int], texts: list[int], topic: set, summary: set) -> list[tuple[int, int, int]]:
    rows = []
    for i, x in enumerate(sets):
        counts = [0, 0, 0]
        for j, y in enumerate(sets):
            if i == j or texts[i] == texts[j]:
                continue
            by_topic = x >= 0 and y >= 0 and (min(x, y), max(x, y)) in topic
            by_summary = (min(i, j), max(i, j)) in summary
            if by_topic or by_summary:
                counts[2 if by_topic and by_summary else 1 if by_summary else 0] += 1
        rows.append(tuple(counts))
    return rows


def test_hand_counted() -> None:
    # Sets A = {0, 1}, B = {2, 3, 4}, C = {5}. Topic: A-A, A-B. Summary: 0-1, 0-2, 4-5.
    sets = np.array([0, 0, 1, 1, 1, 2])
    counts = class_counts(sets, 3, stream([(0, 0), (0, 1)]), stream([(0, 1), (0, 2), (4, 5)]))
    assert as_rows(counts) == [
        (2, 0, 2),  # 0: 1 and 2 both, 3 and 4 by topic
        (3, 0, 1),  # 1: 0 both, 2, 3, 4 by topic
        (1, 0, 1),  # 2: 0 both, 1 by topic; B-B is no pair
        (2, 0, 0),
        (2, 1, 0),  # 4: 5 by summary
        (0, 1, 0),
    ]


def test_copies_of_a_text_are_no_partners() -> None:
    sets = np.array([0, 0, 1])
    texts = np.array([7, 7, 8])
    topic, summary = [(0, 0), (0, 1)], [(0, 1), (0, 2)]
    counts = class_counts(sets, 2, stream(topic), stream(summary), text_of_problem=texts)
    assert as_rows(counts) == [(0, 0, 1), (1, 0, 0), (1, 0, 1)]


corpora = st.integers(0, 2**32 - 1).map(lambda seed: random_corpus(np.random.default_rng(seed)))


def random_corpus(rng: np.random.Generator) -> tuple[list[int], list[int], int, set, set]:
    n, n_sets = int(rng.integers(0, 25)), int(rng.integers(1, 8))
    sets = rng.integers(-1, n_sets, n).tolist()
    texts = rng.integers(0, max(n, 1), n).tolist()
    topic = {(x, y) for x in range(n_sets) for y in range(x, n_sets) if rng.random() < 0.4}
    summary = {(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.3}
    return sets, texts, n_sets, topic, summary


@settings(max_examples=80, deadline=None)
@given(corpora)
def test_equals_a_loop_over_all_pairs(corpus: tuple) -> None:
    sets, texts, n_sets, topic, summary = corpus
    expected = brute_force(sets, texts, topic, summary)
    counts = class_counts(
        np.array(sets, dtype=int),
        n_sets,
        stream([(y, x) for x, y in topic]),
        stream([(j, i) for i, j in summary]),
        text_of_problem=np.array(texts, dtype=int),
    )
    assert as_rows(counts) == expected


@settings(max_examples=60, deadline=None)
@given(corpora, st.integers(1, 9))
def test_slices_give_the_same(corpus: tuple, sets_at_once: int) -> None:
    sets, texts, n_sets, topic, summary = corpus
    related = topic | {(y, x) for x, y in topic}
    partners = summary | {(j, i) for i, j in summary}
    counts = class_counts_by_slices(
        np.array(sets, dtype=int),
        n_sets,
        lambda chosen: stream([pair for pair in sorted(related) if pair[0] in chosen]),
        lambda rows: stream([pair for pair in sorted(partners) if pair[0] in rows]),
        sets_at_once=sets_at_once,
        text_of_problem=np.array(texts, dtype=int),
    )
    assert as_rows(counts) == brute_force(sets, texts, topic, summary)


@settings(max_examples=40, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=200), st.booleans())
def test_the_lookup_answers_like_a_set(pairs: set[tuple[int, int]], unordered: bool) -> None:
    if unordered:
        pairs = {(min(pair), max(pair)) for pair in pairs}
    held = SetPairs(41, stream(sorted(pairs)), unordered)
    x, y = (part.ravel() for part in np.meshgrid(np.arange(-1, 41), np.arange(-1, 41)))
    known = pairs | ({(b, a) for a, b in pairs} if unordered else set())
    assert held.contain(x, y).tolist() == [pair in known for pair in zip(x.tolist(), y.tolist(), strict=True)]


def test_a_pair_that_comes_twice_is_named() -> None:
    with pytest.raises(ValueError, match="1 and 2 comes twice"):
        class_counts(np.array([1, 2]), 3, stream([(1, 2), (2, 1)]), stream([]))
