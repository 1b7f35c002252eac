"""Growth with frozen information content: what is added equals what a build from scratch would have found."""

import duckdb
import pytest
from homes import Home
from random_corpora import brute_force, class_counts, edges, random_annotations

SETTINGS = """
[signals]
growth = "frozen"
[benchmark]
queries = 5
candidates_per_class = 1
min_eligible = 5
[domains.test]
Alpha = ["A"]
Beta = ["B", "C"]
"""
MODELS = ("+pair_generations", "+candidates")
KEPT = ("topic_pairs", "summary_pairs", "pair_density", "pair_counts", "pair_generations")
PAIRS = ("signals.topic_pairs", "signals.summary_pairs", "signals.pair_counts")


class Growing:
    """A home that grows, and what ought to be in it."""

    def __init__(self, path):
        self.home = Home(path, SETTINGS)
        self.home.ontology(edges())
        self.topics, self.ideas = {}, {}

    def add(self, ids, seed, branches="AB"):
        topics, ideas = random_annotations(ids, seed, branches)
        self.home.problems([{"problem_id": i} for i in ids])
        self.annotate(topics, ideas)

    def annotate(self, topics, ideas):
        self.home.annotate(topics, ideas)
        self.topics.update(topics)
        self.ideas.update(ideas)

    def run(self, *arguments):
        result = self.home.dbt("run", *(arguments or ("--select", *MODELS)))
        assert result.returncode == 0, result.stdout
        return self

    def thresholds(self):
        return dict(self.home.rows("select signal, threshold from signals.signal_thresholds"))

    def content(self):
        sql = "select topic_id, information_content from ontology.topic_information_content"
        return {topic: value for topic, value in self.home.rows(sql) if value is not None}

    def generation(self):
        sql = "select generation, n_problems, n_sets, n_eligible from signals.pair_generations order by 1"
        return self.home.rows(sql)[-1]

    def pairs(self):
        return {table: sorted(self.home.rows(f"select * from {table}")) for table in PAIRS}

    def check(self, gone=()):
        """Counts and partners equal brute force over the problems that are there."""
        topics = {i: t for i, t in self.topics.items() if i not in gone}
        thresholds = self.thresholds()
        classes = brute_force(topics, self.ideas, thresholds["topic"], thresholds["summary"], self.content())
        found = {row[0]: row[1:4] for row in self.home.rows("select * from signals.pair_counts")}
        assert found == class_counts(classes, topics)
        partners = self.home.rows("select query_id, document_id, class from benchmark.query_partners")
        queries = {row[0] for row in self.home.rows("select query_id from benchmark.queries")}
        assert queries
        assert {(q, d): c for q, d, c in partners} == {pair: c for pair, c in classes.items() if pair[0] in queries}


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """40 problems, then 14 more in between, another core idea, a further topic, and a source that left."""
    growing = Growing(tmp_path_factory.mktemp("growth"))
    growing.add([f"own/{n:03d}" for n in range(0, 60, 2)], 1)
    growing.add([f"gone/{n}" for n in range(10)], 2)
    growing.run()
    growing.check()
    growing.first = (growing.thresholds(), growing.content(), growing.generation())
    growing.add([f"own/{n:03d}" for n in range(1, 28, 2)], 3, branches="ABC")
    growing.annotate({}, {"own/004": "word0 word1 word11"})
    growing.home.annotate({"own/006": ["C/C1/C1x"]}, {})
    growing.topics["own/006"] = sorted([*growing.topics["own/006"], "C/C1/C1x"])
    assert growing.home.saber("retract", "--source", "gone").returncode == 0
    growing.run()
    growing.gone = {f"gone/{n}" for n in range(10)}
    return growing


def test_growth_equals_brute_force_under_what_was_frozen(grown):
    grown.check(grown.gone)
    thresholds, content, _ = grown.first
    assert grown.thresholds() == thresholds
    assert {topic: value for topic, value in grown.content().items() if topic in content} == content
    later = grown.home.rows(
        "select count(*) from ontology.topic_information_content where not is_frozen and n_subtree > 0"
    )
    assert later[0][0] > 5  # the branch that nobody used before
    assert "C/C1" not in content


def test_numbers_are_never_given_twice(grown):
    assert grown.first[2][:2] == (1, 40)
    generation, n_problems, _, n_eligible = grown.generation()
    assert (generation, n_problems, n_eligible) == (2, 40 + 14 + 2, 44)
    assert grown.home.rows(
        "select count(*), count(*) filter (is_current) from signals.problem_numbers where problem_id = 'own/004'"
    ) == [(2, 1)]
    assert grown.home.rows("select count(*) from signals.eligible_problems") == [(44,)]


def test_pairs_equal_those_of_a_build_from_scratch(grown):
    """Under the same frozen information content and thresholds; numbers are kept, so rows compare one by one."""
    before = grown.pairs()
    grown.run("--full-refresh", "--select", *KEPT)
    assert grown.pairs() == before
    assert grown.generation()[0] == 1


def test_a_build_killed_between_pairs_and_generation_is_repaired_and_a_source_restored(grown):
    before = grown.pairs()
    with duckdb.connect(str(grown.home.landing.home / "warehouse.duckdb")) as connection:
        connection.execute("update signals.pair_generations set n_problems = 40, n_sets = ?", [grown.first[2][2]])
        connection.execute("insert into signals.topic_pairs select 0, max(second_set) from signals.topic_pairs")
        connection.execute("insert into signals.summary_pairs values (0, 40, 1)")
    assert grown.home.saber("restore", "--source", "gone").returncode == 0
    grown.run()
    grown.check()
    after = grown.pairs()
    assert [after[table] == before[table] for table in PAIRS] == [True, True, False]
    assert grown.generation()[:2] == (2, 56)  # the restored problems have their old numbers


def test_another_setting_starts_anew(grown):
    settings = grown.home.settings_file
    settings.write_text(settings.read_text().replace("[signals]", "[signals]\nsummary_threshold = 0.3"))
    grown.run()
    grown.check()
    generation, n_problems, _, n_eligible = grown.generation()
    assert (generation, n_problems, n_eligible) == (1, 54, 54)
    assert grown.home.rows("select count(*) from ontology.topic_information_content where is_frozen") == [(0,)]


def test_a_pair_there_twice_is_found_by_dbt_test(grown, copy_home):
    """A build that only grew tests the pairs of new problems; `dbt test` looks at all."""
    home = copy_home(grown.home)
    path = str(home.landing.home / "warehouse.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute(
            "insert into signals.summary_pairs from signals.summary_pairs order by second_index limit 1"
        )
    assert home.dbt("build", "--select", "summary_pairs").returncode == 0
    again = home.dbt("test", "--select", "summary_pairs")
    assert again.returncode == 1
    assert "unique_pairs_summary_pairs" in again.stdout
