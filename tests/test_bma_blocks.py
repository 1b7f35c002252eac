"""The full-size pair kernel against the definition, and its promises: resume, growth, rows, threads, memory."""

import math
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from topic_corpora import Corpus, brute_bma, brute_lin, corpora, set_lists

from udfs import bma_search
from udfs.bma import best_match_averages
from udfs.bma_blocks import SetPairs, count_blocks, partners_of_sets, similar_set_pairs
from udfs.bma_space import SetSpace
from udfs.lin import TopicSimilarities
from udfs.topic_sets import distinct_topic_sets

Found = dict[tuple[int, int], float]


def fixed(examples: int) -> settings:
    """Settings of a test whose fixture is the same for all examples."""
    return settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def space_of(corpus: Corpus, memory_budget: int = 1 << 30) -> SetSpace:
    return SetSpace(corpus.ancestors, corpus.information_content, corpus.sets, memory_budget)


def collect(blocks: Iterable[SetPairs]) -> Found:
    found: Found = {}
    for block in blocks:
        similarity = np.full(len(block.x), np.nan) if block.similarity is None else block.similarity
        for x, y, value in zip(block.x.tolist(), block.y.tolist(), similarity.tolist(), strict=True):
            assert (x, y) not in found, "a pair came twice"
            found[x, y] = value
    return found


@pytest.fixture(params=["indexed", "dense"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test is run through the index and by computing every average."""
    monkeypatch.setattr(bma_search, "DENSE_SHARE", math.inf if request.param == "indexed" else -1.0)
    return str(request.param)


def by_definition(corpus: Corpus, threshold: float) -> Found:
    lists, lin = set_lists(corpus.sets), brute_lin(corpus)
    pairs = [(x, y) for x in range(len(lists)) for y in range(x, len(lists))]
    values = {(x, y): brute_bma(lin, lists[x], lists[y]) for x, y in pairs}
    return {pair: value for pair, value in values.items() if value >= threshold}


@st.composite
def corpora_and_thresholds(draw: st.DrawFn, most: int = 5) -> tuple[Corpus, float]:
    """A threshold anywhere, or exactly at one of the similarities, or one step beside it."""
    corpus = draw(corpora(most=most))
    values = sorted({value for value in by_definition(corpus, 0.0).values() if value >= 0.001})
    at = draw(st.sampled_from(values))
    beside = st.sampled_from([at, math.nextafter(at, 2.0), math.nextafter(at, 0.0)])
    return corpus, draw(st.one_of(st.floats(0.01, 1.0), beside))


def test_hand_computed_pairs() -> None:
    # root 0 ── 1 ── 3, 4; 2. Lin(3, 4) = 0.18801, Lin(1, 3) = 0.45357; sets {3, 4}, {2, 3}, {3}, {1}:
    corpus = Corpus([-1, 0, 0, 1, 1], [[3, 4], [2, 3], [3], [1], [1], [2]])
    found = collect(similar_set_pairs(space_of(corpus), 0.7, with_similarity=True))
    # {3, 4} with {3}: (1 + 0.188 + 1) / 3 = 0.729; {2, 3} with {3}: 2 / 3 is too little.
    alone = {(s, s): 1.0 for s in range(5)}
    assert found == {**alone, (0, 2): pytest.approx(2.18801086 / 3, abs=1e-8)}


@fixed(50)
@given(corpora_and_thresholds(), st.integers(1, 9))
def test_equals_the_definition_to_the_bit(case: tuple[Corpus, float], block_size: int) -> None:
    corpus, threshold = case
    found = collect(similar_set_pairs(space_of(corpus), threshold, block_size=block_size, with_similarity=True))
    assert found == by_definition(corpus, threshold)


@fixed(15)
@given(corpora_and_thresholds(most=30))
def test_equals_the_definition_for_large_sets(case: tuple[Corpus, float]) -> None:
    corpus, threshold = case
    found = collect(similar_set_pairs(space_of(corpus), threshold, with_similarity=True))
    assert found == by_definition(corpus, threshold)


@fixed(20)
@given(corpora_and_thresholds())
def test_published_comparison_rounds_both_to_float16(case: tuple[Corpus, float]) -> None:
    corpus, threshold = case
    found = collect(similar_set_pairs(space_of(corpus), threshold, comparison="published"))
    expected = {p for p, v in by_definition(corpus, 0.0).items() if np.float16(v) >= np.float16(threshold)}
    assert found.keys() == expected


@fixed(20)
@given(corpora_and_thresholds(), st.integers(1, 5), st.integers(0, 30))
def test_a_resumed_run_is_the_rest_of_a_whole_one(case: tuple[Corpus, float], block_size: int, start: int) -> None:
    corpus, threshold = case
    space = space_of(corpus)
    whole = list(similar_set_pairs(space, threshold, block_size=block_size, with_similarity=True))
    assert [block.block for block in whole] == list(range(count_blocks(len(corpus.sets), 0, block_size)))
    rest = list(similar_set_pairs(space, threshold, block_size=block_size, start_block=start, with_similarity=True))
    for resumed, block in zip(rest, whole[start:], strict=True):
        assert resumed.block == block.block
        np.testing.assert_array_equal(resumed.x, block.x)
        np.testing.assert_array_equal(resumed.y, block.y)
        np.testing.assert_array_equal(resumed.similarity, block.similarity)


@fixed(30)
@given(corpora_and_thresholds(), st.integers(1, 25), st.integers(1, 6))
def test_old_pairs_and_pairs_with_new_sets_make_the_whole(
    case: tuple[Corpus, float], cut: int, block_size: int
) -> None:
    corpus, threshold = case
    ancestors, ic = corpus.ancestors, corpus.information_content  # frozen: those of the whole corpus
    problem, topic = corpus.annotations
    early = problem < cut
    old, _ = distinct_topic_sets(problem[early], topic[early], cut)
    before = collect(similar_set_pairs(SetSpace(ancestors, ic, old), threshold))
    added = collect(
        similar_set_pairs(space_of(corpus), threshold, first_new_set=len(old), block_size=block_size)
        if len(old) < len(corpus.sets)
        else []
    )
    assert not before.keys() & added.keys()
    assert before.keys() | added.keys() == by_definition(corpus, threshold).keys()


@fixed(30)
@given(corpora_and_thresholds(), st.sets(st.integers(0, 24), max_size=6), st.integers(1, 4))
def test_partners_of_chosen_sets(case: tuple[Corpus, float], chosen: set[int], block_size: int) -> None:
    corpus, threshold = case
    rows = np.array(sorted(row for row in chosen if row < len(corpus.sets)), dtype=np.int64)
    found = collect(partners_of_sets(space_of(corpus), rows, threshold, block_size=block_size, with_similarity=True))
    whole = by_definition(corpus, threshold)
    either_way = {**whole, **{(y, x): value for (x, y), value in whole.items()}}
    assert found == {pair: value for pair, value in either_way.items() if pair[0] in set(rows.tolist())}


def realistic(n_problems: int, seed: int = 3, common: float = 0.0) -> Corpus:
    """A few hundred problems: skewed popularity, now and then 60 topics, optionally one topic nearly everywhere."""
    rng = np.random.default_rng(seed)
    parent = [-1] + [int(rng.integers(max(0, (t - 1) // 4 - 2), (t - 1) // 4 + 1)) for t in range(1, 200)]
    weight = 1.0 / np.arange(1, 201)
    rng.shuffle(weight)
    topics = []
    for number in range(n_problems):
        size = 60 if number % 97 == 5 else int(rng.integers(1, 6))
        members = set(rng.choice(200, size, replace=False, p=weight / weight.sum()).tolist())
        if rng.random() < common:
            members.add(199)
        topics.append(sorted(members))
    return Corpus(parent, topics)


@pytest.mark.parametrize("common", [0.0, 0.4, 1.0])
def test_common_topics_and_sets_of_one_and_sixty(common: float) -> None:
    corpus = realistic(300, common=common)
    sizes = corpus.sets.sizes
    assert sizes.max() >= 60
    n = len(corpus.sets)
    x, y = np.triu_indices(n)
    values = best_match_averages(corpus.ancestors, corpus.information_content, corpus.sets, x, y)
    for threshold in (0.3, 0.858):
        expected = {(a, b) for a, b, v in zip(x.tolist(), y.tolist(), values, strict=True) if v >= threshold}
        assert collect(similar_set_pairs(space_of(corpus), threshold)).keys() == expected


def test_threads_blocks_chunks_and_the_matrix_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = realistic(250)
    expected = collect(similar_set_pairs(space_of(corpus), 0.6, workers=1, with_similarity=True))
    monkeypatch.setattr(bma_search, "CHUNK_CANDIDATES", 300)
    for budget, workers, block_size in [(0, 1, 256), (1 << 30, 3, 7), (0, 2, 50)]:
        space = space_of(corpus, budget)
        blocks = similar_set_pairs(space, 0.6, workers=workers, block_size=block_size, with_similarity=True)
        assert collect(blocks) == expected


def test_the_matrix_is_kept_only_within_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = realistic(200)
    n_used = len(np.unique(corpus.annotations[1]))
    args = corpus.ancestors, corpus.information_content, corpus.annotations[1]
    for budget, kept in [(8 * n_used**2, True), (8 * n_used**2 - 1, False)]:
        rows, _ = TopicSimilarities(*args, budget).rows(np.array([0]))
        assert (len(rows) == n_used) is kept


def test_the_cheaper_way_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = realistic(200)
    monkeypatch.setattr(bma_search, "DENSE_SHARE", 0.08)
    everything = np.arange(len(corpus.sets))

    def chosen(threshold: float, budget: int = 1 << 30) -> type:
        return type(bma_search.make_search(space_of(corpus, budget), everything, threshold, from_both_ends=True))

    assert chosen(0.99) is bma_search.IndexedSearch
    assert chosen(0.05) is bma_search.DenseSearch
    assert chosen(0.99, budget=1_000) is bma_search.DenseSearch  # no room for the index


def test_a_consumer_may_stop_early() -> None:
    blocks = similar_set_pairs(space_of(realistic(200)), 0.6, block_size=5)
    assert next(blocks).block == 0
    blocks.close()  # type: ignore[attr-defined]


def test_thresholds_that_mean_everything_or_nothing() -> None:
    corpus = realistic(50)
    assert collect(similar_set_pairs(space_of(corpus), 1.0000001)) == {}
    identical = collect(similar_set_pairs(space_of(corpus), 1.0))
    assert all(x == y for x, y in identical)
    assert len(identical) == len(corpus.sets)
    for threshold in (0.0, -1.0, 0.00009):
        with pytest.raises(ValueError, match="next to every pair of problems qualifies"):
            next(similar_set_pairs(space_of(corpus), threshold))
    with pytest.raises(ValueError, match="not a number"):
        next(similar_set_pairs(space_of(corpus), math.nan))


def test_no_sets_no_blocks() -> None:
    empty, _ = distinct_topic_sets(np.array([], int), np.array([], int), 0)
    space = SetSpace(np.array([[0]], np.int32), np.array([0.0]), empty)
    assert list(similar_set_pairs(space, 0.858)) == []
    assert list(partners_of_sets(space, np.array([], int), 0.858)) == []
