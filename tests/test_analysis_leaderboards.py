"""Correlations of leaderboards, gains, prefixes and rephrased copies, by hand and by plain loops."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from evaluation_home import PREFIXED, copies
from paper_scores import COLUMNS, OVERALL
from scipy import stats


@pytest.fixture(scope="module")
def home(evaluation_home):
    return evaluation_home


def rated(home):
    """{query: [(document, class, rating)] in the order of ratings}."""
    found = defaultdict(list)
    for row in home.rows("select query_id, document_id, class, relevance from benchmark.qrels"):
        found[row[0]].append(row[1:])
    return {query: sorted(rows, key=lambda row: (-row[2], row[0])) for query, rows in found.items()}


def test_the_paper_s_tables_correlate_as_a_hand_computation_says(home):
    """Statement-full with full-full, of both tables that print statement-full."""
    columns = list(zip(*OVERALL.values(), strict=True))
    for one in range(4):
        for other in range(4):
            if COLUMNS[one] >= COLUMNS[other]:
                continue
            found = home.rows(
                "select n_systems, pearson, spearman from analysis.external_correlations where subset = 'all' and "
                f"(leaderboard, measure, other_leaderboard, other_measure) = {(*COLUMNS[one], *COLUMNS[other])}"
            )
            expected = (
                25,
                pytest.approx(stats.pearsonr(columns[one], columns[other]).statistic, abs=1e-8),
                pytest.approx(stats.spearmanr(columns[one], columns[other]).statistic, abs=1e-8),
            )
            assert found == [expected]
    main, intervals = columns[0], columns[3]
    assert [s for s, a, b in zip(OVERALL, main, intervals, strict=True) if abs(a - b) > 0.002] == [
        "Approach Zero",
        "TF-IDF",
    ]


def test_pearson_of_the_main_table_by_hand(home):
    """Σ(x - x̄)(y - ȳ) / √(Σ(x - x̄)² Σ(y - ȳ)²), written out."""
    x, y = (np.array([values[column] for values in OVERALL.values()]) for column in (0, 2))
    dx, dy = x - x.sum() / 25, y - y.sum() / 25
    expected = (dx * dy).sum() / np.sqrt((dx * dx).sum() * (dy * dy).sum())
    assert home.rows(
        "select pearson from analysis.external_correlations where subset = 'all' and leaderboard = other_leaderboard "
        "and measure = 'full-full' and other_measure = 'statement-full' and leaderboard like '%main%'"
    ) == [(pytest.approx(expected, abs=1e-8),)]
    assert 0.97 < expected < 0.99


def test_own_systems_meet_external_ones_by_name(home):
    """bm25, tfidf and jaccard here are BM25, TF-IDF and Jaccard there; random is nowhere else."""
    rows = home.rows(
        "select n_systems, spearman from analysis.external_correlations where subset = 'all' "
        "and leaderboard = 'SABER-Math: main results' and measure = 'statement-full' "
        "and other_measure = 'statement-full, candidates'"
    )
    assert len(rows) == 1
    assert rows[0][0] == 3
    overall = dict(
        home.rows(
            "select system, overall from evaluation.leaderboard where setting = 'statement-full' and "
            "scope = 'candidates'"
        )
    )
    ours = [overall[system] for system in ("bm25", "tfidf", "jaccard")]
    expected = stats.spearmanr(ours, [OVERALL[system][0] for system in ("BM25", "TF-IDF", "Jaccard")]).statistic
    assert rows[0][1] == pytest.approx(expected, abs=1e-8)


def test_a_rule_that_has_landed_names_a_subset(home):
    members = ("Octen-Embedding-8B", "Gemini-Embedding-2", "Qwen3-Embedding-4B", "Harrier-OSS-v1-27b")
    x, y = zip(*((OVERALL[system][1], OVERALL[system][0]) for system in members), strict=True)
    found = home.rows(
        "select n_systems, pearson from analysis.external_correlations where subset = 'recent' "
        "and leaderboard = other_leaderboard and measure = 'statement-full' and other_measure = 'statement-statement'"
    )
    assert found == [(4, pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-8))]


def test_equal_scores_share_their_rank(home):
    """Two systems of the table have 0.497 in statement-statement."""
    assert Counter(values[1] for values in OVERALL.values()).most_common(1) == [(0.497, 2)]


def test_gains_are_those_of_a_plain_computation(home):
    ranked = rated(home)
    run = home.rows("select run_id from evaluation.systems where run_id like 'bm25.full-full.candidates%'")[0][0]
    first = defaultdict(list)
    for query, document in home.rows(
        f"select query_id, document_id from evaluation.ranked_runs where run_id = '{run}' and rank <= "
        "10 order by rank"
    ):
        first[query].append(document)
    gains = {"exp 3": lambda r, _: 2 ** (3 * r / 5) - 1, "linear": lambda r, _: r / 5, "rank": lambda _, below: below}
    discounts = 1 / np.log2(np.arange(2, 12))
    found = dict(home.rows(f"select gain, score from analysis.gain_scores where run_id = '{run}'"))
    for name, gain in gains.items():
        scores = []
        for query, rows in ranked.items():
            values = [r for _, _, r in rows]
            of = {d: gain(r, sum(v < r for v in values) / (len(values) - 1)) for d, _, r in rows}
            best = sorted(of.values(), reverse=True)[:10]
            scores.append(sum([of[d] for d in first[query]] * discounts) / sum(best * discounts))
        assert found[name] == pytest.approx(np.mean(scores), abs=1e-9), name
    headline = home.rows(f"select overall, ndcg_lin_10 from evaluation.leaderboard where run_id = '{run}'")[0]
    assert (found["exp 5"], found["linear"]) == pytest.approx(headline, abs=1e-9)


def test_agreement_of_gains_equals_scipy(home):
    scores = defaultdict(dict)
    for run, gain, score in home.rows(
        "select run_id, gain, score from analysis.gain_scores where setting = 'full-full' and scope = 'candidates'"
    ):
        scores[gain][run] = score
    rows = home.rows(
        "select gain, other_gain, pearson, spearman, kendall, n_systems from analysis.gain_agreement "
        "where setting = 'full-full' and scope = 'candidates'"
    )
    assert len(rows) == 28
    for one, other, pearson, spearman, kendall, n in rows:
        x, y = ([scores[gain][run] for run in sorted(scores[gain])] for gain in (one, other))
        assert n == len(x) >= 4
        assert pearson == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-6)
        assert spearman == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-8)
        assert kendall == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-8)


def test_prefixes_are_compared_with_the_same_system_without(home):
    plain, prefixed = PREFIXED
    row = home.rows("select run_id, plain_run_id, query_prefix, difference, low, high, n_better, n_worse "
                    "from analysis.instruction_effects where domain = 'overall'")  # fmt: skip
    assert len(row) == 1
    overall = dict(home.rows("select run_id, overall from evaluation.leaderboard"))
    assert row[0][:3] == (prefixed, plain, "Query: ")
    assert row[0][3] == pytest.approx(overall[prefixed] - overall[plain], abs=1e-9)
    assert row[0][4] < row[0][3] < row[0][5]
    values = defaultdict(dict)
    for run, query, value in home.rows(
        "select run_id, query_id, value from evaluation.query_metrics where measure = 'ndcg_exp@10'"
    ):
        values[run][query] = value
    better = sum(values[prefixed][query] > values[plain][query] for query in values[plain])
    assert row[0][6] == better


def test_where_a_rephrased_copy_ranks(home):
    query, candidate, stranger = copies(home)
    runs = home.landing.read("runs", where=f"query_id = '{query}' and setting = 'statement-full'").to_pylist()
    corpus = sorted((-r["score"], r["document_id"]) for r in runs if r["scope"] == "corpus")
    candidates = {d for (d,) in home.rows(f"select document_id from benchmark.candidates where query_id = '{query}'")}
    order = [document for _, document in corpus]
    found = {
        (run.split(".")[0], scope, document): rest
        for run, scope, document, *rest in home.rows(
            "select run_id, scope, document_id, rank, rank_among_candidates, n_ranked, is_candidate "
            f"from analysis.rephrased_copies where query_id = '{query}' and setting = 'statement-full'"
        )
    }
    for document in (candidate, stranger):
        rank, among, depth, _ = found["jaccard", "corpus", document]
        assert depth == 50
        if document in order:
            above = order[: order.index(document)]
            assert (rank, among) == (len(above) + 1, sum(d in candidates for d in above) + 1)
        else:
            assert rank is None
    own = sorted((-r["score"], r["document_id"]) for r in runs if r["system"] == "bm25")
    place = [document for _, document in own].index(candidate) + 1
    assert found["bm25", "candidates", candidate] == [place, place, 30, True]
    assert ("bm25", "candidates", stranger) not in found
