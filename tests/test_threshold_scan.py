"""The threshold scan by hand and against its definition."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from udfs.threshold_scan import summary_histogram, threshold_curve

NAN = np.nan


def rows_of(matrix):
    return lambda chosen: matrix[chosen].copy()


def by_definition(topic, summary, membership, topic_grid, summary_grid, k):
    n = len(topic)
    counts = np.zeros(topic_grid.shape, dtype=int)
    for d in range(topic_grid.shape[0]):
        for g in range(topic_grid.shape[1]):
            for i in np.flatnonzero(membership[:, d]):
                t = [topic[i, j] >= topic_grid[d, g] for j in range(n) if j != i]
                s = [summary[i, j] >= summary_grid[d, g] for j in range(n) if j != i]
                classes = list(zip(t, s, strict=True))
                counts[d, g] += all(classes.count(c) >= k for c in ((True, False), (False, True), (True, True)))
    return counts


def test_four_problems_by_hand():
    """Problem 0 has one partner of each class at the first point (0.5, 0.5) and none of 'both' at (0.8, 0.5)."""
    topic = np.array([[1, 0.9, 0.6, 0.1], [0.9, 1, 0, 0], [0.6, 0, 1, 0], [0.1, 0, 0, 1]])
    summary = np.array([[1, 0.2, 0.7, 0.5], [0.2, 1, 0, 0], [0.7, 0, 1, 0], [0.5, 0, 0, NAN]])
    grid = np.array([[0.5, 0.8]]), np.array([[0.5, 0.5]])
    found = threshold_curve(rows_of(topic), rows_of(summary), np.ones((4, 1), bool), *grid, k=1)
    assert found.tolist() == [[1, 0]]


def test_counts_need_not_fall_along_the_grid():
    """At low thresholds everything is 'both', so fewer problems are eligible than higher up."""
    topic = np.array([[1.0, 0.9, 0.4, 0.9], [0.9, 1, 0, 0], [0.4, 0, 1, 0], [0.9, 0, 0, 1]])
    summary = np.array([[1.0, 0.9, 0.9, 0.4], [0.9, 1, 0, 0], [0.9, 0, 1, 0], [0.4, 0, 0, 1]])
    found = threshold_curve(
        rows_of(topic),
        rows_of(summary),
        np.eye(4, 1, dtype=bool),
        np.array([[0.3, 0.5]]),
        np.array([[0.3, 0.5]]),
        k=1,
    )
    assert found.tolist() == [[0, 1]]


def test_histogram_counts_ordered_pairs_without_self_or_null():
    similarity = np.array([[1, 0.5, 0.5], [0.5, 1, NAN], [0.5, NAN, NAN]])
    membership = np.array([[True, False], [True, True], [False, False]])
    first, second = summary_histogram(rows_of(similarity), membership)
    assert (first[0].tolist(), first[1].tolist()) == ([0.5], [3])
    assert (second[0].tolist(), second[1].tolist()) == ([0.5], [1])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 5))
def test_scan_equals_its_definition_for_any_block_size(seed, k, rows_at_once):
    rng = np.random.default_rng(seed)
    n = 9
    topic, summary = (np.round(rng.random((n, n)), 1) for _ in range(2))
    summary[rng.random((n, n)) < 0.1] = NAN
    membership = rng.random((n, 2)) < 0.6
    grids = [np.sort(np.round(rng.random((2, 4)), 1), axis=1) for _ in range(2)]
    found = threshold_curve(rows_of(topic), rows_of(summary), membership, *grids, k=k, rows_at_once=rows_at_once)
    assert (found == by_definition(topic, summary, membership, *grids, k)).all()
