"""The ridge by marginal likelihood, posterior draws and replicates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import dblquad

from annotate.ratings.bradley_terry import fit
from annotate.ratings.comparisons import Comparisons
from annotate.ratings.evidence import choose_ridge, log_evidence
from annotate.ratings.resampling import posterior_draws, replicates, resampled_weights
from annotate.tournament.keys import hash_keys


def simulated(n_queries: int, n_items: int, n_judgments: int, spread: float) -> tuple[Comparisons, np.ndarray]:
    generator = np.random.default_rng(5)
    true = generator.normal(scale=spread, size=n_queries * n_items)
    first = generator.integers(0, n_items, n_queries * n_judgments)
    second = (first + generator.integers(1, n_items, len(first))) % n_items
    shift = np.repeat(np.arange(n_queries), n_judgments) * n_items
    first, second = first + shift, second + shift
    share = (generator.random(len(first)) < 1 / (1 + np.exp(true[second] - true[first]))).astype(float)
    sizes = np.full(n_queries, n_items, dtype=np.int64)
    return Comparisons(sizes, first, second, share, np.ones(len(first))), true


def test_evidence_is_close_to_the_integral() -> None:
    """Two items, wins 3 : 1: the Laplace value is near the integral, nearer with ten times the games."""
    columns = np.array([0, 0, 0, 1]), np.array([1, 1, 1, 0])
    for ridge in (0.5, 1.0, 3.0):
        for repeats, tolerance in ((1, 0.06), (10, 0.015)):

            def density(a: float, b: float, ridge: float = ridge, repeats: int = repeats) -> float:
                prior = ridge / (2 * np.pi) * np.exp(-0.5 * ridge * (a * a + b * b))
                p = 1 / (1 + np.exp(b - a))
                return float(prior * (p**3 * (1 - p)) ** repeats)

            exact, _ = dblquad(density, -9, 9, -9, 9, epsabs=0, epsrel=1e-6)
            comparisons = Comparisons(np.array([2]), *columns, np.ones(4), np.full(4, float(repeats)))
            assert log_evidence(comparisons, ridge)[0] == pytest.approx(np.log(exact), abs=tolerance)


def test_unjudged_items_add_nothing_to_the_evidence() -> None:
    columns = np.array([0, 1]), np.array([1, 0]), np.array([1.0, 0.5]), np.ones(2)
    alone = log_evidence(Comparisons(np.array([2]), *columns), 0.7)
    padded = log_evidence(Comparisons(np.array([5, 3]), *columns), 0.7)
    assert padded[0] == pytest.approx(alone[0], abs=1e-9)
    assert padded[1] == pytest.approx(0.0, abs=1e-12)


def test_chosen_ridge_is_the_maximum_and_near_the_truth() -> None:
    """Strengths of standard deviation 1.5 have precision 0.44."""
    comparisons, _ = simulated(n_queries=40, n_items=25, n_judgments=250, spread=1.5)
    steps: list[float] = []
    choice = choose_ridge(comparisons, lambda ridge, _: steps.append(ridge))
    assert choice.ridge in steps
    assert not choice.at_bound
    assert 0.3 < choice.ridge < 0.65
    for other in (choice.ridge / 1.1, choice.ridge * 1.1):
        assert log_evidence(comparisons, other).sum() < choice.log_evidence


def test_judgments_without_any_order_drive_the_ridge_to_its_bound() -> None:
    first, second = np.triu_indices(6, k=1)
    comparisons = Comparisons(np.array([6]), first, second, np.full(15, 0.5), np.ones(15))
    assert choose_ridge(comparisons).at_bound


def test_no_judgments_no_ridge() -> None:
    empty = np.array([], dtype=int)
    with pytest.raises(ValueError, match="without judgments"):
        choose_ridge(Comparisons(np.array([3]), empty, empty, empty.astype(float), empty.astype(float)))


def test_posterior_draws_have_the_fitted_mean_and_covariance() -> None:
    comparisons, _ = simulated(n_queries=3, n_items=4, n_judgments=12, spread=1.0)
    fitted = fit(comparisons)
    keys = hash_keys(1, [str(i) for i in range(comparisons.n_items)])
    n = 4000
    draws = posterior_draws(comparisons, fitted, keys, range(n))
    off = (draws.mean(axis=0) - fitted.log_strength) / (fitted.std_error / np.sqrt(n))
    assert np.abs(off).max() < 4.5
    np.testing.assert_allclose(draws.std(axis=0), fitted.std_error, rtol=0.06)
    correlation = np.corrcoef(draws.T)
    assert np.abs(correlation[:4, 4:]).max() < 0.08, "queries are independent"
    # The sum of a query's strengths moves only with the prior: variance n/λ.
    assert draws[:, :4].sum(axis=1).var() == pytest.approx(4.0, rel=0.1)


def test_posterior_draws_depend_on_keys_alone() -> None:
    """The second query drawn alone is the second query drawn beside the first."""
    comparisons, _ = simulated(n_queries=2, n_items=4, n_judgments=12, spread=1.0)
    keys = hash_keys(1, [str(i) for i in range(8)])
    both = posterior_draws(comparisons, fit(comparisons), keys, range(5))
    alone = comparisons.queries(1, 2)
    np.testing.assert_allclose(posterior_draws(alone, fit(alone), keys[4:], range(5)), both[:, 4:], atol=1e-8)
    with pytest.raises(ValueError, match="improper"):
        posterior_draws(comparisons, fit(comparisons, ridge=0.0), keys, range(5))


def test_resampled_weights_keep_each_querys_number() -> None:
    comparisons, _ = simulated(n_queries=5, n_items=6, n_judgments=40, spread=1.0)
    keys = hash_keys(3, list("abcde"))
    weights = np.stack([resampled_weights(comparisons, keys, b) for b in range(400)])
    query = comparisons.item_query[comparisons.first]
    for one in weights[:20]:
        np.testing.assert_array_equal(np.bincount(query, one), [40] * 5)
    assert weights.mean() == pytest.approx(1.0)
    # Binomial(40, 1/40): variance 0.975, so the mean over 400 draws has standard deviation 0.049.
    assert np.abs(weights.mean(axis=0) - 1).max() < 5 * 0.05
    assert weights.var() == pytest.approx(0.975, abs=0.05)
    assert not np.array_equal(weights[0][:40], weights[0][40:80]), "queries are drawn independently"
    np.testing.assert_array_equal(weights[7], resampled_weights(comparisons, keys, 7))


def test_replicates_equal_cold_fits_of_the_drawn_judgments() -> None:
    comparisons, _ = simulated(n_queries=3, n_items=6, n_judgments=30, spread=1.0)
    keys = hash_keys(3, list("abc"))
    fitted = fit(comparisons)
    for b, strengths in enumerate(replicates(comparisons, fitted, keys, range(3))):
        times = resampled_weights(comparisons, keys, b).astype(int)
        repeated = Comparisons(
            comparisons.query_sizes,
            *(np.repeat(c, times) for c in (comparisons.first, comparisons.second, comparisons.first_share)),
            np.ones(times.sum()),
        )
        np.testing.assert_allclose(strengths, fit(repeated).log_strength, atol=1e-7)


def test_replicate_spread_is_near_the_standard_error() -> None:
    """With many judgments a little below the posterior's, without its sum, which judgments never move."""
    comparisons, _ = simulated(n_queries=2, n_items=8, n_judgments=200, spread=0.7)
    fitted = fit(comparisons)
    drawn = np.stack(list(replicates(comparisons, fitted, hash_keys(3, list("ab")), range(60))))
    ratio = drawn.std(axis=0).mean() / np.sqrt(fitted.std_error**2 - 1 / 8).mean()
    assert 0.75 < ratio < 1.1
