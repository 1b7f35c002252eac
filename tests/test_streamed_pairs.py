"""Counts by slices and partners of a few rows against class counts over everything."""

import numpy as np
import pytest

from udfs.bma_space import SetSpace
from udfs.class_counts import class_counts
from udfs.jaccard_index import TokenSetIndex
from udfs.pair_density import Density, is_dense, summary_density, topic_density
from udfs.streamed_pairs import Streams, count_by_slices, partners, sets_at_once
from udfs.topic_sets import distinct_topic_sets


@pytest.fixture(scope="module")
def corpus():
    """200 problems; ten numbers are holes, twelve problems share texts by threes."""
    rng = np.random.default_rng(4)
    n = 200
    parent = np.array([-1, 0, 0, 0, *rng.integers(1, 4, 8), *rng.integers(4, 12, 18)])
    ancestors = np.full((30, 4), -1, dtype=np.int32)
    for topic in range(30):
        path = [topic]
        while parent[path[0]] >= 0:
            path.insert(0, parent[path[0]])
        ancestors[topic, : len(path)] = path
    problem = np.repeat(np.arange(n), 2)
    sets, set_of_problem = distinct_topic_sets(problem, rng.integers(4, 30, 2 * n), n)
    content = np.where(parent < 0, 0.0, 1.0 + (ancestors >= 0).sum(axis=1) * 0.7)
    lengths = rng.integers(0, 6, n)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    tokens = np.concatenate([rng.choice(15, size, replace=False) for size in lengths]).astype(np.int32)
    set_of_problem = set_of_problem.copy()
    set_of_problem[rng.choice(n, 10, replace=False)] = -1
    texts = np.arange(n)
    texts[100:112] = texts[100:112] // 3
    streams = Streams(SetSpace(ancestors, content, sets), TokenSetIndex(indptr, tokens), 0.6, 0.3)
    return streams, set_of_problem, texts


def expected(corpus):
    """Counts over lists of pairs in which the holes were left out by hand."""
    streams, sets, texts = corpus
    summary = [(b.i, b.j) for b in streams.summary_pairs()]
    kept = [(i[(sets[i] >= 0) & (sets[j] >= 0)], j[(sets[i] >= 0) & (sets[j] >= 0)]) for i, j in summary]
    counts = class_counts(sets, len(streams.space.sets), streams.topic_pairs(), kept, text_of_problem=texts)
    return np.stack([np.arange(len(sets)), counts.topic_only, counts.summary_only, counts.both], axis=1)[sets >= 0]


def rows(batches):
    return np.concatenate([np.stack([c.to_numpy() for c in batch.columns], axis=1) for _, batch in batches])


@pytest.mark.parametrize("at_once", [7, 64, 10**6])
def test_slices_of_any_size_add_up(corpus, at_once):
    streams, sets, texts = corpus
    found = rows(count_by_slices(streams, sets, texts, at_once))
    assert found[np.argsort(found[:, 0])].tolist() == expected(corpus).tolist()
    assert found[:, 1:].sum() > 1000


def test_later_slices_do_not_depend_on_earlier_ones(corpus):
    streams, sets, texts = corpus
    whole = list(count_by_slices(streams, sets, texts, 20))
    late = list(count_by_slices(streams, sets, texts, 20, start_block=3))
    assert [number for number, _ in late] == list(range(3, len(whole)))
    assert rows(late).tolist() == rows(whole[3:]).tolist()


def test_partners_have_the_classes_that_were_counted(corpus):
    streams, sets, texts = corpus
    queries = np.flatnonzero(sets >= 0)[::7]
    counts = {row[0]: row[1:] for row in expected(corpus).tolist()}
    for batch in partners(streams, sets, queries):
        query = batch["query_index"][0].as_py()
        kept = [r for r in batch.to_pylist() if texts[r["document_index"]] != texts[query]]
        classes = [row["class"] for row in kept]
        assert [classes.count(c) for c in ("topic_only", "summary_only", "both")] == counts[query]
        assert (sets[batch["document_index"].to_numpy()] >= 0).all()


def test_no_threshold_no_partners(corpus):
    streams, sets, texts = corpus
    nothing = Streams(streams.space, streams.index, None, None)
    assert rows(count_by_slices(nothing, sets, texts, 50))[:, 1:].sum() == 0
    assert sum(len(batch) for batch in partners(nothing, sets, np.flatnonzero(sets >= 0)[:3])) == 0


def test_slices_fit_into_memory(corpus):
    streams = corpus[0]
    n_sets = len(streams.space.sets)
    assert sets_at_once(n_sets, 0.01, 1 << 30) == n_sets
    assert sets_at_once(n_sets, 1.0, 1 << 10) == min(n_sets, 256)


def test_density_of_all_rows_is_the_share_of_pairs(corpus):
    streams = corpus[0]
    n_sets, n = len(streams.space.sets), streams.index.n_rows
    topic = topic_density(streams.space, np.arange(n_sets), 0.6)
    summary = summary_density(streams.index, np.arange(n), 0.3)
    assert topic.expected(n_sets) == pytest.approx(sum(int((x != y).sum()) for x, y in streams.topic_pairs()))
    assert summary.expected(n) == pytest.approx(sum(len(b.i) for b in streams.summary_pairs()))
    assert summary_density(streams.index, np.array([3, 3]), 0.3).n_compared == n - 1


def test_pairs_are_streamed_when_they_are_many_by_share_and_number():
    half = Density(10, 100, 50)
    assert half.expected(11) == 27.5
    assert is_dense([(half, 11)], 0.4, stored_anyway=27)
    assert not is_dense([(half, 11)], 0.4, stored_anyway=28)
    assert not is_dense([(half, 11)], 0.5, stored_anyway=0)
    assert is_dense([(half, 11)], 0, stored_anyway=10**9)
    assert not is_dense([(Density(0, 0, 0), 0)], 0, stored_anyway=0)


def test_numbers_of_the_last_problems_may_be_holes(corpus):
    """The arrays end with the greatest number in use; token sets of problems that left go on behind it."""
    streams, sets, texts = corpus
    short = sets[:150]
    long = np.concatenate([short, np.full(50, -1, dtype=np.int32)])
    for at_once in (7, 10**6):
        found = rows(count_by_slices(streams, short, texts[:150], at_once))
        assert found.tolist() == rows(count_by_slices(streams, long, texts, at_once)).tolist()
    queries = np.flatnonzero(short >= 0)[::7]
    found = [batch.to_pylist() for batch in partners(streams, short, queries)]
    assert found == [batch.to_pylist() for batch in partners(streams, long, queries)]
    whole = np.zeros(150, dtype=np.int32)
    counted = rows(count_by_slices(streams, whole, np.arange(150), 10**6))
    assert counted[:, 1:].sum(axis=1).tolist() == [149] * 150
