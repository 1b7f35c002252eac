"""The threshold curve against the definition, its quantiles and the choice of levels by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from udfs import jaccard_levels
from udfs.jaccard_blocks import jaccard_rows, overlap_rows
from udfs.jaccard_index import TokenSetIndex
from udfs.jaccard_levels import TokenSignal
from udfs.similarity_levels import SimilarityRows, levels_reached
from udfs.threshold_curve import ChosenThresholds, choose_thresholds, lower_quantiles, threshold_curve


def from_matrix(similarity: np.ndarray) -> SimilarityRows:
    return SimilarityRows(lambda rows: similarity[rows])


def brute_force(
    topic: np.ndarray,
    summary: np.ndarray,
    membership: np.ndarray,
    topic_thresholds: np.ndarray,
    summary_thresholds: np.ndarray,
    k: int,
    texts: list[int] | None = None,
) -> list[list[int]]:
    n = len(membership)
    texts = list(range(n)) if texts is None else texts
    eligible = np.zeros(topic_thresholds.shape, dtype=int)
    for domain in range(membership.shape[1]):
        for level in range(topic_thresholds.shape[1]):
            for i in np.flatnonzero(membership[:, domain]):
                classes = [0, 0, 0]
                for j in range(n):
                    if texts[i] == texts[j]:
                        continue
                    by_topic = topic[i, j] >= topic_thresholds[domain, level]
                    by_summary = summary[i, j] >= summary_thresholds[domain, level]
                    if by_topic or by_summary:
                        classes[2 if by_topic and by_summary else 1 if by_summary else 0] += 1
                eligible[domain, level] += min(classes) >= k
    return eligible.tolist()


def random_case(seed: int) -> tuple:
    rng = np.random.default_rng(seed)
    n, n_domains, n_levels = int(rng.integers(1, 14)), int(rng.integers(1, 4)), int(rng.integers(1, 7))
    topic, summary = (rng.integers(0, 6, (n, n)) / 5 for _ in range(2))
    topic, summary = np.maximum(topic, topic.T), np.maximum(summary, summary.T)
    empty = rng.random(n) < 0.15
    summary[np.ix_(empty, empty)] = np.nan
    grids = [np.sort(rng.integers(0, 7, (n_domains, n_levels)) / 5, axis=1) for _ in range(2)]
    return topic, summary, rng.random((n, n_domains)) < 0.6, *grids, rng.integers(0, n, n)


def test_hand_counted() -> None:
    # Problem 0 and its partners 1..4; all other pairs have no similarity.
    topic, summary = np.zeros((5, 5)), np.zeros((5, 5))
    topic[0] = topic[:, 0] = [1, 0.9, 0.9, 0.5, 0.1]
    summary[0] = summary[:, 0] = [1, 0.4, 0.1, 0.3, 0.2]
    membership = np.array([[1, 0], [0, 1], [0, 1], [0, 1], [0, 0]], dtype=bool)
    topic_thresholds = np.array([[0.1, 0.5, 0.9], [0.5, 0.5, 0.5]])
    summary_thresholds = np.array([[0.1, 0.2, 0.4], [0.1, 0.1, 0.1]])
    # Level 0: all four are in both. Level 1: 1 and 3 both, 2 topic, 4 summary. Level 2: 1 both, 2 topic, no summary.
    curve = threshold_curve(
        from_matrix(topic), from_matrix(summary), membership, topic_thresholds, summary_thresholds, 1
    )
    assert curve.tolist() == [[0, 1, 0], [0, 0, 0]]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 2), st.booleans(), st.sampled_from([1, 1 << 20]))
def test_equals_the_definition(seed: int, k: int, with_texts: bool, memory_budget: int) -> None:
    topic, summary, membership, topic_thresholds, summary_thresholds, texts = random_case(seed)
    curve = threshold_curve(
        from_matrix(topic),
        from_matrix(summary),
        membership,
        topic_thresholds,
        summary_thresholds,
        k,
        text_of_problem=texts if with_texts else None,
        memory_budget=memory_budget,
        workers=1 + seed % 2,
    )
    expected = brute_force(
        topic,
        summary,
        membership,
        topic_thresholds,
        summary_thresholds,
        k,
        texts.tolist() if with_texts else None,
    )
    assert curve.tolist() == expected


def test_problems_that_share_a_set_share_its_row() -> None:
    by_set = np.array([[1.0, 0.3], [0.3, 1.0]])
    set_of_problem = np.array([0, 1, 1, 0, 1])
    shared = SimilarityRows(lambda rows: by_set[set_of_problem[rows]], columns=set_of_problem)
    whole = from_matrix(by_set[np.ix_(set_of_problem, set_of_problem)])
    rows, thresholds = np.array([3, 1]), np.array([0.2, 0.3, 0.9])
    levels = shared(rows)(np.array([1]), thresholds)
    assert levels.tolist() == whole(rows)(np.array([1]), thresholds).tolist() == [[2, 3, 3, 2, 3]]


def test_a_domain_without_thresholds_counts_nothing_and_progress_is_told() -> None:
    ones = from_matrix(np.ones((4, 4)))
    calls: list[tuple[int, int]] = []
    curve = threshold_curve(
        ones,
        from_matrix(np.array([[0, 1, 0, 1]] * 4)),
        np.ones((4, 2), dtype=bool),
        np.array([[0.5], [np.nan]]),
        np.array([[0.5], [0.5]]),
        1,
        memory_budget=1,
        progress=lambda *done: calls.append(done),
    )
    assert curve.tolist() == [[0], [0]]  # no pair is summary-only
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_wrong_arguments_are_refused() -> None:
    ones, membership = from_matrix(np.ones((2, 2))), np.ones((2, 1), dtype=bool)
    with pytest.raises(ValueError, match="at least 1"):
        threshold_curve(ones, ones, membership, np.array([[0.5]]), np.array([[0.5]]), 0)
    with pytest.raises(ValueError, match="fall along"):
        threshold_curve(ones, ones, membership, np.array([[0.5, 0.4]]), np.array([[0.5, 0.6]]), 1)
    with pytest.raises(ValueError, match=r"not \(1, levels\)"):
        threshold_curve(ones, ones, membership, np.array([[0.5, 0.6]]), np.array([[0.5]]), 1)


thresholds_lists = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.21057128906295475, 0.5, 1.0]), min_size=0, max_size=9)


@settings(max_examples=80, deadline=None)
@given(thresholds_lists, st.lists(st.sampled_from([np.nan, 0.0, 0.1, 0.15, 0.2, 0.5, 4 / 19, 1.0]), max_size=12))
def test_levels_equal_a_count(thresholds: list[float], similarities: list[float]) -> None:
    thresholds = sorted(thresholds)
    expected = [sum(value >= threshold for threshold in thresholds) for value in similarities]
    assert levels_reached(np.array(similarities), np.array(thresholds)).tolist() == expected


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("span", [1.0, 1e-3, 1e-12])
@pytest.mark.parametrize("n_levels", [3, 90, 400])
def test_levels_of_many_values_equal_a_binary_search(kind: type, span: float, n_levels: int) -> None:
    rng = np.random.default_rng(n_levels)
    thresholds = np.sort(0.3 + span * rng.random(n_levels)) if span < 1 else np.sort(rng.random(n_levels))
    values = rng.random((3, 50_000))
    values[:, ::3] = 0.3 + span * rng.random((3, 16_667))
    values[:, 1::7] = rng.choice(thresholds, (3, 7143))
    values[rng.random(values.shape) < 0.1] = np.nan
    similarity = values.astype(kind)
    expected = np.searchsorted(thresholds, similarity.astype(np.float64), side="right")
    expected[np.isnan(similarity)] = 0
    np.testing.assert_array_equal(levels_reached(similarity, thresholds), expected)


@pytest.mark.parametrize(("share", "table"), [(0.0, 1 << 20), (1.1, 1 << 20), (0.0, 0)])
def test_token_levels_equal_those_of_the_similarities(
    share: float, table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked up, listed or computed."""
    monkeypatch.setattr(jaccard_levels, "SPARSE_PARTNERS", share)
    monkeypatch.setattr(jaccard_levels, "_LARGEST_TABLE", table)
    rng = np.random.default_rng(3)
    sets = [set(rng.integers(0, 40, rng.integers(0, 15)).tolist()) for _ in range(300)]
    sets[5] = set(range(300))
    indptr = np.cumsum([0, *map(len, sets)])
    index = TokenSetIndex(indptr, np.array([t for s in sets for t in s]), memory_budget=1 << 22)
    rows, places = rng.permutation(300)[:20], np.array([3, 0, 11])
    thresholds = np.array([0.05, 0.1, 0.1, 0.25, 1 / 3, 0.5, 1.0])
    expected = levels_reached(jaccard_rows(index, rows)[places], thresholds)
    assert set(np.unique(expected)) >= {0, 1, 3, 4, 5, 7}
    levels = TokenSignal(index)(rows)(places, thresholds)
    for one in (levels, expected):
        one[np.arange(3), rows[places]] = 0
    np.testing.assert_array_equal(levels, expected)


def test_overlap_rows_are_intersections() -> None:
    sets = [{1, 2, 3}, {3}, set(), {2, 3, 9}]
    index = TokenSetIndex(np.cumsum([0, *map(len, sets)]), np.array([t for s in sets for t in s]))
    assert overlap_rows(index, np.array([3, 0])).tolist() == [[2, 1, 0, 3], [3, 1, 0, 2]]


def test_lower_quantiles_by_hand() -> None:
    values, counts = np.array([0.5, 0.1, 0.9, 0.5]), np.array([1, 2, 1, 1])  # 0.1 0.1 0.5 0.5 0.9
    shares = np.array([0.0, 0.2, 0.4, 0.41, 0.8, 0.81, 1.0])
    assert lower_quantiles(values, counts, shares).tolist() == [0.1, 0.1, 0.1, 0.5, 0.5, 0.9, 0.9]
    assert np.isnan(lower_quantiles(np.array([0.3]), np.array([0]), np.array([0.5]))).all()
    with pytest.raises(ValueError, match="outside"):
        lower_quantiles(values, counts, np.array([1.1]))
    with pytest.raises(ValueError, match="negative"):
        lower_quantiles(values, -counts, np.array([0.5]))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5)), min_size=1, max_size=12),
    st.lists(st.integers(0, 64), min_size=1, max_size=5),
)
def test_lower_quantiles_equal_the_definition(sample: list[tuple[int, int]], shares: list[int]) -> None:
    spread = sorted(value for value, count in sample for _ in range(count))
    values, counts = np.array(sample).T
    result = lower_quantiles(values / 8, counts, np.array(shares) / 64)
    for share, quantile in zip(shares, result.tolist(), strict=True):
        if not spread:
            assert np.isnan(quantile)
        else:
            reached = [v for v in spread if sum(w <= v for w in spread) * 64 >= share * len(spread)]
            assert quantile == min(reached) / 8


def test_the_largest_sufficient_level_is_chosen_though_counts_are_not_monotone() -> None:
    shares = [0.5, 0.7, 0.9, 0.95]
    eligible = np.array([[9, 2, 8, 3], [4, 4, 4, 4], [0, 20, 1, 0]])
    topic = np.array([[0.1, 0.2, 0.6, 0.9], [0.3, 0.4, 0.5, 0.6], [0.2, 0.7, 0.8, 0.9]])
    summary = topic / 2
    assert choose_thresholds(eligible, shares, topic, summary, 8) == ChosenThresholds((2, None, 1), 0.6, 0.35 - 0.05)
    assert choose_thresholds(eligible, shares[::-1], topic, summary, 8).level == (0, None, 1)
    assert choose_thresholds(eligible, shares, topic, summary, 99) == ChosenThresholds((None,) * 3, None, None)
