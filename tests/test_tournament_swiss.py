"""Swiss pairing: both golden tournaments round by round, the rule's properties, block = one by one."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.tournament.keys import hash_keys, mix, round_keys, uniforms
from annotate.tournament.schedules import exhaustive_schedule, random_schedule
from annotate.tournament.swiss import SITS_OUT, pair_round, pair_rounds

GOLDEN = json.loads((Path(__file__).parent / "golden" / "ratings_swiss_n8.json").read_text(encoding="utf-8"))
ROUNDS = [(case, number) for case in GOLDEN for number in range(7)]


def state_before(rounds: list[dict[str, Any]], number: int) -> tuple[list[int], dict[int, set[int]]]:
    """Wins and opponents met before a golden round."""
    wins = rounds[number - 1]["wins"] if number else [0] * 8
    met: dict[int, set[int]] = {i: set() for i in range(8)}
    for earlier in rounds[:number]:
        for i, j in earlier["pairs"]:
            met[i].add(j)
            met[j].add(i)
    return wins, met


def as_matrix(met: dict[int, set[int]], n: int) -> np.ndarray:
    matrix = np.zeros((n, n), dtype=bool)
    for i, opponents in met.items():
        matrix[i, list(opponents)] = True
    return matrix


@pytest.mark.parametrize(("case", "number"), ROUNDS)
def test_golden_round(case: str, number: int) -> None:
    rounds = GOLDEN[case]["rounds"]
    wins, met = state_before(rounds, number)
    pairing = pair_round(rounds[number]["tie_order"], wins, met)
    assert [list(pair) for pair in pairing.pairs] == rounds[number]["pairs"]
    assert list(pairing.sat_out) == rounds[number]["sat_out"]


def test_golden_tournament_as_published_by_hand() -> None:
    """Typed by hand, so that regenerating the file with a wrong rule fails."""
    fourth = GOLDEN["A"]["rounds"][3]
    assert fourth["pairs"] == [[4, 7], [6, 2], [0, 5]]
    assert fourth["sat_out"] == [3, 1]
    assert GOLDEN["A"]["rounds"][6]["wins"] == [3, 5, 1, 5, 0, 5, 2, 4]
    assert GOLDEN["B"]["rounds"][4]["pairs"] == [[2, 6], [7, 4], [3, 0], [1, 5]]


@pytest.mark.parametrize("number", range(7))
def test_golden_round_in_a_block(number: int) -> None:
    """Both cases side by side, columns in document order, the tie order given as keys."""
    keys = np.zeros((2, 8), dtype=np.uint64)
    wins = np.zeros((2, 8), dtype=np.int64)
    met = np.zeros((2, 8, 8), dtype=bool)
    for q, case in enumerate("AB"):
        rounds = GOLDEN[case]["rounds"]
        wins[q], known = state_before(rounds, number)
        met[q] = as_matrix(known, 8)
        keys[q, rounds[number]["tie_order"]] = np.arange(8)
    opponents = pair_rounds(keys, wins, met, np.ones((2, 8), dtype=bool))
    for q, case in enumerate("AB"):
        golden = GOLDEN[case]["rounds"][number]
        pairs = {tuple(sorted((i, int(j)))) for i, j in enumerate(opponents[q]) if j != SITS_OUT}
        assert pairs == {tuple(sorted(pair)) for pair in golden["pairs"]}
        assert set(np.flatnonzero(opponents[q] == SITS_OUT)) == set(golden["sat_out"])


Position = tuple[list[int], list[float], dict[int, set[int]]]


@st.composite
def positions(draw: st.DrawFn) -> Position:
    """A tie order, half-point wins and a symmetric record of who has met whom."""
    n = draw(st.integers(0, 9))
    order = draw(st.permutations(range(n)))
    wins = draw(st.lists(st.sampled_from([0, 0.5, 1, 1.5, 2, 3]), min_size=n, max_size=n))
    met: dict[int, set[int]] = {i: set() for i in range(n)}
    for i, j in combinations(range(n), 2):
        if draw(st.booleans()):
            met[i].add(j)
            met[j].add(i)
    return order, wins, met


@given(positions())
@settings(max_examples=150, deadline=None)
def test_rule_properties(position: Position) -> None:
    order, wins, met = position
    pairing = pair_round(order, wins, met)
    seen = [d for pair in pairing.pairs for d in pair] + list(pairing.sat_out)
    assert sorted(seen) == sorted(order), "each document once"
    assert all(j not in met[i] for i, j in pairing.pairs), "no rematch"
    paired_with = {i: j for pair in pairing.pairs for i, j in (pair, pair[::-1])}
    for document in pairing.sat_out:
        unmet = set(order) - met[document] - {document}
        assert unmet <= set(paired_with), "sits out only when every unmet opponent is taken"
    assert pairing == pair_round(order, wins, met)


@given(positions())
@settings(max_examples=150, deadline=None)
def test_nearest_win_count_by_brute_force(position: Position) -> None:
    """The literal rule: smallest |Δwins| over all waiting unmet documents, first in sorted order."""
    order, wins, met = position
    waiting = sorted(order, key=lambda d: wins[d])
    expected = []
    while waiting:
        lowest, *waiting = waiting
        unmet = [d for d in waiting if d not in met[lowest]]
        if unmet:
            opponent = min(unmet, key=lambda d: (abs(wins[d] - wins[lowest]), waiting.index(d)))
            expected.append((lowest, opponent))
            waiting.remove(opponent)
    assert list(pair_round(order, wins, met).pairs) == expected


@given(st.lists(positions(), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_block_equals_one_by_one(block: list[Position]) -> None:
    width = max(len(order) for order, _, _ in block) + 1  # one column of padding at least
    keys = np.zeros((len(block), width), dtype=np.uint64)
    wins = np.zeros((len(block), width))
    met = np.zeros((len(block), width, width), dtype=bool)
    waiting = np.zeros((len(block), width), dtype=bool)
    for q, (order, own_wins, own_met) in enumerate(block):
        n = len(order)
        keys[q, order] = np.arange(n)
        wins[q, :n], waiting[q, :n] = own_wins, True
        met[q, :n, :n] = as_matrix(own_met, n)
    opponents = pair_rounds(keys, wins, met, waiting)
    for q, (order, own_wins, own_met) in enumerate(block):
        expected = np.full(width, SITS_OUT)
        for i, j in pair_round(order, own_wins, own_met).pairs:
            expected[i], expected[j] = j, i
        np.testing.assert_array_equal(opponents[q], expected)


@given(positions(), st.data())
@settings(max_examples=100, deadline=None)
def test_stopped_round_resumes_to_the_same_pairs(position: Position, data: st.DataObject) -> None:
    """Take away any landed pairs of a round: the rule on the rest gives exactly the missing pairs."""
    order, wins, met = position
    whole = pair_round(order, wins, met)
    landed = [pair for pair in whole.pairs if data.draw(st.booleans())]
    played = {d for pair in landed for d in pair}
    rest = pair_round([d for d in order if d not in played], wins, met)
    assert set(rest.pairs) == set(whole.pairs) - set(landed)
    assert rest.sat_out == whole.sat_out


def test_round_keys_differ_by_round_and_repeat() -> None:
    keys = np.arange(50, dtype=np.uint64) << np.uint64(32)
    first, second = round_keys(keys, 1), round_keys(keys, 2)
    assert len(np.unique(np.concatenate([first, second]))) == 100
    np.testing.assert_array_equal(first, round_keys(keys, 1))
    assert not np.array_equal(np.argsort(first), np.argsort(second))


def test_hash_keys_and_uniforms() -> None:
    keys = hash_keys(7, ["q"] * 2000, [str(i) for i in range(2000)])
    assert len(np.unique(keys)) == 2000
    np.testing.assert_array_equal(keys[5], hash_keys(7, ["q"], ["5"])[0])
    assert not np.array_equal(keys, hash_keys(8, ["q"] * 2000, [str(i) for i in range(2000)]))
    drawn = uniforms(mix(keys))
    assert 0 < drawn.min() < 0.01
    assert 0.99 < drawn.max() < 1
    assert abs(drawn.mean() - 0.5) < 5 / np.sqrt(12 * 2000)


def test_mix_is_splitmix64() -> None:
    """First two outputs of the reference generator for seed 0."""
    state = np.array([0, 0x9E3779B97F4A7C15], dtype=np.uint64)
    assert [hex(x) for x in mix(state)] == ["0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4"]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 8])
def test_exhaustive_schedule_plays_every_pair_once(n: int) -> None:
    rounds = exhaustive_schedule(n)
    pairs = [tuple(map(int, pair)) for one in rounds for pair in one]
    assert sorted(pairs) == list(combinations(range(n), 2))
    for one in rounds:
        assert len(set(one.ravel())) == one.size, "a document plays at most once a round"


@given(st.integers(0, 12), st.integers(0, 8), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_random_schedule(n: int, rounds: int, seed: int) -> None:
    keys = mix(np.arange(seed, seed + n, dtype=np.uint64))
    schedule = random_schedule(keys, rounds)
    pairs = [tuple(map(int, pair)) for one in schedule for pair in one]
    assert len(pairs) == min(rounds * (n // 2), n * (n - 1) // 2)
    assert len(set(pairs)) == len(pairs)
    assert all(0 <= i < j < n for i, j in pairs)
    assert len(schedule) <= rounds


def test_random_schedule_is_near_uniform() -> None:
    """Each of the 10 pairs of 5 documents is drawn in 2 of 10 places: 400 of 2,000 tournaments."""
    counts = np.zeros((5, 5))
    for seed in range(2000):
        keys = mix(np.arange(5, dtype=np.uint64) + np.uint64(1000 * seed))
        for i, j in random_schedule(keys, 1)[0]:
            counts[i, j] += 1
    drawn = counts[np.triu_indices(5, k=1)]
    assert drawn.sum() == 4000
    assert np.abs(drawn - 400).max() < 5 * np.sqrt(400 * 0.8)
