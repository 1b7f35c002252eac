"""The evaluation's views over a whole home: several benchmarks at once, unsound runs, intervals, chance."""

import math
from collections import defaultdict

import numpy as np
import pytest
from evaluation_home import REFITS, TOY_QRELS
from scipy import stats

from udfs.exact_tests import chance_of_a_hit
from udfs.resampling import bootstrap_means, holm, percentile_interval
from warehouse.schemas import TABLES


@pytest.fixture(scope="module")
def home(evaluation_home):
    return evaluation_home


def test_every_column_of_a_mart_is_described_and_every_described_one_is_there(home):
    """The manifest's columns come from the yml files, so they are held to the relations themselves."""
    import json

    manifest = json.loads((home.path / "target" / "manifest.json").read_text())
    models = [
        node
        for node in manifest["nodes"].values()
        if node["resource_type"] == "model" and node["schema"] in ("evaluation", "analysis")
    ]
    assert len(models) > 40
    for node in models:
        name = f"{node['schema']}.{node['name']}"
        columns = [row[0] for row in home.rows(f"describe {name}")]
        assert list(node["columns"]) == columns, name


def plain_scores(home, k=10):
    """ndcg_exp@k of the built benchmark straight from the landed tables: {(run, query): value}."""
    gains = defaultdict(dict)
    for row in home.landing.read("ratings").to_pylist():
        gains[row["query_id"]][row["document_id"]] = 2 ** row["rating"] - 1
    ranked = defaultdict(list)
    variant = home.variants().benchmark
    for row in home.landing.read("runs", where=f"benchmark = 'saber-math' and variant = '{variant}'").to_pylist():
        ranked[row["run_id"], row["query_id"]].append((-row["score"], row["document_id"]))
    scores = {}
    for (run, query), documents in ranked.items():
        order = [document for _, document in sorted(documents)][:k]
        gained = math.fsum(gains[query].get(d, 0.0) / math.log2(i + 2) for i, d in enumerate(order))
        best = sorted(gains[query].values(), reverse=True)[:k]
        scores[run, query] = gained / math.fsum(g / math.log2(i + 2) for i, g in enumerate(best))
    return scores


def test_scores_and_leaderboard_equal_a_plain_computation(home):
    expected = plain_scores(home)
    found = {
        (run, query): value
        for run, query, value in home.rows(
            "select run_id, query_id, value from evaluation.query_metrics inner join "
            "evaluation.systems using (run_id) "
            "where measure = 'ndcg_exp@10' and benchmark = 'saber-math'"
        )
    }
    assert found.keys() == expected.keys()
    assert len(found) == 50 * len({run for run, _ in found})
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, abs=1e-11), key
    domains = defaultdict(set)
    for query, domain in home.rows("select problem_id, domain from signals.problem_domains"):
        domains[domain].add(query)
    rows = home.rows(
        "select run_id, overall, geometry, n_missing, n_degenerate from evaluation.leaderboard "
        "where benchmark = 'saber-math'"
    )
    assert len(rows) > 15
    for run, overall, geometry, n_missing, n_degenerate in rows:
        values = {query: value for (own, query), value in expected.items() if own == run}
        assert overall == pytest.approx(np.mean([*values.values()]), abs=1e-9)
        assert geometry == pytest.approx(
            np.mean([v for q, v in values.items() if q in domains["Geometry"]]), abs=1e-9
        )
        assert (n_missing, n_degenerate) == (0, 0)


def test_an_imported_benchmark_stands_beside_the_built_one(home):
    """Ideal of q1: 2 at rank 1, 1 at rank 2; the sound run has 0, 1, 2. q2 misses nothing, q3 has no relevant one."""
    assert home.rows(
        "select benchmark, origin, n_queries, share_judged, judge from evaluation.benchmarks order by 1"
    )[1] == ("toy", "imported", 3, 1.0, "by hand")
    found = {
        (query, measure): value
        for query, measure, value in home.rows(
            "select query_id, measure, value from evaluation.query_metrics where run_id = 'toy.sound' and k = 10"
        )
    }
    assert {measure for _, measure in found} == {"ndcg_exp@10", "ndcg_lin@10", "recall@10", "hit@10", "rr@10"}
    assert found["toy/q1", "ndcg_exp@10"] == pytest.approx((1 / math.log2(3) + 3 / 2) / (3 + 1 / math.log2(3)))
    assert found["toy/q1", "rr@10"] == 0.5
    assert found["toy/q2", "ndcg_exp@10"] == 1.0
    assert {found["toy/q3", measure] for measure in ("ndcg_exp@10", "recall@10", "hit@10", "rr@10")} == {None}
    built = home.rows(
        "select distinct split_part(measure, '@', 1) from evaluation.query_metrics "
        "where run_id not like 'toy.%' order by 1"
    )
    assert built == [("ndcg_exp",), ("ndcg_lin",)]
    # q3 is missing from the run and has no ideal gain: it counts as both, and is left out of the mean
    row = home.rows(
        "select overall, n_queries, n_missing, n_degenerate, judge, algebra from evaluation.leaderboard "
        "where run_id = 'toy.sound'"
    )[0]
    assert row[0] == pytest.approx((found["toy/q1", "ndcg_exp@10"] + 1) / 2)
    assert row[1:] == (3, 1, 1, "by hand", None)


def test_of_two_imports_the_later_one_counts(home):
    assert home.rows("select count(*) from evaluation.relevances where document_id = 'toy/z'") == [(0,)]
    assert home.rows("select count(*) from evaluation.relevances where benchmark = 'toy'") == [(len(TOY_QRELS),)]


def test_a_run_with_scores_that_are_no_number_is_left_out_and_named(home):
    """NaN sorts above every number in DuckDB: such a run would have come out best."""
    assert home.rows("select count(*) from evaluation.leaderboard where run_id = 'toy.nan'") == [(0,)]
    assert home.rows("select run_id, reason, n_queries, queries from analysis.refused_runs order by 1") == [
        ("toy.lost", "no query of the benchmark", 1, "toy/q9"),
        ("toy.nan", "a score that is no finite number: the whole run is left out", 1, "toy/q1"),
    ]
    assert home.rows("select n_missing from evaluation.leaderboard where run_id = 'toy.lost'") == [(2,)]


def test_ties_are_counted(home):
    rows = home.rows(
        "select query_id, n_tied from evaluation.query_metrics where run_id = 'toy.constant' and "
        "measure = 'ndcg_exp@10'"
    )
    assert dict(rows) == {"toy/q1": 3, "toy/q2": 2, "toy/q3": 0}


def score_matrix(home, benchmark, queries=None):
    rows = home.rows(
        "select run_id, query_id, value from evaluation.query_metrics inner join evaluation.systems using (run_id) "
        f"where measure = 'ndcg_exp@10' and benchmark = '{benchmark}' and value is not null"
    )
    runs = sorted({row[0] for row in rows})
    kept = sorted({row[1] for row in rows} & (queries or {row[1] for row in rows}))
    values = {(run, query): value for run, query, value in rows}
    return runs, kept, np.array([[values[run, query] for run in runs] for query in kept])


def test_intervals_equal_the_kernel_on_scores_read_row_by_row(home):
    geometry = {
        row[0] for row in home.rows("select problem_id from signals.problem_domains where domain = 'Geometry'")
    }
    for domain, members in (("overall", None), ("Geometry", geometry)):
        runs, queries, values = score_matrix(home, "saber-math", members)
        interval = percentile_interval(bootstrap_means(values, 1000, 20263, "saber-math", domain))
        rows = home.rows(
            "select run_id, n_queries, score, low, high, n_replicates from evaluation.bootstrap_intervals "
            f"where benchmark = 'saber-math' and domain = '{domain}' order by run_id"
        )
        assert [row[0] for row in rows] == runs
        assert {row[1] for row in rows} == {len(queries)}
        np.testing.assert_allclose([row[2] for row in rows], values.mean(axis=0), atol=1e-11)
        np.testing.assert_allclose([row[3] for row in rows], interval.low, atol=1e-11)
        np.testing.assert_allclose([row[4] for row in rows], interval.high, atol=1e-11)
    assert home.rows(
        "select count(*) from evaluation.bootstrap_intervals where not low <= score or not score <= high"
    ) == [(0,)]
    assert home.rows(
        "select count(*) from evaluation.leaderboard as l left join evaluation.bootstrap_intervals as i "
        "on i.run_id = l.run_id and i.domain = 'overall' where l.overall_low is distinct from i.low "
        "or abs(l.overall - i.score) > 1e-9"
    ) == [(0,)]


def test_intervals_ranks_and_comparisons_by_scipy_and_another_generator(home):
    """Nothing of the kernels: SciPy's bootstrap and Holm by its definition, with NumPy's own draws."""
    runs, queries, values = score_matrix(home, "saber-math")
    rng = np.random.default_rng(77)
    own = dict(home.rows("select run_id, [low, high] from evaluation.bootstrap_intervals where domain = 'overall'"))
    for column, run in enumerate(runs):
        found = stats.bootstrap(
            (values[:, column],), np.mean, n_resamples=4000, method="percentile", rng=rng
        ).confidence_interval
        spread = values[:, column].std() / math.sqrt(len(queries))
        np.testing.assert_allclose(own[run], found, atol=0.3 * spread)
    shown = {row[0]: row[1:] for row in home.rows("select run_id, setting, scope from evaluation.systems")}
    means = values[rng.integers(0, len(queries), (4000, len(queries)))].mean(axis=1)
    ranked = {row[0]: row[1:] for row in home.rows(
        "select run_id, rank_low, rank_high, share_first from evaluation.rank_intervals where domain = 'overall' "
        "and benchmark = 'saber-math'"
    )}  # fmt: skip
    for run in runs:
        members = [column for column, other in enumerate(runs) if shown[other] == shown[run]]
        places = stats.rankdata(-means[:, members].round(12), method="min", axis=1)[:, members.index(runs.index(run))]
        low, high, first = ranked[run]
        assert np.mean(places < low) < 0.04
        assert np.mean(places > high) < 0.04
        assert first == pytest.approx(np.mean(places == 1), abs=0.05)
    families = defaultdict(list)
    for row in home.rows(
        "select run_id, other_run_id, compared, family, p_value, p_holm, low, high "
        "from evaluation.system_comparisons where domain = 'overall' and benchmark = 'saber-math'"
    ):
        difference = values[:, runs.index(row[0])] - values[:, runs.index(row[1])]
        drawn = means[:, runs.index(row[0])] - means[:, runs.index(row[1])]
        expected = min(1.0, 2 * min(np.mean(drawn <= 1e-12), np.mean(drawn >= -1e-12)))
        assert row[4] == pytest.approx(expected, abs=0.05)
        np.testing.assert_allclose(row[6:], np.quantile(drawn, [0.025, 0.975]), atol=0.3 * difference.std() / 50**0.5)
        families[row[2:4]].append(row[4:6])
    for tests in families.values():
        worst = 0.0
        for place, (p, adjusted) in enumerate(sorted(tests)):
            worst = max(worst, min(1.0, p * (len(tests) - place)))
            assert adjusted == pytest.approx(worst)


def test_systems_are_ranked_and_compared_within_their_setting(home):
    ranked = home.rows(
        "select setting, scope, system, rank, rank_low, rank_high, overall from evaluation.leaderboard "
        "where benchmark = 'saber-math'"
    )
    for setting, scope, system, rank, low, high, overall in ranked:
        better = [row for row in ranked if row[:2] == (setting, scope) and row[6] > overall]
        assert rank == 1 + len(better), system
        assert 1 <= low <= rank <= high
    pairs = home.rows(
        "select system, other_system, setting, other_setting, compared, family, difference, low, "
        "high, p_value, p_holm, "
        "run_id, other_run_id from evaluation.system_comparisons where domain = 'overall' and "
        "benchmark = 'saber-math'"
    )
    overall = dict(home.rows("select run_id, overall from evaluation.leaderboard"))
    families = defaultdict(list)
    for pair in pairs:
        assert pair[6] == pytest.approx(overall[pair[11]] - overall[pair[12]], abs=1e-9)
        assert pair[6] >= 0
        assert pair[7] - 1e-12 <= pair[6] <= pair[8] + 1e-12
        assert (pair[2] == pair[3]) == (pair[4] == "systems")
        families[pair[4], pair[5]].append((pair[9], pair[10]))
    for tests in families.values():
        np.testing.assert_allclose([own for _, own in tests], holm([p for p, _ in tests]))
    worst = {pair[10] for pair in pairs if "random" in (pair[0], pair[1]) and pair[4] == "systems" and pair[6] > 0.15}
    assert max(worst) < 0.05


def test_ratings_resampled_along_with_queries_widen_the_interval(home):
    rows = home.rows(
        "select r.run_id, r.low, r.high, b.low, b.high, b.score, r.mean_refit, r.ratings_std_error, b.std_error, "
        "r.n_refits from evaluation.rating_intervals as r inner join evaluation.bootstrap_intervals as b "
        "using (run_id, domain) where domain = 'overall'"
    )
    assert len(rows) == len(score_matrix(home, "saber-math")[0])
    widths = [(row[2] - row[1]) / (row[4] - row[3]) for row in rows]
    assert 1.0 < np.mean(widths) < 1.3
    for _, low, high, _, _, score, mean_refit, alone, std_error, n_refits in rows:
        assert low < score < high
        assert 0 < alone < std_error
        assert mean_refit <= score + 0.02
        assert n_refits == REFITS
    assert home.rows(
        "select count(*) from evaluation.leaderboard where benchmark = 'toy' and rating_low is not null"
    ) == [(0,)]


def test_rating_intervals_by_plain_loops_and_another_generator(home):
    """Queries drawn with replacement, a refit of each at random; the percentiles moved to lie about the score."""
    run, low, high, alone = home.rows(
        "select run_id, low, high, ratings_std_error from evaluation.rating_intervals "
        "where domain = 'overall' and run_id like 'tfidf.statement-full.candidates%'"
    )[0]
    refits = defaultdict(lambda: defaultdict(dict))
    for row in home.landing.read("rating_replicates").to_pylist():
        refits[row["query_id"]][row["replicate"]][row["document_id"]] = 2 ** (row["rating"] or 0.0) - 1
    order = defaultdict(list)
    for row in home.landing.read("runs", where=f"run_id = '{run}'").to_pylist():
        order[row["query_id"]].append((-row["score"], row["document_id"]))
    discounts = 1 / np.log2(np.arange(2, 12))
    scores = np.array([
        [
            ([gains[d] for _, d in sorted(order[query])[:10]] * discounts).sum()
            / (sorted(gains.values(), reverse=True)[:10] * discounts).sum()
            for _, gains in sorted(refits[query].items())
        ]
        for query in sorted(refits)
    ])  # fmt: skip
    assert scores.shape == (50, REFITS)
    assert alone == pytest.approx(scores.mean(axis=0).std(ddof=1), abs=1e-9)
    rng = np.random.default_rng(3)
    queries, refit = rng.integers(0, 50, (4000, 50)), rng.integers(0, REFITS, (4000, 50))
    drawn = scores[queries, refit].mean(axis=1)
    score = home.rows(f"select overall from evaluation.leaderboard where run_id = '{run}'")[0][0]
    expected = np.quantile(drawn, [0.025, 0.975]) - drawn.mean() + score
    np.testing.assert_allclose([low, high], expected, atol=0.3 * drawn.std())


def test_noise_of_one_query_by_hand(home):
    """nDCG of one run and query under each draw from the posterior, by plain loops; the interval about the fit's."""
    run, query, score, low, high, found = home.rows(
        "select run_id, query_id, score, low, high, std_error from evaluation.query_noise "
        "where run_id like 'tfidf.full-full%' order by query_id limit 1"
    )[0]
    refits = defaultdict(dict)
    for row in home.landing.read("rating_draws", where=f"query_id = '{query}'").to_pylist():
        refits[row["draw"]][row["document_id"]] = 2 ** (row["rating"] or 0.0) - 1
    rows = home.landing.read("runs", where=f"run_id = '{run}' and query_id = '{query}'").to_pylist()
    order = [d for _, d in sorted((-row["score"], row["document_id"]) for row in rows)][:10]
    values = []
    for gains in refits.values():
        best = sorted(gains.values(), reverse=True)[:10]
        ideal = sum(gain / math.log2(i + 2) for i, gain in enumerate(best))
        values.append(sum(gains[d] / math.log2(i + 2) for i, d in enumerate(order)) / ideal)
    assert len(values) == REFITS
    assert found == pytest.approx(np.std(values, ddof=1), abs=1e-9)
    fitted = home.rows(
        f"select value from evaluation.query_metrics where run_id = '{run}' and query_id = '{query}' "
        "and measure = 'ndcg_exp@10'"
    )[0][0]
    assert score == fitted
    assert (low, high) == pytest.approx((max(score - 1.96 * found, 0), min(score + 1.96 * found, 1)), abs=1e-9)


def test_noise_of_every_query_lies_about_its_score(home):
    """Refits of few verdicts lie below the fit (they lose comparisons); draws from the posterior need not."""
    n, below, draws = home.rows(
        "select count(*), count(*) filter (low > score or high < score), min(n_draws) from evaluation.query_noise "
        "inner join evaluation.query_metrics as metrics using (run_id, query_id) "
        "where metrics.measure = 'ndcg_exp@10' and metrics.value is not null and score is not null"
    )[0]
    assert n > 100
    assert (below, draws) == (0, REFITS)


def test_chance_is_exact(home):
    """A random order of q1 (gains 3, 0, 1): mean gain 4/3 at each of three ranks; of q2 (1, 0): 1/2 at two."""
    found = dict(home.rows("select measure, chance from evaluation.chance_levels where benchmark = 'toy'"
                           " and scope = 'candidates' and k = 10"))  # fmt: skip
    second, third = 1 / math.log2(3), 1 / 2
    first_query = 4 / 3 * (1 + second + third) / (3 + second)
    second_query = 1 / 2 * (1 + second) / 1
    assert found["ndcg_exp@10"] == pytest.approx((first_query + second_query) / 2)
    assert (found["recall@10"], found["hit@10"]) == (1.0, 1.0)
    five = home.rows(
        "select ideal.query_id, n_judged, n_relevant from evaluation.ideal_gains as ideal where "
        "benchmark = 'toy' and k = 5"
    )
    expected = np.mean([chance_of_a_hit(n, r, 5) for _, n, r in five if r])
    assert home.rows(
        "select chance from evaluation.chance_levels where benchmark = 'toy' and measure = 'hit@5' "
        "and scope = 'candidates'"
    )[0][0] == pytest.approx(expected)


def test_a_random_system_scores_at_chance(home):
    row = home.rows(
        "select overall_low, chance, overall_high from evaluation.leaderboard where system = 'random' limit 1"
    )[0]
    assert row[0] < row[1] < row[2]


def test_a_changed_text_takes_the_query_out_of_every_run_that_saw_it(home, copy_home):
    """Scores of an older text stood beside new ones before; now the query is missing until it is ranked again."""
    changed = copy_home(home)
    document, queries = changed.rows(
        "select document_id, list(distinct query_id) from evaluation.ranked_runs "
        "where run_id like 'random.full-full%' and rank <= 10 group by 1 order by 1 limit 1"
    )[0]
    problem = next(row for row in changed.landing.read("problems").to_pylist() if row["problem_id"] == document)
    columns = [name for name, _ in TABLES["problems"].columns]
    changed.problems(
        [{**{name: problem[name] for name in columns}, "statement": problem["statement"] + " Reworded."}]
    )
    result = changed.dbt("run", "--select", "staging", "run_queries", "systems", "outdated_rankings", "ranked_runs")
    assert result.returncode == 0, result.stdout
    left = changed.rows("select distinct query_id from evaluation.ranked_runs where run_id like 'random.full-full%'")
    assert not {query for (query,) in left} & set(queries)
    assert len(left) < 50
