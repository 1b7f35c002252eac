"""Ridge Bradley-Terry against golden values, scikit-learn, choix, brute force and its own definition."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import choix
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from annotate.ratings.bradley_terry import fit
from annotate.ratings.comparisons import Comparisons, structure
from annotate.ratings.scale import rescale

GOLDEN = json.loads((Path(__file__).parent / "golden" / "ratings_swiss_n8.json").read_text(encoding="utf-8"))

Verdict = tuple[int, int, float]  # first, second, share of the win to first


def one_query(n: int, verdicts: list[Verdict]) -> Comparisons:
    return many_queries([(n, verdicts)])


def many_queries(queries: list[tuple[int, list[Verdict]]]) -> Comparisons:
    sizes = np.array([n for n, _ in queries], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    rows = [(i + offsets[q], j + offsets[q], s) for q, (_, vs) in enumerate(queries) for i, j, s in vs]
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return Comparisons(sizes, table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2], np.ones(len(rows)))


@st.composite
def verdict_lists(draw: st.DrawFn, ties: bool = True) -> tuple[int, list[Verdict]]:
    n = draw(st.integers(2, 6))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    shares = st.sampled_from([0.0, 0.5, 1.0] if ties else [0.0, 1.0])
    return n, draw(st.lists(st.tuples(pair, shares).map(lambda t: (*t[0], t[1])), min_size=1, max_size=25))


@pytest.mark.parametrize("case", ["A", "B"])
@pytest.mark.parametrize("number", [*range(7), None])
def test_golden_strengths_and_ratings(case: str, number: int | None) -> None:
    golden = GOLDEN[case]["exhaustive" if number is None else "rounds"]
    golden = golden if number is None else golden[number]
    comparisons = one_query(8, [(winner, loser, 1.0) for winner, loser in golden["games"]])
    fitted = fit(comparisons)
    np.testing.assert_allclose(fitted.log_strength, golden["strengths"], atol=2e-8)
    rating, degenerate = rescale(fitted.log_strength, comparisons.query_sizes)
    np.testing.assert_allclose(rating, golden["ratings"], atol=2e-6)
    assert not degenerate.any()


def test_golden_numbers_typed_by_hand() -> None:
    """So that regenerating the file from a wrong definition fails."""
    third, last = GOLDEN["A"]["rounds"][2], GOLDEN["A"]["rounds"][6]
    expected = [2.012596, 5, 1.415851, 3.454151, 0, 4.538075, 1.572787, 2.181167]
    np.testing.assert_allclose(third["ratings"], expected, atol=1e-6)
    expected = [-0.180523, 1.260622, -0.905654, 0.798775, -1.367541, 0.562419, -0.499816, 0.331718]
    np.testing.assert_allclose(last["strengths"], expected, atol=1e-6)
    np.testing.assert_allclose(GOLDEN["B"]["rounds"][6]["strengths"], [0.167703] * 4 + [-0.167703] * 4, atol=1e-6)
    exhaustive = [2.161718, 5, 0.763512, 4.236488, 0, 3.523597, 1.476403, 2.838282]
    np.testing.assert_allclose(GOLDEN["A"]["exhaustive"]["ratings"], exhaustive, atol=1e-6)


def test_two_items_by_hand() -> None:
    """i beats j k times, ties m: with θ = (t, -t) the gradient is k·σ(-2t) + m(½ − σ(2t)) = λt."""
    fitted = fit(one_query(2, [(0, 1, 1.0)] * 3 + [(1, 0, 0.5)] * 2), ridge=0.7)
    t = fitted.log_strength[0]
    sigma = 1 / (1 + np.exp(-2 * t))
    assert 3 * (1 - sigma) + 2 * (0.5 - sigma) == pytest.approx(0.7 * t, abs=1e-9)
    # H = h·[[1, -1], [-1, 1]]: eigenvalues 0 (along 1) and 2h, so the variance is (1/λ + 1/(2h + λ)) / 2.
    h = 5 * sigma * (1 - sigma)
    assert fitted.std_error[0] ** 2 == pytest.approx((1 / 0.7 + 1 / (2 * h + 0.7)) / 2, rel=1e-9)


def test_maximum_likelihood_of_two_items_by_hand() -> None:
    """Three wins to one: the difference is ln 3, its variance 1/(4·¾·¼), a quarter of it on each item."""
    fitted = fit(one_query(2, [(0, 1, 1.0)] * 3 + [(1, 0, 1.0)]), ridge=0.0)
    np.testing.assert_allclose(fitted.log_strength, [np.log(3) / 2, -np.log(3) / 2], atol=1e-9)
    np.testing.assert_allclose(fitted.std_error, np.sqrt(1 / (4 * 0.75 * 0.25)) / 2, rtol=1e-9)


@given(verdict_lists(), st.sampled_from([0.3, 1.0, 4.0, 0.01]))
@settings(max_examples=40, deadline=None)
def test_equals_logistic_regression(query: tuple[int, list[Verdict]], ridge: float) -> None:
    n, verdicts = query
    rows, labels, weights = [], [], []
    for i, j, share in verdicts:
        row = np.zeros(n)
        row[i], row[j] = 1.0, -1.0
        rows += [row, row]
        labels += [1, 0]
        weights += [share, 1.0 - share]
    rows += [np.zeros(n)] * 2  # both classes always stand in the data
    model = LogisticRegression(C=1 / ridge, fit_intercept=False, tol=1e-11, max_iter=2000, solver="newton-cholesky")
    model.fit(np.array(rows), [*labels, 0, 1], [*weights, 1, 1])
    fitted = fit(one_query(n, verdicts), ridge)
    judged = ~np.isnan(fitted.log_strength)
    assert set(np.flatnonzero(judged)) == {d for i, j, _ in verdicts for d in (i, j)}
    np.testing.assert_allclose(fitted.log_strength[judged], model.coef_[0][judged], atol=1e-6)


@given(verdict_lists(ties=False), st.sampled_from([0.5, 1.0]))
@settings(max_examples=20, deadline=None)
def test_equals_choix_with_alpha_half_the_ridge(query: tuple[int, list[Verdict]], ridge: float) -> None:
    n, verdicts = query
    games = [(i, j) if share else (j, i) for i, j, share in verdicts]
    expected = choix.opt_pairwise(n, games, alpha=ridge / 2, tol=1e-11)
    fitted = fit(one_query(n, verdicts), ridge)
    judged = ~np.isnan(fitted.log_strength)
    np.testing.assert_allclose(fitted.log_strength[judged], expected[judged], atol=1e-5)


def test_maximum_likelihood_equals_choix_on_connected_data() -> None:
    generator = np.random.default_rng(3)
    n, true = 10, np.linspace(-1, 1, 10)
    verdicts = []
    for _ in range(300):
        i, j = generator.choice(n, 2, replace=False)
        verdicts.append((int(i), int(j), float(generator.random() < 1 / (1 + np.exp(true[j] - true[i])))))
    games = [(i, j) if share else (j, i) for i, j, share in verdicts]
    expected = choix.ilsr_pairwise(n, games, alpha=0.0, tol=1e-12)
    fitted = fit(one_query(n, verdicts), ridge=0.0)
    np.testing.assert_allclose(fitted.log_strength, expected - expected.mean(), atol=1e-6)
    assert fitted.converged.all()
    probability = 1 / (1 + np.exp(fitted.log_strength[:, None] - fitted.log_strength))
    information = np.zeros((n, n))
    for i, j, _ in verdicts:
        weight = probability[i, j] * (1 - probability[i, j])
        information[[i, j], [i, j]] += weight
        information[[i, j], [j, i]] -= weight
    np.testing.assert_allclose(fitted.std_error**2, np.diag(np.linalg.pinv(information)), rtol=1e-7)


@given(st.lists(verdict_lists(), min_size=1, max_size=5), st.sampled_from([0.0, 0.02, 1.0, 9.0]))
@settings(max_examples=50, deadline=None)
def test_minimum_and_errors_by_definition(queries: list[tuple[int, list[Verdict]]], ridge: float) -> None:
    """Gradient 0, Σθ = 0, errors from the dense inverse: every query on its own, written out."""
    comparisons = many_queries(queries)
    fitted = fit(comparisons, ridge)
    offsets = comparisons.offsets
    for q, (n, verdicts) in enumerate(queries):
        theta = fitted.log_strength[offsets[q] : offsets[q + 1]]
        separable = fitted.graph.separable[offsets[q] : offsets[q + 1]]
        if ridge == 0 and separable.any():
            assert np.isnan(theta).all()
            assert not fitted.converged[q]
            continue
        slope, hessian = ridge * np.nan_to_num(theta), np.zeros((n, n))
        for i, j, share in verdicts:
            p = 1 / (1 + np.exp(theta[j] - theta[i]))
            slope[[i, j]] += [p - share, share - p]
            hessian[[i, j], [i, j]] += p * (1 - p)
            hessian[[i, j], [j, i]] -= p * (1 - p)
        assert np.abs(slope).max() < 1e-8
        assert abs(np.nansum(theta)) < 1e-7
        inverse = np.linalg.pinv(hessian) if ridge == 0 else np.linalg.inv(hessian + ridge * np.eye(n))
        judged = ~np.isnan(theta)
        error = fitted.std_error[offsets[q] : offsets[q + 1]]
        np.testing.assert_allclose(error[judged] ** 2, np.diag(inverse)[judged], rtol=1e-6, atol=1e-9)
    assert fitted.converged.all() or ridge == 0


@given(verdict_lists(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_renaming_and_turning_verdicts_changes_nothing(query: tuple[int, list[Verdict]], random: object) -> None:
    n, verdicts = query
    names, rows = list(range(n)), list(verdicts)
    random.shuffle(names)  # type: ignore[attr-defined]
    random.shuffle(rows)  # type: ignore[attr-defined]
    turned = [(names[j], names[i], 1.0 - share) for i, j, share in rows]
    plain, renamed = fit(one_query(n, verdicts)), fit(one_query(n, turned))
    np.testing.assert_allclose(renamed.log_strength[names], plain.log_strength, atol=1e-8)
    np.testing.assert_allclose(renamed.std_error[names], plain.std_error, atol=1e-8)
    np.testing.assert_array_equal(renamed.graph.separable[names], plain.graph.separable)


@given(verdict_lists())
@settings(max_examples=80, deadline=None)
def test_structure_by_brute_force(query: tuple[int, list[Verdict]]) -> None:
    """Reachability by repeated closure instead of graph search."""
    n, verdicts = query
    reach = np.eye(n, dtype=int)
    for i, j, share in verdicts:
        reach[i, j] |= share > 0
        reach[j, i] |= share < 1
    for _ in range(n):
        reach = ((reach @ reach) > 0).astype(int)
    linked = ((reach + reach.T) > 0).astype(int)
    for _ in range(n):
        linked = ((linked @ linked) > 0).astype(int)
    graph = structure(one_query(n, verdicts))
    np.testing.assert_array_equal(graph.component[:, None] == graph.component, linked > 0)
    mutual = (reach & reach.T) > 0
    for item in range(n):
        members = np.flatnonzero(linked[item])
        sets = {frozenset(np.flatnonzero(mutual[k])) for k in members}
        top = max(len(s) for s in sets)
        largest = [s for s in sets if len(s) == top]
        assert graph.separable[item] == (len(largest) > 1 or item not in largest[0])
    sizes = np.bincount(graph.component)
    assert list(sizes) == sorted(sizes, reverse=True)
    assert graph.n_components[0] == (sizes > 1).sum()


def test_winner_of_every_game_is_separable_and_reported() -> None:
    """0 beats all; 1 → 2 → 3 → 1 go round: without a ridge 0 has no finite strength, with one it has."""
    verdicts = [(0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 1, 1.0)]
    graph = structure(one_query(4, verdicts))
    assert graph.separable.tolist() == [True, False, False, False]
    without = fit(one_query(4, verdicts), ridge=0.0)
    assert np.isnan(without.log_strength).all()
    assert not without.converged[0]
    assert np.isfinite(fit(one_query(4, verdicts)).log_strength).all()


def test_one_separable_query_leaves_its_neighbours_their_maximum() -> None:
    """Both queries share a block: the first used to make the second's equations singular."""
    two = many_queries([(3, [(0, 1, 1.0), (1, 2, 1.0)]), (2, [(0, 1, 1.0), (0, 1, 1.0), (1, 0, 1.0)])])
    fitted = fit(two, ridge=0.0)
    assert np.isnan(fitted.log_strength[:3]).all()
    np.testing.assert_allclose(fitted.log_strength[3:], [np.log(2) / 2, -np.log(2) / 2], atol=1e-9)
    assert fitted.converged.tolist() == [False, True]


def test_disconnected_query_sums_to_zero_in_each_component() -> None:
    verdicts = [(0, 1, 1.0), (0, 1, 0.0), (0, 1, 1.0), (2, 3, 0.0), (3, 2, 0.0), (2, 3, 0.0)]
    fitted = fit(one_query(5, verdicts), ridge=0.0)
    assert fitted.graph.n_components[0] == 2
    assert fitted.graph.component.tolist() == [0, 0, 1, 1, 2]
    assert fitted.log_strength[:2].sum() == pytest.approx(0, abs=1e-12)
    assert fitted.log_strength[2:4].sum() == pytest.approx(0, abs=1e-12)
    assert np.isnan(fitted.log_strength[4])
    assert fitted.n_comparisons.tolist() == [3, 3, 3, 3, 0]


@given(verdict_lists())
@settings(max_examples=25, deadline=None)
def test_small_ridge_tends_to_maximum_likelihood(query: tuple[int, list[Verdict]]) -> None:
    comparisons = one_query(*query)
    assume(not structure(comparisons).separable.any())
    limit = fit(comparisons, ridge=0.0).log_strength
    np.testing.assert_allclose(fit(comparisons, ridge=1e-7).log_strength, limit, atol=1e-4)


def test_integer_weights_are_repetitions() -> None:
    verdicts = [(0, 1, 1.0), (1, 2, 0.5), (2, 0, 0.0)]
    repeated = fit(one_query(3, [verdicts[0]] * 3 + [verdicts[1]] * 2))
    plain = one_query(3, verdicts)
    weighted = fit(
        Comparisons(plain.query_sizes, plain.first, plain.second, plain.first_share, np.array([3.0, 2.0, 0.0]))
    )
    np.testing.assert_allclose(weighted.log_strength, repeated.log_strength, atol=1e-9)
    assert weighted.n_comparisons.tolist() == [1, 2, 1]


def test_queries_of_many_sizes_equal_single_fits() -> None:
    """Blocks pad and reorder; each query must come out as it does alone, empty ones included."""
    generator = np.random.default_rng(11)
    queries = []
    for n in [40, 2, 0, 7, 300, 1, 40]:
        rows = [tuple(map(int, generator.choice(n, 2, replace=False))) for _ in range(4 * n if n > 1 else 0)]
        queries.append((n, [(i, j, float(generator.choice([0.0, 0.5, 1.0]))) for i, j in rows]))
    comparisons = many_queries(queries)
    fitted = fit(comparisons, start=generator.normal(size=comparisons.n_items))
    for (n, verdicts), low in zip(queries, comparisons.offsets[:-1], strict=True):
        alone = fit(one_query(n, verdicts))
        np.testing.assert_allclose(fitted.log_strength[low : low + n], alone.log_strength, atol=1e-8)
        np.testing.assert_allclose(fitted.std_error[low : low + n], alone.std_error, atol=1e-8)


def test_rescale_by_hand_and_degenerate_queries() -> None:
    theta = np.array([-1.0, 0.0, 3.0, np.nan, 0.2, 0.2, np.nan, 7.0])
    rating, degenerate = rescale(theta, np.array([4, 3, 1, 0]))
    np.testing.assert_allclose(rating[:4], [0, 1.25, 5, np.nan])
    assert np.isnan(rating[4:]).all()
    assert degenerate.tolist() == [False, True, True, True]


def test_all_ties_are_degenerate() -> None:
    comparisons = one_query(4, [(i, j, 0.5) for i, j in pairwise(range(4))])
    rating, degenerate = rescale(fit(comparisons).log_strength, comparisons.query_sizes)
    assert degenerate.all()
    assert np.isnan(rating).all()


@pytest.mark.parametrize(
    ("first", "second", "share", "weight", "message"),
    [
        ([0], [5], [1.0], [1.0], "outside"),
        ([0], [0], [1.0], [1.0], "with itself"),
        ([0], [2], [1.0], [1.0], "two queries"),
        ([0], [1], [np.nan], [1.0], "share"),
        ([0], [1], [1.0], [-1.0], "weight"),
        ([0, 1], [1], [1.0], [1.0], "different lengths"),
    ],
)
def test_wrong_comparisons_are_refused(
    first: list[int], second: list[int], share: list[float], weight: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Comparisons(np.array([2, 1]), np.array(first), np.array(second), np.array(share), np.array(weight))


@pytest.mark.parametrize("ridge", [-1.0, float("nan"), float("inf")])
def test_wrong_ridge_is_refused(ridge: float) -> None:
    with pytest.raises(ValueError, match="ridge"):
        fit(one_query(2, [(0, 1, 1.0)]), ridge)


def test_queries_cut_out() -> None:
    comparisons = many_queries([(2, [(0, 1, 1.0)]), (3, [(2, 0, 0.5)]), (2, [(1, 0, 0.0)])])
    cut = comparisons.queries(1, 3)
    assert cut.query_sizes.tolist() == [3, 2]
    assert list(zip(cut.first.tolist(), cut.second.tolist(), strict=True)) == [(2, 0), (4, 3)]
