"""Strengths, inversions and simulated tournaments."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.ratings.bradley_terry import fit
from annotate.ratings.comparisons import Comparisons
from annotate.tournament.simulation import Simulation, Step, simulate
from udfs.convergence import Verdicts, rounds_against
from udfs.strengths import fit_strengths, inversions
from warehouse.cli import main
from warehouse.landing import Landing


def verdicts(seed, n_documents, n_verdicts):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n_documents, (n_verdicts, 2))
    first, second = pairs[pairs[:, 0] != pairs[:, 1]].T
    return Verdicts(rng.integers(1, 5, len(first)), first, second, rng.choice([0.0, 0.5, 1.0], len(first)))


@pytest.mark.parametrize("ridge", [0.1, 1.0, 10.0])
def test_strengths_equal_the_fit_of_the_ratings(ridge):
    for seed in range(5):
        played = verdicts(seed, 12, 60)
        comparisons = Comparisons(
            np.array([12]), played.first, played.second, played.share, np.ones(len(played.share))
        )
        expected = fit(comparisons, ridge).log_strength
        found = fit_strengths(played.wins(12), ridge)
        known = np.isfinite(expected)
        np.testing.assert_allclose(found[known], expected[known], atol=1e-7)


def test_strengths_of_a_document_that_always_wins_stay_finite():
    wins = np.zeros((3, 3))
    wins[0, 1:] = 50.0
    found = fit_strengths(wins)
    assert found[0] > 2
    assert found[1] == pytest.approx(found[2])
    assert found.sum() == pytest.approx(0)
    with pytest.raises(ValueError, match="ridge"):
        fit_strengths(wins, 0.0)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=7))
def test_inversions_by_brute_force(scores):
    expected = 0.0
    for (a, x), (b, y) in itertools.combinations(scores, 2):
        one, other = np.sign(a - b), np.sign(x - y)
        expected += 1.0 if one * other < 0 else 0.5 if (one == 0) != (other == 0) else 0.0
    ours, theirs = np.array(scores, dtype=float).T
    assert inversions(ours, theirs) == expected


def test_rounds_count_up_to_the_verdicts_of_the_schedule():
    """A schedule that plays all pairs over three rounds ends at the exhaustive ranking itself."""
    order = [(0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2)]
    first, second = np.array(order).T
    share = np.ones(6)
    everything = Verdicts(np.ones(6, dtype=np.int64), first, second, share)
    by_round = Verdicts(np.array([1, 1, 2, 2, 3, 3]), first, second, share)
    steps = list(rounds_against(by_round, everything, 4))
    assert [(step.round, step.n_comparisons) for step in steps] == [(1, 2), (2, 4), (3, 6)]
    assert steps[-1].inversions == 0
    # after round 1 documents 0 and 2 tie, as do 1 and 3; 2 stands above 1 wrongly: 1 + 2 x 1/2
    assert steps[0].inversions == 2.0


@pytest.fixture(scope="module")
def steps() -> dict[tuple[str, int], Step]:
    found = simulate(Simulation(n_queries=6, n_documents=40, rounds=12, seed=3))
    return {(step.schedule, step.round): step for step in found}


def test_schedules_play_the_same_number_of_pairs_and_the_exhaustive_one_all(steps):
    for number in range(1, 13):
        assert steps["random", number].comparisons == 20 * number
        assert 0.97 * 20 * number <= steps["swiss", number].comparisons <= 20 * number
    assert steps["exhaustive", 39].comparisons == 40 * 39 / 2
    assert steps["exhaustive", 39].inversions == 0


def test_more_rounds_near_the_exhaustive_ranking_and_swiss_is_ahead_of_random(steps):
    for schedule in ("swiss", "random"):
        inverted = [steps[schedule, number].inversions for number in (1, 4, 8, 12)]
        assert inverted == sorted(inverted, reverse=True)
    assert steps["swiss", 12].inversions < steps["random", 12].inversions
    assert steps["exhaustive", 39].inversions_of_truth < steps["swiss", 12].inversions_of_truth


def test_a_sure_judge_leaves_few_inversions_and_the_seed_decides_alone():
    def last(**changes):
        return list(simulate(Simulation(n_queries=3, n_documents=20, rounds=10, **changes)))[-1]

    assert last(spread=50.0).inversions_of_truth < last(spread=0.5).inversions_of_truth / 4
    assert last(seed=5) == last(seed=5)
    assert last(seed=5) != last(seed=6)


def test_simulated_tournaments_land_once_for_the_settings_size(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SABER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SABER_SETTINGS", str(tmp_path / "saber.toml"))
    (tmp_path / "saber.toml").write_text("[benchmark]\ncandidates_per_class = 4\n[judging]\nrounds = 3\nseed = 9\n")
    assert main(["judge", "--simulate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows_landed"] == 3 * (2 * 6 + 1)
    rows = Landing(tmp_path / "home").read("simulated_rounds").to_pylist()
    found = {(row["schedule"], row["round"]): row for row in rows if row["spread"] == 2.0}
    for step in simulate(Simulation(n_queries=10, n_documents=12, rounds=6, spread=2.0, seed=9)):
        row = found.pop((step.schedule, step.round))
        assert row["mean_comparisons"] == step.comparisons
        assert row["share_inverted"] == step.inversions / 66
        assert row["share_of_truth"] == step.inversions_of_truth / 66
    assert not found
    assert main(["judge", "--simulate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows_landed"] == 0


def test_the_view_shows_the_simulation_of_the_settings(evaluation_home):
    rows = evaluation_home.rows(
        "select spread, schedule, count(*), max(mean_comparisons), min(share_inverted) "
        "from analysis.simulated_inversions group by all order by all"
    )
    assert [row[:3] for row in rows] == [
        (spread, schedule, n)
        for spread in (1.0, 2.0, 4.0)
        for schedule, n in (("exhaustive", 1), ("random", 20), ("swiss", 20))
    ]
    assert {row[3:] for row in rows if row[1] == "exhaustive"} == {(435.0, 0.0)}  # 30 candidates, all pairs
