"""The whole flow on the sample, as a user runs it: one command, a leaderboard, nothing changed by a second run."""

import json

import duckdb
from conftest import LEXICAL

COLUMNS = [
    "benchmark", "variant", "setting", "scope", "system", "overall", "algebra", "geometry", "number_theory",
    "combinatorics", "calculus_and_analysis", "n_queries", "n_missing", "n_degenerate", "share_judged", "judge",
    "build_id",
]  # fmt: skip
MARTS = [
    "ontology.topics", "ontology.topic_closure", "ontology.topic_information_content", "ontology.topic_similarity",
    "signals.problem_topics", "signals.summary_tokens", "signals.topic_pairs", "signals.summary_pairs",
    "signals.pair_counts", "signals.signal_histogram", "signals.threshold_curve", "signals.signal_thresholds",
    "benchmark.queries", "benchmark.candidates", "benchmark.candidate_similarities", "benchmark.qrels",
    "evaluation.query_metrics", "evaluation.leaderboard",
]  # fmt: skip


def exports(home):
    """Ordered exports of the marts, as text."""
    return {mart: "\n".join(map(repr, home.rows(f"select * from {mart} order by all"))) for mart in MARTS}


def test_the_leaderboard_has_what_a_reader_needs(sample_home):
    names = [row[0] for row in sample_home.rows("describe evaluation.leaderboard")]
    assert [name for name in COLUMNS if name not in names] == []
    rows = sample_home.rows(
        "select system, setting, overall, n_queries, share_judged, judge from evaluation.leaderboard"
    )
    assert len(rows) == 12
    assert {row[3:] for row in rows} == {(50, 1.0, "offline-techniques")}
    best = {system: max(row[2] for row in rows if row[0] == system) for system in ("bm25", "random")}
    assert 0.3 < best["random"] < best["bm25"] < 1
    assert "offline-techniques" in sample_home.build_output


def test_every_query_has_its_candidates_a_rating_and_its_share(sample_home):
    per_class = sample_home.rows("select query_id, class, count(*) from benchmark.candidates group by all")
    assert len(per_class) == 150
    assert {count for _, _, count in per_class} == {10}
    assert sample_home.rows(
        "select min(relevance), max(relevance), count(*) - count(relevance) from benchmark.qrels"
    ) == [(0.0, 5.0, 0)]
    quotas = dict(sample_home.rows("select domain, received_weight from benchmark.query_quotas"))
    assert len(quotas) == 5
    assert abs(sum(quotas.values()) - 50) < 1e-9


def test_provenance_says_offline(sample_home):
    for table in ("topic_scores", "summaries", "judgments", "ratings"):
        assert sample_home.rows(f"select distinct provider from landing.{table}") == [("offline",)]
    build = sample_home.rows("select distinct build_id from evaluation.leaderboard")[0][0]
    settings = sample_home.rows(f"select settings from landing.builds where build_id = '{build}'")
    assert json.loads(settings[0][0])["benchmark.candidates_per_class"] == 10


def test_a_second_build_changes_nothing(sample_home, copy_home):
    home = copy_home(sample_home)
    before, landed = exports(home), status(home)["landed"]
    result = home.saber("build", "--full-refresh", "--system", *LEXICAL)
    assert result.returncode == 0, result.stderr
    assert status(home)["landed"] == landed
    assert differing(home, before) == []


def test_marts_are_equal_on_one_and_four_threads(sample_home, copy_home):
    home = copy_home(sample_home)
    before = exports(home)
    for threads in ("1", "4"):
        result = home.dbt("build", "--threads", threads)
        assert result.returncode == 0, result.stdout
        assert differing(home, before) == []


def test_the_snapshot_is_readable_while_the_warehouse_is_written(sample_home, copy_home):
    home = copy_home(sample_home)
    with duckdb.connect(str(home.landing.home / "warehouse.duckdb")):
        result = home.saber("sql", "select count(*) as n from evaluation.leaderboard", "--json")
    assert json.loads(result.stdout) == [{"n": 12}]


def test_variants_build_beside_and_conflicting_vars_are_refused(sample_home, copy_home):
    home = copy_home(sample_home)
    refused = home.dbt("build", "--select", "stg_settings", "--vars", "{benchmark.queries: 7}")
    assert refused.returncode != 0
    assert "benchmark.queries" in refused.stdout + refused.stderr
    same = home.dbt("build", "--select", "stg_settings", "--vars", "{judging.rounds: 10}")
    assert same.returncode == 0, same.stdout
    beside = home.dbt("build", "--vars", "{variant: small, benchmark.queries: 7}")
    assert beside.returncode == 0, beside.stdout
    assert home.rows("select count(*) from benchmark__small.queries") == [(7,)]
    assert home.rows("select count(*) from benchmark.queries") == [(50,)]


def differing(home, before):
    """Names of the marts that differ, so that a failure names them instead of printing them."""
    now = exports(home)
    return [mart for mart in MARTS if now[mart] != before[mart]]


def status(home):
    return json.loads(home.saber("status", "--json").stdout)
