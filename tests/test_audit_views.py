"""The audit views by numbers worked out by hand, and by plain loops over random verdicts; one build for all."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, pairwise
from math import comb

import pytest
from audit_home import BARE, LONG, QUERY, SPARSE, document, land
from homes import Home
from scipy import stats

from warehouse.settings import ROOT

VIEWS = [
    "pair_choices",
    "judge_agreement",
    "ranking_agreement",
    "annotator_agreement",
    "position_bias",
    "intransitive_triads",
    "rank_differences",
    "judge_failures",
    "call_failures",
    "call_audit",
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    home = Home(tmp_path_factory.mktemp("audit"), (ROOT / "saber.toml").read_text("utf-8"))
    judgments = land(home)
    result = home.dbt("build", "-s", *(f"+{view}" for view in VIEWS), "--indirect-selection", "cautious")
    assert result.returncode == 0, result.stdout
    return home, judgments


@pytest.fixture(scope="module")
def home(built):
    return built[0]


def test_choices_do_not_depend_on_what_was_shown_first(home):
    found = home.rows(
        "select right(document_id, 2)::int, right(other_id, 2)::int, choice, n_verdicts, is_contradictory "
        f"from analysis.pair_choices where judge = 'pairwise' and query_id = '{QUERY}' order by all"
    )
    assert found == [
        (0, 10, 1, 1, False),
        (0, 20, 1, 1, False),
        (0, 30, 0, 1, False),
        (0, 55, 1, 1, False),
        (4, 59, 0, 2, True),
        (5, 35, -1, 1, False),
    ]


def test_grades_are_compared_on_every_pair_that_someone_compared(home):
    """Once only the pairs of the ordinal judge's own schedule could be held against people's."""
    found = home.rows(
        "select right(document_id, 2)::int, right(other_id, 2)::int, choice, n_verdicts "
        "from analysis.pair_choices where judge = 'ordinal' and is_by_grades order by all"
    )
    # 80:80, 80:70, 80:90; document 5 has no grade
    assert found == [(0, 10, 0, 1), (0, 30, 1, 1), (0, 55, -1, 1)]


def agreement(home, judge, annotator, other="human"):
    return home.rows(
        "select min_rank_difference, n_pairs, n_exhaustive, agreement from analysis.judge_agreement "
        f"where judge = '{judge}' and other_judge = '{other}' and other_variant in ('v-human', 'v-pairwise') and "
        f"other_annotator is not distinct from {annotator} and is_pooled = ({annotator} is null and '{other}' = "
        "'human') order by 1"
    )


def test_agreement_of_judges_and_people_by_rank_difference(home):
    # pairs     a    b    c    d    e     f      difference 10, 30, 30, 55, 55, 1
    # pairwise  +    0    -    +    0     .
    # Ada       -    +    -    +    +     0      0, 1/2, 1, 1, 1/2
    # Ben       +    .    .    0    .     0      1, 1/2
    assert agreement(home, "pairwise", "'Ada'") == [(0, 5, 5, 3 / 5), (25, 4, 4, 3 / 4), (50, 2, 2, 1.5 / 2)]
    assert agreement(home, "pairwise", "'Ben'") == [(0, 2, 2, 1.5 / 2), (25, 1, 1, 0.5), (50, 1, 1, 0.5)]
    pooled = [(0, 7, 7, pytest.approx(4.5 / 7)), (25, 5, 5, pytest.approx(3.5 / 5)), (50, 3, 3, pytest.approx(2 / 3))]
    assert agreement(home, "pairwise", "null") == pooled
    # ordinal   0    +    .    -                 with Ada 1/2, 1, 0; with Ben 1/2, 1/2; with pairwise 1/2, 1/2, 0
    assert agreement(home, "ordinal", "'Ada'") == [(0, 3, 3, 0.5), (25, 2, 2, 0.5), (50, 1, 1, 0.0)]
    assert agreement(home, "ordinal", "'Ben'") == [(0, 2, 2, 0.5), (25, 1, 1, 0.5), (50, 1, 1, 0.5)]
    between = [(0, 3, 3, pytest.approx(1 / 3)), (25, 2, 2, 0.25), (50, 1, 1, 0.0)]
    assert agreement(home, "ordinal", "null", "pairwise") == between


def test_agreement_of_people(home):
    found = home.rows(
        "select min_rank_difference, n_pairs, agreement from analysis.judge_agreement "
        "where annotator = 'Ada' and other_annotator = 'Ben' and variant = 'v-human' order by 1"
    )
    # a opposite 0, d half, f equal 1
    assert found == [(0, 3, 0.5), (25, 1, 0.5), (50, 1, 0.5)]
    # pair a, which Ada judged under two variants of the benchmark, counts once, and never against herself
    assert home.rows("select * from analysis.annotator_agreement where annotator = 'Ada'") == [
        ("Ada", "Ben", 3, 0.5, pytest.approx(1 / 3))
    ]
    assert home.rows("select count(*) from analysis.judge_agreement where annotator = other_annotator") == [(0,)]


def test_rankings_of_three_schedules_against_people(home):
    found = defaultdict(list)
    for judge, schedule, *rest in home.rows(
        "select judge, schedule, min_rank_difference, n_pairs, agreement from analysis.ranking_agreement "
        f"where variant in ('x-fit', 'a-fit', 'r-fit', '{home.variants().ratings}') order by all"
    ):
        found[judge, schedule].append(tuple(rest))
    random_pairs = found.pop(("pairwise", "exhaustive"))
    # The exhaustive fit prefers the smaller number: with Ada a 0, b 1, c 0, d 1, e 1, f 1/2; with Ben a 1, d 1/2,
    # f 1/2. The random verdicts of Cy and Di on the other query come on top; their numbers are checked below.
    people = home.rows(
        "select right(document_id, 2)::int, right(other_id, 2)::int, choice from analysis.pair_choices "
        f"where judge = 'human' and query_id = '{SPARSE}'"
    )
    rank = ranks(home, SPARSE)
    scores = [
        (abs(rank[one] - rank[other]), 1 - abs(choice - (1 if rank[one] < rank[other] else -1)) / 2)
        for one, other, choice in people
    ]
    by_hand = {0: (9, 5.5), 25: (5, 3.5), 50: (3, 2.5)}
    for least, n, mean in random_pairs:
        kept = [score for difference, score in scores if difference >= least]
        assert n == by_hand[least][0] + len(kept)
        assert mean == pytest.approx((by_hand[least][1] + sum(kept)) / n)
    assert found == {
        # swiss rates 0, 10, 30 and 55, the first two alike: a 1/2 and 1/2, b 1, d 1 and 1/2
        ("pairwise", "swiss"): [(0, 5, 0.7), (25, 3, pytest.approx(2.5 / 3)), (50, 2, 0.75)],
        # random has 55 before 0, and no rating of 10: d 0 and 1/2
        ("pairwise", "random"): [(0, 2, 0.25), (25, 2, 0.25), (50, 2, 0.25)],
        # the opposite order
        ("ordinal", "exhaustive"): [
            (0, 9, pytest.approx(3.5 / 9)),
            (25, 5, pytest.approx(1.5 / 5)),
            (50, 3, pytest.approx(0.5 / 3)),
        ],
    }


def ranks(home, query):
    rows = home.rows(f"select document_id, rank from analysis.rank_differences where query_id = '{query}'")
    return {int(name[-2:]): rank for name, rank in rows}


def test_ranks_come_from_the_exhaustive_fit_of_the_benchmarks_judge(home):
    """Of two exhaustive fits any one was taken; 'a-fit', of another judge, sorts first and is as full."""
    assert ranks(home, QUERY) == {number: number + 1 for number in range(60)}
    assert home.rows(
        f"select distinct variant, is_exhaustive from analysis.rank_differences where query_id = '{QUERY}'"
    ) == [("x-fit", True)]
    # without one: the selected ratings, equal ones by id
    assert ranks(home, BARE) == {2: 1, 0: 2, 1: 3}
    assert home.rows(
        f"select distinct variant, is_exhaustive from analysis.rank_differences where query_id = '{BARE}'"
    ) == [(home.variants().ratings, False)]


def test_position_bias_is_the_exact_binomial_test(built):
    home, judgments = built
    columns = "n_first, n_second, n_tie, n_invalid, share_first, p_value"
    found = {row[0]: row[1:] for row in home.rows(f"select variant, {columns} from analysis.position_bias")}
    # 4 of 6 decided: 2 · (C(6, 0) + C(6, 1) + C(6, 2)) / 2^6 = 44 / 64
    assert found["v-pairwise"] == (4, 2, 1, 1, pytest.approx(4 / 6), pytest.approx(0.6875, abs=1e-9))
    # Five ballots are one verdict; the grades of single documents have no position; what Ada took back is no verdict
    assert found["v-majority"][:4] == (1, 0, 0, 1)
    assert "v-ordinal" not in found
    assert found["v-human"][:4] == (2, 5, 3, 0)
    assert any(row["verdict"] == "invalid" and row["variant"] == "v-random" for row in judgments)
    for variant, (first, second, *_, p) in found.items():
        assert p == pytest.approx(stats.binomtest(first, first + second).pvalue, abs=1e-9), variant
    assert min(p for *_, p in found.values()) < 1e-6


def test_intransitive_triads_by_hand_and_by_plain_loops(built):
    home, judgments = built
    found = {
        row[0]: row[1:]
        for row in home.rows(
            "select variant, n_triads, n_intransitive, share_intransitive from analysis.intransitive_triads"
        )
    }
    assert found["v-circle"] == (4, 2, 0.5)
    assert "v-ordinal" not in found
    for variant in ("v-random-0", "v-random-1", "v-random-2"):
        triads = circles = 0
        preferred = defaultdict(dict)
        for (query, one, other), choice in choices(judgments, variant).items():
            if choice:
                preferred[query][one, other] = choice
        for of_query in preferred.values():
            for triple in combinations(sorted({name for pair in of_query for name in pair}), 3):
                pairs = [tuple(sorted(pair)) for pair in combinations(triple, 2)]
                if all(pair in of_query for pair in pairs):
                    triads += 1
                    wins = [pair[0] if of_query[pair] > 0 else pair[1] for pair in pairs]
                    circles += len(set(wins)) == 3  # each of the three wins once
        assert found[variant] == (triads, circles, pytest.approx(circles / triads))
        assert circles > 5


def choices(judgments, variant, annotator=None):
    """Return {(query, document, other): 1, -1 or 0} of a judge or person, by plain loops over landed rows."""
    votes = defaultdict(list)
    for row in judgments:
        if (row["variant"], row.get("annotator")) != (variant, annotator) or row["verdict"] == "invalid":
            continue
        one, other = sorted((row["first_id"], row["second_id"]))
        winner = {"first": row["first_id"], "second": row["second_id"], "tie": None}[row["verdict"]]
        votes[row["query_id"], one, other].append(0 if winner is None else 1 if winner == one else -1)
    return {pair: (sum(given) > 0) - (sum(given) < 0) for pair, given in votes.items()}


def test_judge_agreement_by_plain_loops(built):
    home, judgments = built
    rank = ranks(home, SPARSE)
    who = [("v-random-0", None), ("v-random-1", None), ("v-random-2", None), ("v-random", "Cy"), ("v-random", "Di")]
    given = {one: choices(judgments, *one) for one in who}
    found = {
        tuple(row[:5]): row[5:]
        for row in home.rows(
            "select variant, annotator, other_variant, other_annotator, min_rank_difference, n_pairs, n_exhaustive, "
            "agreement from analysis.judge_agreement where variant like 'v-random%' and not is_pooled"
        )
    }
    assert len(found) == 3 * len(list(combinations(who, 2)))
    for one, other in combinations(who, 2):
        both = given[one].keys() & given[other].keys()
        # the other query has no fit, so its pairs are of no known difference: they count at 0
        gap = {p: abs(rank[int(p[1][-2:])] - rank[int(p[2][-2:])]) if p[0] == SPARSE else None for p in both}
        for least in (0, 25, 50):
            kept = [pair for pair in both if (gap[pair] or 0) >= least]
            scores = [
                1 if given[one][p] == given[other][p] else 0.5 if 0 in (given[one][p], given[other][p]) else 0
                for p in kept
            ]
            n_exhaustive = sum(gap[pair] is not None for pair in kept)
            expected = (len(kept), n_exhaustive, pytest.approx(sum(scores) / len(kept)))
            assert found[*one, *other, least] == expected


def test_failures_by_length_count_replies(home):
    """A majority was counted beside its ballots, and a comparison of grades beside the grades."""
    rows = home.rows(
        "select tenth, n_judgments, n_invalid, share_invalid, min_characters, max_characters "
        "from analysis.judge_failures where judge = 'majority' order by 1"
    )
    # Ten ballots, one a tenth. "Statement of g/q." 17 + "Solution of g/q." 16; documents 19 + 18 each, one of 1000.
    short, long = 33 + 2 * 37, 33 + 37 + LONG + 18
    invalid = {2, 6, 7, 8}
    assert rows == [
        (k, 1, int(k in invalid), float(k in invalid), length, length)
        for k, length in ((k, short if k <= 5 else long) for k in range(1, 11))
    ]
    assert home.rows(
        "select sum(n_judgments), sum(n_invalid) from analysis.judge_failures where judge = 'ordinal'"
    ) == [(5, 1)]
    # tenths part the replies evenly and in order of length
    bounds = home.rows(
        "select min_characters, max_characters, n_judgments from analysis.judge_failures where judge = 'random-0' "
        "order by tenth"
    )
    assert max(n for *_, n in bounds) - min(n for *_, n in bounds) <= 1
    assert all(one[1] <= other[0] for one, other in pairwise(bounds))


def test_calls_by_outcome_job_and_model(home):
    assert home.rows("select job_id, model, outcome, n_attempts from analysis.call_failures order by all") == [
        ("job-1", "m", "good", 1),
        ("job-1", "m", "length", 2),
        ("job-1", "m", "no_boxed_answer", 1),
        ("job-1", "other", "good", 1),
        ("job-2", "m", "good", 2),
        ("job-2", "m", "no_boxed_answer", 1),
    ]
    columns = (
        "model, n_calls, n_attempts, n_good, n_truncated, n_failed, failures, tokens_in, tokens_out, cost, currency, "
        "median_latency_s, max_latency_s, attempts_per_s"
    )
    # 7 attempts of m: 500 in at 1 USD and 250 out at 4 USD a million = 0.0015 each; 4 attempts in the 2 s of job-1
    # and 3 in those of job-2; seconds 1, 1, 1, 2, 2, 4, 5
    assert home.rows(f"select {columns} from analysis.call_audit order by model") == [
        ("m", 4, 7, 3, 2, 4, "length, no_boxed_answer", 3500, 1750, pytest.approx(0.0105), "USD", 2.0, 5.0, 7 / 4),
        ("other", 1, 1, 1, 0, 0, None, 500, 250, pytest.approx(0.0015), "USD", 3.0, 3.0, 1 / 2),
    ]


def test_the_tails_of_a_binomial_are_what_the_comment_says():
    assert 2 * sum(comb(6, k) for k in range(3)) / 2**6 == 0.6875
    assert document(7) == "g/d07"
