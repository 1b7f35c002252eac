"""Stored and streamed pairs give the same counts, queries and candidates, also on an extreme corpus."""

import random

import pytest
from homes import Home
from random_corpora import brute_force, class_counts

SETTINGS = """
[signals]
topic_threshold = 0.62
summary_threshold = 0.2
max_stored_share = {share}
[benchmark]
queries = 8
candidates_per_class = 1
"""
MODELS = ("+pair_generations", "+candidate_similarities", "similarity_disagreements")
LEAVES = [f"{b}/{b}{c}/{b}{c}{leaf}" for b in "ABCD" for c in range(4) for leaf in range(6)]


def land_extremes(home):
    """One topic held by all 60 problems, one by 24; 1 and 60 topics; summaries of 1 and of 200 tokens."""
    rng = random.Random(9)
    edges = [(None, "M")]
    for leaf in LEAVES:
        branch, child, name = leaf.split("/")
        edges += [("M", branch), (branch, child), (child, name)]
    home.ontology(list(dict.fromkeys(edges)))
    ids = [f"own/{n:02d}" for n in range(60)]
    topics = {i: {LEAVES[0], *rng.sample(LEAVES[2:], rng.randint(0, 3))} for i in ids}
    for i in ids[:24]:
        topics[i].add(LEAVES[1])
    topics[ids[30]] = {LEAVES[0]}
    topics[ids[31]] = set(LEAVES[:60])
    topics[ids[32]] = {LEAVES[0], *LEAVES[10:69]}
    words = [f"word{n}" for n in range(14)]
    ideas = {i: " ".join(rng.sample(words, rng.randint(2, 6))) for i in ids}
    ideas[ids[33]] = "word3"
    ideas[ids[34]] = ideas[ids[35]] = " ".join(f"word{n}" for n in range(200))
    ideas[ids[36]] = " ".join(f"word{n}" for n in range(60))
    ideas[ids[37]], ideas[ids[38]] = "let assume", "therefore"  # stop words alone: no token is left
    ideas[ids[39]] = " "
    texts = {i: {"problem_id": i} for i in ids}
    texts[ids[41]] = {"problem_id": ids[41], "statement": "Twice.", "solution": "Twice."}
    texts[ids[42]] = {"problem_id": ids[42], "statement": "Twice.", "solution": "Twice."}
    home.problems(list(texts.values()))
    topics = {i: sorted(assigned) for i, assigned in topics.items()}
    home.annotate(topics, ideas)
    del topics[ids[39]]  # not eligible without a core idea
    return topics, ideas, {ids[41], ids[42]}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The same corpus built with stored and with streamed pairs."""
    homes = []
    for share in (1.0, 0.0):
        home = Home(tmp_path_factory.mktemp("streamed"), SETTINGS.format(share=share))
        corpus = land_extremes(home)
        result = home.dbt("run", "--select", *MODELS)
        assert result.returncode == 0, result.stdout
        homes.append(home)
    return (*homes, *corpus)


def test_streamed_pairs_are_not_stored(both):
    stored, streamed, *_ = both
    for table in ("topic_pairs", "summary_pairs"):
        assert stored.rows(f"select count(*) > 100 from signals.{table}") == [(True,)]
        assert streamed.rows(f"select count(*) from signals.{table}") == [(0,)]
    assert streamed.rows("select distinct storage from signals.pair_density") == [("streamed",)]


def test_both_ways_have_the_same_marts(both):
    stored, streamed, *_ = both
    for table in ("signals.pair_counts", "benchmark.queries", "benchmark.query_partners",
                  "benchmark.candidate_similarities"):  # fmt: skip
        found = [sorted(home.rows(f"select * from {table}")) for home in (stored, streamed)]
        assert found[0] == found[1]
        assert len(found[0]) >= 8


def test_extremes_equal_brute_force(both):
    stored, _, topics, ideas, copies = both
    classes = {pair: c for pair, c in brute_force(topics, ideas, 0.62, 0.2).items() if set(pair) != copies}
    found = {row[0]: row[1:4] for row in stored.rows("select * from signals.pair_counts")}
    assert found == class_counts(classes, topics)
    assert min(sum(count) for count in found.values()) > 0
    partners = stored.rows("select query_id, document_id, class from benchmark.query_partners")
    queries = {query for query, _, _ in partners}
    assert {(q, d): c for q, d, c in partners} == {pair: c for pair, c in classes.items() if pair[0] in queries}
    assert stored.rows("select count(*) from analysis.similarity_disagreements") == [(0,)]
