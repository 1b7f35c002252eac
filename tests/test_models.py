"""The dbt models against hand-computed numbers and an independent brute force, read by plain DuckDB."""

import math
import shutil

import pytest
from homes import Home
from random_corpora import brute_force, class_counts, land_random_corpus

SETTINGS = """
[signals]
topic_threshold = 0.6
summary_threshold = 0.25
[benchmark]
queries = 6
candidates_per_class = 1
[domains.test]
Alpha = ["A"]
Beta = ["B", "C"]
"""
EDGES = [
    (None, "M"),
    ("M", "A"),
    ("M", "B"),
    ("M", "C"),
    ("A", "A1"),
    ("A", "A2"),
    ("B", "B1"),
    ("C", "S"),
    ("B", "S"),
]


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    """Five annotations: A1 twice, A2 once, B1 twice."""
    home = Home(tmp_path_factory.mktemp("golden"), SETTINGS)
    home.problems([{"problem_id": f"own/{n}"} for n in range(1, 7)] + [{"problem_id": "own/7", "solution": None}])
    home.ontology(EDGES)
    home.annotate(
        {"own/1": ["A/A1"], "own/2": ["A/A1", "B/B1"], "own/3": ["A/A2"], "own/4": ["B/B1"], "own/7": ["A/A1"]},
        {
            "own/1": "Fold the paper strip",
            "own/2": "Fold the paper circle",
            "own/3": "Count colourings twice",
            "own/4": "Fold the strip",
            "own/5": "Count twice",
            "own/6": None,
        },
    )
    result = home.dbt("build")
    assert result.returncode == 0, result.stdout
    return home


def test_a_shared_node_is_one_topic_for_each_root_path(golden):
    found = golden.rows("select topic_id, parent_id, depth, branch from ontology.topics where label = 'S' order by 1")
    assert found == [("B/S", "B", 2, "B"), ("C/S", "C", 2, "C")]
    assert golden.rows("select count(*) from ontology.topics") == [(9,)]
    assert golden.rows(
        "select distance from ontology.topic_closure where descendant_id = ancestor_id group by 1"
    ) == [(0,)]


def test_information_content_by_hand(golden):
    rows = golden.rows("select topic_id, n_subtree, information_content from ontology.topic_information_content")
    found = {topic: (count, content) for topic, count, content in rows}
    assert found["M"] == (5, 0.0)
    assert found["A/A1"] == (2, pytest.approx(-math.log(2 / 5), abs=1e-15))
    assert found["A"] == (3, pytest.approx(-math.log(3 / 5), abs=1e-15))
    assert found["C"] == (0, None)


def test_lin_by_hand(golden):
    rows = golden.rows(
        "select topic_id, other_topic_id, lowest_common_ancestor_id, similarity from ontology.topic_similarity"
    )
    assert [row[:3] for row in rows] == [("A/A1", "A/A2", "A")]
    expected = 2 * math.log(5 / 3) / (math.log(5 / 2) + math.log(5 / 1))
    assert rows[0][3] == pytest.approx(expected, abs=1e-12)


def test_eligibility_names_the_first_thing_missing(golden):
    rows = dict(golden.rows("select problem_id, reason from signals.corpus_eligibility"))
    assert rows == {
        "own/1": None, "own/2": None, "own/3": None, "own/4": None,
        "own/5": "no topic", "own/6": "no core idea", "own/7": "no solution",
    }  # fmt: skip


def test_pairs_and_classes_by_hand(golden):
    """BMA(1, 2) = (1 + 1 + 0) / 3, BMA(2, 4) = 2/3; the strips share 2 of 3 words, 1 and 2 share 2 of 4."""
    counts = golden.rows("select * exclude problem_index from signals.pair_counts order by problem_id")
    assert counts == [("own/1", 0, 1, 1), ("own/2", 0, 0, 2), ("own/3", 0, 0, 0), ("own/4", 0, 1, 1)]
    assert golden.rows(
        "select domain, weight from signals.problem_domains where problem_id = 'own/2' order by 1"
    ) == [
        ("Alpha", 0.5),
        ("Beta", 0.5),
    ]


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    home = Home(tmp_path_factory.mktemp("crowded"), SETTINGS.replace("queries = 6", "queries = 20"))
    topics, ideas = land_random_corpus(home, 60, seed=5)
    result = home.dbt("build")
    assert result.returncode == 0, result.stdout
    return home, topics, ideas


def test_kernels_equal_brute_force(crowded):
    home, topics, ideas = crowded
    classes = brute_force(topics, ideas, 0.6, 0.25)
    found = {row[0]: row[1:4] for row in home.rows("select * from signals.pair_counts")}
    assert found == class_counts(classes, topics)
    partners = home.rows("select query_id, document_id, class from benchmark.query_partners")
    queries = {row[0] for row in home.rows("select query_id from benchmark.queries")}
    assert len(queries) == 20
    assert {(q, d): c for q, d, c in partners} == {pair: c for pair, c in classes.items() if pair[0] in queries}


def test_candidates_are_k_of_each_class_and_equal_on_any_thread_count(crowded, tmp_path):
    home, _, _ = crowded
    counts = home.rows("select query_id, class, count(*) from benchmark.candidates group by all")
    assert {count for _, _, count in counts} == {1}
    assert len(counts) == 60
    tables = ("signals.topic_pairs", "signals.summary_pairs", "signals.pair_counts", "benchmark.queries",
              "benchmark.candidates", "benchmark.candidate_similarities", "ontology.topic_similarity")  # fmt: skip
    before = {table: home.rows(f"select * from {table} order by all") for table in tables}
    copy = Home(tmp_path, home.settings_file.read_text())
    shutil.copytree(home.landing.home / "landing", copy.landing.home / "landing", dirs_exist_ok=True)
    assert copy.dbt("build", "--threads", "4").returncode == 0
    assert {table: copy.rows(f"select * from {table} order by all") for table in tables} == before


def test_a_truncated_file_fails_the_build_by_name_and_a_retracted_source_leaves(crowded, tmp_path):
    home, _, _ = crowded
    copy = Home(tmp_path, home.settings_file.read_text())
    shutil.copytree(home.landing.home / "landing", copy.landing.home / "landing", dirs_exist_ok=True)
    whole = copy.landing.files("problems")[-1].path
    whole.with_name("zz-cut.parquet").write_bytes(whole.read_bytes()[:-9])
    copy.problems([{"problem_id": "other/1"}])
    assert copy.saber("retract", "--source", "other").returncode == 0
    result = copy.dbt("build")
    assert result.returncode == 1
    assert "unreadable_files" in result.stdout
    assert copy.rows("select file from analysis.unreadable_files") == [("zz-cut.parquet",)]
    assert copy.rows("select count(*) from staging.stg_problems") == [(60,)]
    assert copy.saber("restore", "--source", "other").returncode == 0
    copy.problems([{"problem_id": "own/000", "statement": "Another text."}])
    copy.dbt("build", "--select", "staging", "stale_rows")
    assert copy.rows("select count(*) from staging.stg_problems") == [(61,)]
    stale = copy.rows("select landed_table, problem_id, reason from analysis.stale_rows order by 1")
    assert stale == [("summaries", "own/000", "older text"), ("topic_scores", "own/000", "older text")]


def test_an_empty_warehouse_builds(tmp_path):
    home = Home(tmp_path)
    result = home.dbt("build")
    assert result.returncode == 0, result.stdout
    assert home.rows("select count(*) from evaluation.leaderboard") == [(0,)]
