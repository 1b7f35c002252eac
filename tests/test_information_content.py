"""Information content: hand-computed values, SQL as the second path, and properties on random trees."""

import math

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from udfs.information_content import information_content, root_paths, subtree_annotations

# root 0 ── 1 ── 3, 4      annotations: 3 on topic 3, 1 on 4, 2 on 2, 2 on 1: 8 in all
#        └─ 2 ── 5         c = 8, 6, 2, 3, 1, 0
PARENT = np.array([-1, 0, 0, 1, 1, 2])
ANNOTATIONS = np.array([0, 2, 2, 3, 1, 0])


@st.composite
def trees(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    n = draw(st.integers(1, 25))
    parent = [-1] + [draw(st.integers(0, i - 1)) for i in range(1, n)]
    counts = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    return np.array(parent), np.array(counts)


def test_root_paths_of_a_small_tree() -> None:
    expected = [[0, -1, -1], [0, 1, -1], [0, 2, -1], [0, 1, 3], [0, 1, 4], [0, 2, 5]]
    assert root_paths(PARENT).tolist() == expected
    assert root_paths(PARENT).dtype == np.int32


def test_root_paths_do_not_need_parents_to_come_first() -> None:
    assert root_paths(np.array([2, 0, -1])).tolist() == [[2, 0, -1], [2, 0, 1], [2, -1, -1]]


def test_root_paths_name_the_nodes_of_a_cycle_and_unknown_parents() -> None:
    with pytest.raises(ValueError, match=r"topics 1, 2, 3 are on or under a cycle"):
        root_paths(np.array([-1, 2, 1, 2]))
    with pytest.raises(ValueError, match=r"topics 1 have a parent that does not exist"):
        root_paths(np.array([-1, 7]))


def test_hand_computed_information_content() -> None:
    paths = root_paths(PARENT)
    assert subtree_annotations(paths, ANNOTATIONS).tolist() == [8, 6, 2, 3, 1, 0]
    ic = information_content(paths, ANNOTATIONS)
    assert ic[:5].tolist() == pytest.approx(
        [0.0, 0.2876820724517809, 1.3862943611198906, 0.9808292530117262, 2.0794415416798357]
    )
    assert math.isnan(ic[5])
    assert math.copysign(1.0, ic[0]) == 1.0  # not -0.0, which SQL would print


def test_without_annotations_every_topic_is_undefined() -> None:
    assert np.isnan(information_content(root_paths(PARENT), np.zeros(6, int))).all()
    assert information_content(root_paths(np.array([], int)), np.array([], int)).shape == (0,)


def test_wrong_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="topics 1 have a negative number"):
        information_content(root_paths(np.array([-1, 0])), np.array([1, -1]))
    with pytest.raises(ValueError, match="3 annotation counts for 2 topics"):
        information_content(root_paths(np.array([-1, 0])), np.array([1, 1, 1]))


@settings(max_examples=40, deadline=None)
@given(trees())
def test_equals_a_closure_join_in_sql(tree: tuple[np.ndarray, np.ndarray]) -> None:
    parent, counts = tree
    con = duckdb.connect()
    con.execute("create table topics (topic int, parent int, annotations int)")
    con.executemany(
        "insert into topics values (?, ?, ?)", np.stack([np.arange(len(parent)), parent, counts], 1).tolist()
    )
    rows = con.execute(
        """
        with recursive closure as (
            select topic, topic as ancestor, parent from topics
            union all
            select closure.topic, topics.topic, topics.parent
            from closure join topics on topics.topic = closure.parent
        )
        select case when sum(annotations) > 0 then -ln(sum(annotations) / (select sum(annotations) from topics)) end
        from closure join topics using (topic) group by ancestor order by ancestor
        """
    ).fetchall()
    expected = np.array([math.nan if value is None else value for (value,) in rows])
    np.testing.assert_array_equal(information_content(root_paths(parent), counts), expected)


@settings(max_examples=60, deadline=None)
@given(trees())
def test_never_falls_from_parent_to_child(tree: tuple[np.ndarray, np.ndarray]) -> None:
    parent, counts = tree
    ic = information_content(root_paths(parent), counts)
    for child, above in enumerate(parent.tolist()):
        if above >= 0 and not math.isnan(ic[child]):
            assert 0.0 <= ic[above] <= ic[child]
