"""The fraction histogram against counting by hand and by set arithmetic."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from udfs.jaccard_bit_counts import CountedLanes, count_values
from udfs.jaccard_histogram import OverlapHistogram, overlap_histogram, row_classes
from udfs.jaccard_index import TokenSetIndex
from udfs.jaccard_lanes import WIDTHS, pack

SMALL_BLOCKS = 1 << 22


def histogram_of(sets: list[set[int]], membership: np.ndarray, **arguments: int) -> OverlapHistogram:
    classes = row_classes(membership)
    return overlap_histogram(index_with(sets, classes.of_row), classes, **arguments)


def index_with(sets: list[set[int]], classes: np.ndarray) -> TokenSetIndex:
    indptr = np.cumsum([0, *map(len, sets)])
    indices = np.array([token for tokens in sets for token in tokens], dtype=np.int32)
    return TokenSetIndex(indptr, indices, classes=classes, memory_budget=SMALL_BLOCKS)


def as_counter(histogram: OverlapHistogram) -> Counter:
    columns = (histogram.group, histogram.common, histogram.union, histogram.n_pairs)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    keys = [row[:3] for row in rows]
    assert len(set(keys)) == len(keys)
    assert keys == sorted(keys, key=lambda key: (key[0], key[2], key[1]))
    return Counter({row[:3]: row[3] for row in rows})


def brute_force(sets: list[set[int]], membership: np.ndarray) -> Counter:
    counts: Counter = Counter()
    for i, x in enumerate(sets):
        for j, y in enumerate(sets):
            if i != j and x | y:
                for group in np.flatnonzero(membership[i]).tolist():
                    counts[group, len(x & y), len(x | y)] += 1
    return counts


def random_corpus(
    seed: int, n: int, mean: float, vocabulary: int, n_groups: int
) -> tuple[list[set[int]], np.ndarray]:
    rng = np.random.default_rng(seed)
    weights = 1 / (np.arange(vocabulary) + 2.0)
    sizes = np.minimum(rng.poisson(mean, n), vocabulary)
    sets = [set(rng.choice(vocabulary, k, False, weights / weights.sum()).tolist()) for k in sizes]
    return sets, rng.random((n, n_groups)) < 0.4


def test_hand_counted() -> None:
    sets = [{1, 2}, {2, 3}, {4}, set(), set()]
    membership = np.array([[1, 0], [1, 1], [0, 1], [0, 0], [1, 0]], dtype=bool)
    # Group 0: rows 0, 1 and 4 against all others; group 1: rows 1 and 2.
    # 0-1: 1/3. 0-2 and 1-2: 0/3. A pair with one empty set: 0 of the other's size. 3-4: no similarity.
    expected = Counter(
        {
            (0, 1, 3): 2,  # 0-1 from both ends
            (0, 0, 3): 2,  # 0-2, 1-2
            (0, 0, 2): 6,  # 0-3, 0-4, 1-3, 1-4 from rows 0 and 1; 4-0, 4-1
            (0, 0, 1): 1,  # 4-2
            (1, 1, 3): 1,  # 1-0
            (1, 0, 3): 3,  # 1-2 from both ends, 2-0
            (1, 0, 2): 2,  # 1-3, 1-4
            (1, 0, 1): 2,  # 2-3, 2-4
        }
    )
    assert as_counter(histogram_of(sets, membership)) == expected
    assert as_counter(histogram_of(sets, sp.csr_matrix(membership))) == expected


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sets(st.integers(0, 12), max_size=12), max_size=25), st.integers(1, 3), st.integers(0, 2**20))
def test_equals_set_arithmetic(sets: list[set[int]], n_groups: int, seed: int) -> None:
    membership = np.random.default_rng(seed).random((len(sets), n_groups)) < 0.5
    assert as_counter(histogram_of(sets, membership, workers=1)) == brute_force(sets, membership)


@pytest.mark.parametrize(("mean", "vocabulary"), [(3.0, 300), (12.0, 300), (12.0, 40), (40.0, 100), (90.0, 400)])
def test_equals_set_arithmetic_at_many_tiles(mean: float, vocabulary: int) -> None:
    """From few common tokens to many: each way of counting lanes has its corpus here."""
    sets, membership = random_corpus(int(mean), 300, mean, vocabulary, 3)
    sets[7] = sets[290] = set(range(min(vocabulary, 35)))
    counts = as_counter(histogram_of(sets, membership, workers=2))
    assert counts == brute_force(sets, membership)
    n_empty = sum(not tokens for tokens in sets)
    for group in range(3):
        n_members = int(membership[:, group].sum())
        empty_members = sum(not sets[row] for row in np.flatnonzero(membership[:, group]))
        total = n_members * (len(sets) - 1) - empty_members * (n_empty - 1)
        assert sum(n for key, n in counts.items() if key[0] == group) == total


@pytest.mark.parametrize("n_old", [0, 250, 300])
def test_long_sets_of_many_sizes_are_counted_by_sorting(n_old: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sets, membership = random_corpus(4, 300, 9, 50, 2)
    sets[:3] = [set(range(5000)), set(range(10, 4000)), set(range(5000))]
    expected = as_counter(histogram_of(sets, membership))
    assert expected == brute_force(sets, membership)
    monkeypatch.setattr("udfs.jaccard_histogram.MOST_COUNTERS", 0)
    classes = row_classes(membership, first_new_row=n_old)
    added = overlap_histogram(index_with(sets, classes.of_row), classes, added_only=True)
    assert as_counter(histogram_of(sets[:n_old], membership[:n_old])) + as_counter(added) == expected
    assert as_counter(histogram_of(sets, membership)) == expected


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 60))
def test_the_histogram_of_old_rows_and_the_added_pairs_make_the_whole(seed: int, n_old: int) -> None:
    sets, membership = random_corpus(seed, 60, 7, 60, 2)
    classes = row_classes(membership, first_new_row=n_old)
    added = overlap_histogram(index_with(sets, classes.of_row), classes, added_only=True)
    before = histogram_of(sets[:n_old], membership[:n_old])
    assert as_counter(before) + as_counter(added) == as_counter(histogram_of(sets, membership))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    sets, membership = random_corpus(seed, 50, 6, 40, 2)
    order = np.random.default_rng(seed).permutation(50)
    shuffled = histogram_of([sets[row] for row in order], membership[order])
    assert as_counter(shuffled) == as_counter(histogram_of(sets, membership))


def test_progress_is_told_and_a_row_without_groups_is_nobodys() -> None:
    sets, _ = random_corpus(1, 300, 5, 60, 1)
    calls: list[tuple[int, int]] = []
    histogram = histogram_of(sets, np.zeros((300, 2), dtype=bool), progress=lambda *done: calls.append(done))
    assert len(histogram.n_pairs) == 0
    assert calls == [(k + 1, len(calls)) for k in range(len(calls))]
    assert len(calls) > 1


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(WIDTHS), st.integers(0, 2**31), st.sampled_from([0.02, 0.2, 1.0]))
def test_counted_lanes_equal_a_loop(bits: int, seed: int, share_high: float) -> None:
    rng = np.random.default_rng(seed)
    shape = (rng.integers(1, 40), 48)
    top = min((1 << bits) - 1, 60)
    values = np.where(rng.random(shape) < share_high, rng.integers(0, top + 1, shape), rng.integers(0, 4, shape))
    runs = np.unique(np.append(0, rng.integers(0, shape[0], 2)))
    run_of_row = np.repeat(np.arange(len(runs)), np.diff(np.append(runs, shape[0])))
    segment_columns = np.array([32, 16])
    segment_of_column = np.repeat([0, 1], segment_columns).astype(np.int32)
    lanes = CountedLanes(pack(values, bits), bits, runs, run_of_row, segment_columns, segment_of_column)
    counts = count_values(lanes, 61)
    for run in range(len(runs)):
        for segment in range(2):
            part = values[np.ix_(run_of_row == run, segment_of_column == segment)]
            expected = [0] + [int((part == value).sum()) for value in range(1, 61)]
            assert counts[run, segment].tolist() == expected
