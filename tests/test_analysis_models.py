"""The analyses over a whole home, each against a plain computation from landed rows or by hand."""

from collections import Counter, defaultdict

import numpy as np
import pytest


@pytest.fixture(scope="module")
def home(evaluation_home):
    return evaluation_home


def rated(home):
    """{query: [(document, class, rating)] in the order of ratings}."""
    found = defaultdict(list)
    for row in home.rows("select query_id, document_id, class, relevance from benchmark.qrels"):
        found[row[0]].append(row[1:])
    return {query: sorted(rows, key=lambda row: (-row[2], row[0])) for query, rows in found.items()}


def test_signal_ablation_counts_classes_within_ranks(home):
    ranked = rated(home)
    for name in ("topic_only", "summary_only", "both"):
        for depth in (1, 7, 30):
            within = sum(kind == name for rows in ranked.values() for _, kind, _ in rows[:depth])
            found = home.rows(
                "select n_candidates, n_within, share_within, chance from analysis.signal_ablation "
                f"where class = '{name}' and rank = {depth}"
            )
            assert found == [(500, within, pytest.approx(within / 500), pytest.approx(depth / 30))]
    summary = dict(home.rows("select class, mean_relevance from analysis.signal_relevance"))
    for name, mean in summary.items():
        assert mean == pytest.approx(np.mean([r for rows in ranked.values() for _, kind, r in rows if kind == name]))
    assert home.rows("select sum(share_of_first_tens) from analysis.signal_relevance")[0][0] == pytest.approx(1)


def test_composition_shares_weight_one(home):
    weights = {
        row[:2]: row[2]
        for row in home.rows("select collection, level, sum(weight) from analysis.composition group by all")
    }
    n_eligible = home.rows("select count(*) from signals.eligible_problems")[0][0]
    for level in ("domain", "subdomain"):
        assert weights["corpus", level] == pytest.approx(n_eligible)
        assert weights["queries", level] == pytest.approx(50)
        assert weights["candidates", level] == pytest.approx(1500)
    topics = defaultdict(set)
    for problem, topic in home.rows("select problem_id, topic_id from signals.problem_topics"):
        topics[problem].add(topic)
    steps = {problem: {"/".join(topic.split("/")[:2]) for topic in own} for problem, own in topics.items()}
    expected = Counter()
    for own in steps.values():
        for subdomain in own:
            expected[subdomain] += 1 / len(own)
    found = dict(
        home.rows(
            "select subdomain, weight from analysis.composition where collection = 'corpus' and level = 'subdomain'"
        )
    )
    assert found.keys() == expected.keys()
    for subdomain, weight in found.items():
        assert weight == pytest.approx(expected[subdomain], abs=1e-9)


def test_composition_of_one_query_and_its_first_ten(home):
    query = min(rated(home))
    parts = {
        row[:2]: row[2]
        for row in home.rows(
            "select part, level, sum(weight) from analysis.candidate_composition where query_id = "
            f"'{query}' group by all"
        )
    }
    assert parts == {
        (part, level): pytest.approx(weight)
        for part, weight in (("query", 1), ("candidates", 30), ("first ten", 10))
        for level in ("domain", "subdomain")
    }


def test_composition_of_one_query_by_plain_loops(home):
    """Which documents count, and where: the subdomain is the topic at depth two."""
    query, rows = min(rated(home).items())
    topics = defaultdict(set)
    for problem, topic in home.rows("select problem_id, topic_id from signals.problem_topics"):
        topics[problem].add("/".join(topic.split("/")[:2]))
    members = {"query": [query], "candidates": [d for d, _, _ in rows], "first ten": [d for d, _, _ in rows[:10]]}
    expected = Counter()
    for part, problems in members.items():
        for problem in problems:
            for subdomain in topics[problem]:
                expected[part, subdomain] += 1 / len(topics[problem])
    found = home.rows(
        "select part, subdomain, weight from analysis.candidate_composition where level = 'subdomain' and "
        f"query_id = '{query}'"
    )
    assert {row[:2]: pytest.approx(row[2]) for row in found} == expected


def test_the_front_of_latency_and_quality_by_brute_force(home):
    rows = home.rows(
        "select setting, scope, overall, mean_latency_s, is_on_front from analysis.latency_quality "
        "where benchmark = 'saber-math'"
    )
    assert len(rows) > 10
    for setting, scope, overall, seconds, is_on_front in rows:
        beaten = any(
            other[:2] == (setting, scope)
            and other[2] >= overall
            and other[3] <= seconds
            and other[2:4] != (overall, seconds)
            for other in rows
        )
        assert is_on_front == (not beaten)


def test_scores_by_length_cover_every_query_once(home):
    rows = home.rows(
        "select run_id, sum(n_queries), sum(n_queries * score) / sum(n_queries), count(*) "
        "from analysis.query_length_scores where benchmark = 'saber-math' group by all"
    )
    overall = dict(home.rows("select run_id, overall from evaluation.leaderboard"))
    assert len(rows) > 10
    for run, n, mean, tenths in rows:
        assert (n, tenths) == (50, 10)
        assert mean == pytest.approx(overall[run], abs=1e-9)
    bounds = home.rows(
        "select max_characters, lead(min_characters) over (order by tenth) from analysis.query_length_scores "
        "where run_id like 'bm25.statement-full.candidates%'"
    )
    assert all(upper is None or lower <= upper for lower, upper in bounds)


def test_lengths_of_first_documents_are_shares_of_all(home):
    rows = home.rows(
        "select run_id, sum(share_first), sum(share_best), sum(n_first), sum(n_documents) "
        "from analysis.document_length_ranks where benchmark = 'saber-math' and scope = 'candidates' group by all"
    )
    assert len(rows) > 10
    for _, first, best, n_first, n_documents in rows:
        assert (first, best) == pytest.approx((1, 1))
        assert (n_first, n_documents) == (500, 1500)


def test_scores_and_lengths_by_tenths_by_plain_loops(home):
    texts = {row[0]: row[1:] for row in home.rows("select problem_id, statement, solution from staging.stg_problems")}
    run = home.rows("select run_id from evaluation.systems where run_id like 'bm25.statement-full.candidates%'")[0][0]
    values = dict(
        home.rows(
            f"select query_id, value from evaluation.query_metrics where run_id = '{run}' and measure = 'ndcg_exp@10'"
        )
    )
    tenths = np.array_split(sorted((len(texts[query][0]), query) for query in values), 10)
    expected = [
        (int(tenth[0][0]), int(tenth[-1][0]), pytest.approx(np.mean([values[query] for _, query in tenth])))
        for tenth in tenths
    ]
    assert expected == home.rows(
        "select min_characters, max_characters, score from analysis.query_length_scores "
        f"where run_id = '{run}' order by tenth"
    )
    ranked = rated(home)
    pairs = sorted(
        (sum(len(text or "") for text in texts[document]), query, document)
        for query, rows in ranked.items()
        for document, _, _ in rows
    )
    relevance = {(query, document): r for query, rows in ranked.items() for document, _, r in rows}
    best = {(query, document) for query, rows in ranked.items() for document, _, _ in rows[:10]}
    first = set(home.rows(
        f"select query_id, document_id from evaluation.ranked_runs where run_id = '{run}' and rank <= 10"
    ))  # fmt: skip
    found = home.rows(
        "select min_characters, max_characters, mean_relevance, n_first, n_best from analysis.document_length_ranks "
        f"where run_id = '{run}' order by tenth"
    )
    for number, row in enumerate(found):
        tenth = pairs[150 * number : 150 * (number + 1)]
        own = [pair[1:] for pair in tenth]
        assert row == (
            tenth[0][0], tenth[-1][0], pytest.approx(np.mean([relevance[pair] for pair in own])),
            len(first & {*own}), len(best & {*own}),
        )  # fmt: skip
