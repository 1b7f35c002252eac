"""Plans: exact where the whole work is the sample, close where a part is, and nothing left behind."""

import json

import numpy as np
import pytest
from homes import Home
from random_corpora import brute_force, land_random_corpus

from bench.corpus import Options, make_problems
from bench.ontology import make_ontology
from udfs.bma_space import SetSpace
from udfs.information_content import information_content
from udfs.jaccard_blocks import qualifying_pairs
from udfs.jaccard_index import TokenSetIndex
from udfs.pair_estimate import estimate_summary_pairs, estimate_topic_pairs
from udfs.tokens import summary_tokens
from udfs.topic_sets import distinct_topic_sets
from warehouse.errors import SaberError
from warehouse.plan_home import engine_limit_mib

SETTINGS = """
[signals]
topic_threshold = 0.6
summary_threshold = 0.25
[benchmark]
queries = 5
candidates_per_class = 1
"""


def test_a_plan_of_the_whole_work_is_exact(tmp_path):
    home = Home(tmp_path, SETTINGS)
    assert "no pairs to plan" in home.saber("plan").stderr
    topics, ideas = land_random_corpus(home, 60, seed=5)
    before = sorted(home.landing.home.iterdir())
    result = home.saber("plan", "--share", "1", "--json")
    assert result.returncode == 0, result.stderr
    plan = json.loads(result.stdout)
    classes = brute_force(topics, ideas, 0.6, 0.25)
    steps = {step["name"]: step for step in plan["steps"]}
    assert steps["summary pairs"]["n_pairs"] == sum(kind != "topic_only" for kind in classes.values()) // 2
    assert steps["summary pairs"]["n_compared"] == 60 * 60 // 2
    sets = {tuple(assigned) for assigned in topics.values()}
    alike = {
        tuple(sorted((tuple(topics[x]), tuple(topics[y])))) for (x, y), c in classes.items() if c != "summary_only"
    }
    assert steps["topic pairs, of topic sets"]["n_pairs"] == len(alike | {(s, s) for s in sets})
    assert (plan["n_problems"], plan["n_new"], plan["storage"]) == (60, 60, "stored")
    assert plan["thresholds"] == {"topic": 0.6, "summary": 0.25, "origin": "saber.toml"}
    assert plan["memory_mib"] < plan["memory_most_mib"]
    assert sorted(home.landing.home.iterdir()) == before


@pytest.fixture(scope="module")
def generated():
    """6,000 problems like those of the benchmark's generator, in blocks that are small enough to be many."""
    ontology = make_ontology(7)
    chunk = next(make_problems(ontology, 6_000, Options()))
    sets, _ = distinct_topic_sets(chunk.problem, chunk.topic, 6_000)
    content = information_content(ontology.ancestors, np.bincount(chunk.topic, minlength=len(ontology.parent)))
    lists = summary_tokens(chunk.core_ideas, "unicode")
    indptr = np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy())])
    tokens = lists.flatten().dictionary_encode().indices.to_numpy()
    return SetSpace(ontology.ancestors, content, sets), TokenSetIndex(indptr, tokens, memory_budget=1 << 22)


def test_a_sample_of_blocks_is_close(generated):
    _, index = generated
    exact = sum(len(block.i) for block in qualifying_pairs(index, 0.211))
    found = estimate_summary_pairs(index, 0.211, share=0.1)
    assert found.n_sampled * 5 < found.n_blocks
    assert found.n_pairs == pytest.approx(exact, rel=0.35)
    assert found.cpu_seconds > 0


def test_growth_is_estimated_for_new_pairs_alone(generated):
    space, index = generated
    n_sets = len(space.sets)
    whole, grown = (
        estimate_topic_pairs(space, 0.858, share=1),
        estimate_topic_pairs(space, 0.858, first_new_set=n_sets - 100, share=1),
    )
    assert grown.n_compared == (n_sets**2 - (n_sets - 100) ** 2) // 2
    assert 100 <= grown.n_pairs < whole.n_pairs / 10
    rows = estimate_summary_pairs(index, 0.211, first_new_row=5_900, share=1)
    blocks = qualifying_pairs(index, 0.211, first_new_row=5_900)
    assert rows.n_pairs == sum(len(block.i) for block in blocks)
    assert estimate_summary_pairs(index, 0.211, first_new_row=6_000).n_pairs == 0


def test_memory_limits_are_read_as_the_engine_reads_them():
    assert engine_limit_mib("4GB") == pytest.approx(4e9 / 2**20)
    assert engine_limit_mib(" 512 MiB") == 512
    with pytest.raises(SaberError, match="no amount of memory"):
        engine_limit_mib("80%")
