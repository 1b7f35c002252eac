"""Histograms by hand, and the threshold curve on two corpora small enough for the head."""

import math

import numpy as np

from udfs.bma_space import SetSpace
from udfs.jaccard_histogram import row_classes
from udfs.jaccard_index import TokenSetIndex
from udfs.signal_histograms import SCHEMA, histogram_blocks
from udfs.similarity_levels import SimilarityRows
from udfs.threshold_curve import threshold_curve
from udfs.topic_sets import TopicSets

NAN = math.nan


def curve(topic, summary, membership, *grid):
    signals = [SimilarityRows(lambda rows, m=m: np.array(m)[rows].copy()) for m in (topic, summary)]
    return threshold_curve(*signals, membership, *map(np.array, grid), 1).tolist()


def test_four_problems_by_hand():
    """Problem 0 has one partner of each class at the first level (0.5, 0.5) and none of 'both' at (0.8, 0.5)."""
    topic = [[1, 0.9, 0.6, 0.1], [0.9, 1, 0, 0], [0.6, 0, 1, 0], [0.1, 0, 0, 1]]
    summary = [[1, 0.2, 0.7, 0.5], [0.2, 1, 0, 0], [0.7, 0, 1, 0], [0.5, 0, 0, NAN]]
    assert curve(topic, summary, np.ones((4, 1), bool), [[0.5, 0.8]], [[0.5, 0.5]]) == [[1, 0]]


def test_counts_need_not_fall_along_the_grid():
    """At low thresholds everything is 'both', so fewer problems are eligible than higher up."""
    topic = [[1.0, 0.9, 0.4, 0.9], [0.9, 1, 0, 0], [0.4, 0, 1, 0], [0.9, 0, 0, 1]]
    summary = [[1.0, 0.9, 0.9, 0.4], [0.9, 1, 0, 0], [0.9, 0, 1, 0], [0.4, 0, 0, 1]]
    assert curve(topic, summary, np.eye(4, 1, dtype=bool), [[0.3, 0.5]], [[0.3, 0.5]]) == [[0, 1]]


def test_histograms_by_hand():
    """Problems 0 and 1 share a topic, 2 has one of another branch; {a, b}, {a, b, c, d}, {a} as summaries."""
    space = SetSpace(
        np.array([[0, -1], [0, 1], [0, 2]], dtype=np.int32),
        np.array([0.0, 0.4, 1.1]),
        TopicSets(np.array([0, 1, 2]), np.array([1, 2], dtype=np.int32), np.array([2, 1])),
    )
    membership = np.array([[True, False], [True, True], [False, True]])
    classes = row_classes(membership)
    index = TokenSetIndex(np.array([0, 2, 6, 7]), np.array([0, 1, 0, 1, 2, 3, 0]), classes=classes.of_row)
    arguments = (space, np.array([0, 0, 1]), index, classes, membership, ["first", "second"])
    blocks = list(histogram_blocks(*arguments, workers=1))
    assert [number for number, _ in blocks] == [0, 1]
    assert all(batch.schema == SCHEMA for _, batch in blocks)
    found = {(r["domain"], r["signal"], r["value"]): r["n_pairs"] for _, b in blocks for r in b.to_pylist()}
    assert found == {
        ("first", "topic", 1.0): 2,
        ("first", "topic", 0.0): 2,
        ("second", "topic", 1.0): 1,
        ("second", "topic", 0.0): 3,
        ("first", "summary", 0.5): 3,  # 2/4 twice and 1/2
        ("first", "summary", 0.25): 1,
        ("second", "summary", 0.5): 2,
        ("second", "summary", 0.25): 2,
    }
    resumed = list(histogram_blocks(*arguments, start_block=1, workers=1))
    assert [(number, batch.to_pydict()) for number, batch in resumed] == [(1, blocks[1][1].to_pydict())]
