"""Topic assignment rules: hand-computed numbers and properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.topics.assignment import (
    Batch,
    assess,
    assign,
    most_specific,
    normalise,
    split_into_batches,
    union_of_batches,
)


def batch(node: float | None, *children: float) -> Batch:
    return Batch(node, np.array(children, dtype=np.float64))


# A tree of ten nodes: 0 is the root, 1 and 2 the domains.
CHILDREN = {0: [1, 2], 1: [3, 4, 5], 2: [6], 4: [7, 8], 6: [9]}
PARENT = {0: -1, **{child: node for node, children in CHILDREN.items() for child in children}}


class TestNormalise:
    def test_by_hand(self) -> None:
        # (0.2, 0.5, 0.8): range 0.6, so 0, 0.3 / 0.6, 1.
        assert normalise(np.array([0.2, 0.5, 0.8])) == pytest.approx([0.0, 0.5, 1.0])

    def test_all_equal_says_nothing(self) -> None:
        assert np.isnan(normalise(np.array([0.7, 0.7]))).all()

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_not_finite_is_refused(self, bad: float) -> None:
        with pytest.raises(ValueError, match="finite"):
            normalise(np.array([0.1, bad]))

    @given(st.lists(st.floats(-1e308, 1e308), min_size=2, max_size=8))
    @settings(max_examples=60)
    def test_range_and_order(self, values: list[float]) -> None:
        raw = np.array(values)
        scores = normalise(raw)
        if raw.min() == raw.max():
            assert np.isnan(scores).all()
        else:
            assert scores.min() == 0.0
            assert scores.max() == 1.0
            order = np.argsort(raw, kind="stable")
            assert (np.diff(scores[order]) >= 0).all()


class TestAssess:
    def test_threshold_is_strict(self) -> None:
        # Range 0..1 already, so scores are the raw values; 0.85 itself is not kept.
        visit = assess([batch(0.0, 1.0, 0.85, 0.86)], tau=0.85)
        assert visit.kept.tolist() == [True, False, True]

    def test_child_is_kept_although_the_node_scores_higher(self) -> None:
        # Candidates 1.0 (node), 0.9, 0.0: the child at 0.9 passes, the node is the maximum.
        visit = assess([batch(1.0, 0.9, 0.0)], tau=0.85)
        assert visit.node_score == 1.0
        assert visit.kept.tolist() == [True, False]

    def test_the_node_takes_part_in_the_normalisation(self) -> None:
        # Without the node 0.4 would be the maximum and kept; with it, it is 0.4 / 1.0.
        assert assess([batch(1.0, 0.4, 0.0)], tau=0.85).kept.tolist() == [False, False]
        assert assess([batch(None, 0.4, 0.0)], tau=0.85).kept.tolist() == [True, False]

    def test_all_equal_keeps_nothing(self) -> None:
        visit = assess([batch(0.5, 0.5, 0.5)], tau=0.85)
        assert not visit.kept.any()
        assert np.isnan(visit.score).all()

    def test_only_child(self) -> None:
        assert assess([batch(0.2, 0.3)], tau=0.85).kept.tolist() == [True]
        assert assess([batch(0.3, 0.2)], tau=0.85).kept.tolist() == [False]


class TestBatches:
    def test_rescaled_by_the_node(self) -> None:
        # The node got 0.5 in the first call and 1.0 in the second: the second is halved.
        node, raw = union_of_batches([batch(0.5, 0.4, 0.1), batch(1.0, 1.0, 0.6)])
        assert node == 0.5
        assert raw == pytest.approx([0.4, 0.1, 0.5, 0.3])
        # Over the union: min 0.1, max 0.5 -> node 1, children 0.75, 0, 1, 0.5; kept only the third.
        visit = assess([batch(0.5, 0.4, 0.1), batch(1.0, 1.0, 0.6)], tau=0.85)
        assert visit.node_score == 1.0
        assert visit.score == pytest.approx([0.75, 0.0, 1.0, 0.5])
        assert visit.kept.tolist() == [False, False, True, False]

    def test_shifted_where_the_node_is_zero(self) -> None:
        # The node is 0 in the second call: no factor exists, 0.2 is added instead.
        node, raw = union_of_batches([batch(0.2, 1.0), batch(0.0, 0.5)])
        assert node == 0.2
        assert raw == pytest.approx([1.0, 0.7])

    def test_root_has_no_yardstick(self) -> None:
        assert union_of_batches([batch(None, 0.1), batch(None, 0.9)])[1].tolist() == [0.1, 0.9]

    def test_node_in_some_batches_only_is_refused(self) -> None:
        with pytest.raises(ValueError, match="each batch"):
            union_of_batches([batch(0.1, 0.1), batch(None, 0.9)])

    def test_no_batch_is_refused(self) -> None:
        with pytest.raises(ValueError, match="at least one batch"):
            union_of_batches([])

    @given(
        st.floats(0.05, 1.0),
        st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6),
        st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6),
        st.floats(0.2, 5.0),
    )
    @settings(max_examples=60)
    def test_a_batch_on_another_scale_changes_nothing(
        self, node: float, first: list[float], second: list[float], scale: float
    ) -> None:
        one_call = assess([batch(node, *first, *second)], tau=0.85)
        two_calls = assess([batch(node, *first), batch(node * scale, *(scale * x for x in second))], tau=0.85)
        assert np.allclose(one_call.raw, two_calls.raw, rtol=1e-9, atol=1e-12)

    @given(st.integers(0, 500), st.integers(1, 60))
    @settings(max_examples=60)
    def test_split_covers_each_child_once_and_evenly(self, n_children: int, limit: int) -> None:
        batches = split_into_batches(n_children, limit)
        assert [position for part in batches for position in part] == list(range(n_children))
        sizes = [len(part) for part in batches]
        assert len(sizes) == -(-n_children // limit)
        assert not sizes or (max(sizes) <= limit and max(sizes) - min(sizes) <= 1)

    def test_split_by_hand(self) -> None:
        assert split_into_batches(101, 100) == [range(0, 50), range(50, 101)]


class TestMostSpecific:
    def test_by_hand(self) -> None:
        assert most_specific([1, 4, 7, 2], PARENT) == [2, 7]
        assert most_specific([1, 7], PARENT) == [7]  # an ancestor two levels up, its child not kept
        assert most_specific([], PARENT) == []

    @given(st.sets(st.integers(1, 9)))
    @settings(max_examples=80)
    def test_an_antichain_that_covers_all(self, kept: set[int]) -> None:
        def ancestors(topic: int) -> set[int]:
            return set() if PARENT[topic] < 0 else {PARENT[topic]} | ancestors(PARENT[topic])

        result = most_specific(kept, PARENT)
        assert all(first not in ancestors(second) for first in result for second in result)
        assert all(topic in result or any(topic in ancestors(leaf) for leaf in result) for topic in kept)


def scores(draw_score: st.SearchStrategy[float]) -> st.SearchStrategy[dict[int, list[Batch]]]:
    def at(node: int, children: list[int]) -> st.SearchStrategy[list[Batch]]:
        anchor = st.none() if node == 0 else draw_score
        values = st.lists(draw_score, min_size=len(children), max_size=len(children))
        return st.tuples(anchor, values).map(lambda drawn: [batch(drawn[0], *drawn[1])])

    return st.fixed_dictionaries({node: at(node, children) for node, children in CHILDREN.items()})


coarse = st.integers(0, 20).map(lambda k: k / 20)


class TestAssign:
    def test_by_hand(self) -> None:
        at = {
            0: [batch(None, 0.9, 0.2)],  # domain 1 kept (1.0), domain 2 dropped (0.0)
            1: [batch(0.6, 0.9, 1.0, 0.1)],  # (0.9 - 0.1) / 0.9 = 0.889 and 1.0 kept, 5 dropped
            4: [batch(0.8, 0.3, 0.4)],  # 7 -> 0, 8 -> 0.2: the traversal ends at 4
        }
        assert assign(at, 0, CHILDREN, PARENT, tau=0.85) == [3, 4]

    @given(scores(coarse), st.sampled_from([0.0, 0.5, 0.85]))
    @settings(max_examples=80)
    def test_no_ancestor_beside_its_descendant(self, at: dict[int, list[Batch]], tau: float) -> None:
        result = set(assign(at, 0, CHILDREN, PARENT, tau))
        for topic in result:
            ancestor = PARENT[topic]
            while ancestor >= 0:
                assert ancestor not in result
                ancestor = PARENT[ancestor]

    @given(scores(coarse), coarse, coarse)
    @settings(max_examples=80)
    def test_a_higher_tau_reaches_no_deeper(self, at: dict[int, list[Batch]], a: float, b: float) -> None:
        # Assigned sets are not nested (a parent comes back when its child fails), but every topic assigned
        # at the higher tau is covered by itself or a descendant at the lower one.
        low, high = sorted((a, b))
        at_low = assign(at, 0, CHILDREN, PARENT, low)
        for topic in assign(at, 0, CHILDREN, PARENT, high):
            lineages = []
            for leaf in at_low:
                lineage = {leaf}
                while PARENT[leaf] >= 0:
                    leaf = PARENT[leaf]
                    lineage.add(leaf)
                lineages.append(lineage)
            assert any(topic in lineage for lineage in lineages)
