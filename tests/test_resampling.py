"""Bootstrap, corrections and exact tests against plain computations, exact distributions and SciPy."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from udfs.comparisons import comparable_pairs, compare
from udfs.exact_tests import chance_of_a_hit, mcnemar
from udfs.resampling import (
    bootstrap_means,
    holm,
    paired_p_values,
    percentile_interval,
    rank_interval,
    ranks,
    replicates_for,
    resampled_counts,
    seed_of,
)


def all_counts(*arguments):
    return np.concatenate(list(resampled_counts(*arguments)))


def test_every_replicate_draws_as_many_queries_as_there_are():
    counts = all_counts(7, 50, 3, "group")
    assert counts.shape == (50, 7)
    assert (counts.sum(axis=1) == 7).all()
    assert len(np.unique(counts, axis=0)) > 40


def test_draws_depend_on_seed_and_names_alone():
    first = all_counts(5, 4, 20263, "saber-math", "overall")
    np.testing.assert_array_equal(first, all_counts(5, 4, 20263, "saber-math", "overall"))
    assert (first != all_counts(5, 4, 20263, "saber-math", "Algebra")).any()
    assert (first != all_counts(5, 4, 20264, "saber-math", "overall")).any()
    np.testing.assert_array_equal(first, all_counts(5, 40, 20263, "saber-math", "overall")[:4])


def test_draws_follow_the_raw_stream_of_pcg64():
    """Independent path: plain integers from the raw stream, high halves first, then low halves."""
    n, replicates = 5, 3
    stream = np.random.PCG64(seed_of(9, "x"))
    expected = []
    for _ in range(replicates):
        raw = [int(stream.random_raw()) for _ in range(3)]
        words = [value >> 32 for value in raw] + [value & 0xFFFFFFFF for value in raw]
        drawn = [word * n >> 32 for word in words[:n]]
        expected.append([drawn.count(query) for query in range(n)])
    np.testing.assert_array_equal(all_counts(n, replicates, 9, "x"), expected)


def test_large_groups_are_drawn_in_parts_that_make_one_sequence(monkeypatch):
    whole = all_counts(11, 30, 5, "g")
    monkeypatch.setattr("udfs.resampling._DRAWS_AT_ONCE", 40)
    parts = list(resampled_counts(11, 30, 5, "g"))
    assert len(parts) == 10
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_an_empty_group_is_refused():
    with pytest.raises(ValueError, match="without queries"):
        next(resampled_counts(0, 10, 1))


def test_means_and_spread_are_those_of_the_exact_bootstrap():
    """The bootstrap distribution of a mean has mean x̄ and variance Σ(x - x̄)²/n²."""
    values = np.array([[0.1, 1.0], [0.4, 0.0], [0.9, 0.5], [0.2, 0.5], [0.0, 0.25]])
    means = bootstrap_means(values, 40_000, 1, "exact")
    np.testing.assert_allclose(means.mean(axis=0), values.mean(axis=0), atol=3e-3)
    exact = np.sqrt(((values - values.mean(axis=0)) ** 2).sum(axis=0)) / len(values)
    np.testing.assert_allclose(means.std(axis=0), exact, rtol=0.02)


def test_interval_equals_complete_enumeration_of_three_queries():
    """27 equally likely resamples of (0, 0.5, 1): P(mean = 0) = 1/27 > 2.5 %, so the interval is [0, 1]."""
    values = np.array([[0.0], [0.5], [1.0]])
    enumerated = sorted(np.mean(draw) for draw in itertools.product([0.0, 0.5, 1.0], repeat=3))
    means = bootstrap_means(values, 20_000, 2, "enumerated")[:, 0]
    for mean in sorted(set(np.round(enumerated, 12))):
        share = np.mean(np.isclose(enumerated, mean))
        assert np.mean(np.isclose(means, mean)) == pytest.approx(share, abs=0.012)
    interval = percentile_interval(means[:, None])
    assert (interval.low[0], interval.high[0]) == (0.0, 1.0)


def test_percentiles_lie_between_order_statistics():
    interval = percentile_interval(np.arange(1001.0)[:, None])
    assert (interval.low[0], interval.high[0]) == pytest.approx((25.0, 975.0))
    narrow = percentile_interval(np.arange(11.0)[:, None], level=0.5)
    assert (narrow.low[0], narrow.high[0]) == (2.5, 7.5)


def test_coverage_is_close_to_its_level():
    rng = np.random.default_rng(5)
    covered = 0
    for trial in range(300):
        sample = rng.beta(2.0, 1.0, size=(80, 1))
        interval = percentile_interval(bootstrap_means(sample, 300, trial, "coverage"))
        covered += interval.low[0] <= 2 / 3 <= interval.high[0]
    assert 0.90 <= covered / 300 <= 0.98


def test_systems_share_their_draws_so_equal_ones_tie():
    values = np.random.default_rng(1).random((40, 1)) * [1.0, 1.0, 0.5]
    means = bootstrap_means(values, 200, 1, "paired")
    assert (means[:, 0] == means[:, 1]).all()
    np.testing.assert_allclose(means[:, 2], means[:, 0] / 2, atol=1e-12)


def test_equal_scores_share_the_better_rank():
    np.testing.assert_array_equal(ranks(np.array([[0.5, 0.9, 0.5, 0.1]])), [[2, 1, 2, 4]])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=6))
def test_ranks_equal_scipy(scores):
    expected = stats.rankdata([-score for score in scores], method="min")
    np.testing.assert_array_equal(ranks(np.array([scores]))[0], expected)


def test_rank_interval_by_hand():
    """Of 100 replicates, system 0 is first 97 times, second twice and third once."""
    rows = [[3.0, 2.0, 1.0]] * 97 + [[2.0, 3.0, 1.0]] * 2 + [[1.0, 3.0, 2.0]]
    interval = rank_interval(np.array(rows))
    np.testing.assert_array_equal(interval.low, [1, 1, 3])
    np.testing.assert_array_equal(interval.high, [2, 2, 3])


def test_p_value_by_enumeration():
    """Differences (1, 1, -1): 27 resamples, 7 of a mean of at most 0 (one third of the draws at least twice -1)."""
    first = np.array([1.0, 1.0, 0.0])
    second = np.array([0.0, 0.0, 1.0])
    differences = [sum(draw) for draw in itertools.product([1, 1, -1], repeat=3)]
    below = sum(total <= 0 for total in differences) / 27
    found = paired_p_values(np.stack([first, second], 1), np.array([0]), np.array([1]), 20_000, 4, "p")
    assert found[0] == pytest.approx(2 * below, abs=0.02)
    reversed_ = paired_p_values(np.stack([second, first], 1), np.array([0]), np.array([1]), 20_000, 4, "p")
    assert reversed_[0] == found[0]


def test_p_value_of_equal_systems_is_one_and_of_clear_ones_the_least_possible():
    values = np.stack([np.linspace(0, 1, 30), np.linspace(0, 1, 30), np.linspace(0, 1, 30) + 1], axis=1)
    found = paired_p_values(values, np.array([0, 0]), np.array([1, 2]), 999, 1, "clear")
    np.testing.assert_allclose(found, [1.0, 2 / 1000])


def test_p_values_are_uniform_when_nothing_differs():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(60, 200))
    found = paired_p_values(values, np.arange(0, 200, 2), np.arange(1, 200, 2), 2000, 1, "uniform")
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_enough_replicates_to_survive_holm():
    assert replicates_for(1) == 1000
    assert 300 * 2 / (replicates_for(300) + 1) < 0.05
    assert replicates_for(10_000) == 100_000


def test_holm_by_hand():
    """Holm 1979: 0.01 x 4, 0.02 x 3, then monotone: 0.03 x 2, 0.04 x 1 stay below 0.06."""
    np.testing.assert_allclose(holm([0.03, 0.01, 0.04, 0.02]), [0.06, 0.04, 0.06, 0.06])
    np.testing.assert_allclose(holm([0.5, 0.9]), [1.0, 1.0])
    assert len(holm([])) == 0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_as_the_step_down_procedure_does(p_values):
    for alpha in (0.01, 0.05, 0.3):
        rejected, order = set(), sorted(range(len(p_values)), key=p_values.__getitem__)
        for step, at in enumerate(order):
            if p_values[at] * (len(p_values) - step) > alpha:
                break
            rejected.add(at)
        assert {at for at, p in enumerate(holm(p_values)) if p <= alpha} == rejected


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_equals_the_binomial_test(first, second):
    expected = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(expected, abs=1e-12)


def test_mcnemar_by_hand():
    """1 against 5: 2 (1 + 6) / 2^6."""
    assert mcnemar(1, 5) == pytest.approx(14 / 64)
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 2)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 70))
def test_chance_of_a_hit_counts_subsets(n, relevant, k):
    relevant = min(relevant, n)
    expected = 1 - math.comb(n - relevant, min(k, n)) / math.comb(n, min(k, n))
    assert chance_of_a_hit(n, relevant, k) == pytest.approx(expected, abs=1e-12)


def test_chance_of_a_hit_in_a_large_collection():
    """One relevant document: k / n, whatever the size."""
    np.testing.assert_allclose(chance_of_a_hit(117_088, 1, [1, 5, 10]), np.array([1, 5, 10]) / 117_088, rtol=1e-12)
    with pytest.raises(ValueError, match="n_relevant"):
        chance_of_a_hit(3, 4, 1)


RUNS = [
    ("bm25", "s-s", "candidates", "corpus"),
    ("bm25", "s-f", "candidates", "corpus"),
    ("tfidf", "s-s", "candidates", "corpus"),
    ("tfidf", "s-f", "corpus", "corpus"),
]


def test_runs_are_compared_within_a_scope_and_one_thing_at_a_time():
    pairs = comparable_pairs(RUNS, np.array([0.2, 0.5, 0.5, 0.9]))
    assert [(p.first, p.second, p.compared, p.family) for p in pairs] == [
        (1, 0, "settings", "candidates"),
        (2, 0, "systems", "s-s candidates"),
    ]


def test_a_comparison_says_everything_of_a_pair():
    rng = np.random.default_rng(8)
    better = rng.random(50).round(1)
    values = np.stack([better, np.where(np.arange(50) < 10, better, better * 0.8)], axis=1).round(12)
    pairs = comparable_pairs([RUNS[0], RUNS[2]], values.mean(axis=0))
    found = compare(values, pairs, 1000, 1, "b", "overall")
    difference = values[:, 0] - values[:, 1]
    assert found["difference"][0] == pytest.approx(difference.mean())
    assert found["n_better"][0] == (difference > 0).sum()
    assert (found["n_worse"][0], found["n_equal"][0]) == (0, (difference == 0).sum())
    assert 0 < found["low"][0] < difference.mean() < found["high"][0]
    assert found["p_value"][0] == found["p_holm"][0] == pytest.approx(2 / 1001)
    width = 2 * 1.96 * difference.std() / math.sqrt(50)
    assert found["high"][0] - found["low"][0] == pytest.approx(width, rel=0.15)


def test_holm_corrects_within_families():
    runs = [("a", "s-s", "candidates", ""), ("b", "s-s", "candidates", ""), ("c", "s-s", "candidates", ""),
            ("a", "f-f", "candidates", ""), ("b", "f-f", "candidates", "")]  # fmt: skip
    values = np.random.default_rng(2).random((30, 5))
    pairs = comparable_pairs(runs, values.mean(axis=0))
    found = compare(values, pairs, 500, 1)
    families = [(pair.compared, pair.family) for pair in pairs]
    assert {family: families.count(family) for family in families} == {
        ("settings", "candidates"): 2, ("systems", "f-f candidates"): 1, ("systems", "s-s candidates"): 3,
    }  # fmt: skip
    for family in set(families):
        members = [at for at, own in enumerate(families) if own == family]
        np.testing.assert_allclose(found["p_holm"][members], holm(found["p_value"][members]))
