"""Jaccard of list columns and the overlap table, against set arithmetic and exact fractions."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from udfs.jaccard import jaccard, minimum_overlap, qualifies

PUBLISHED = 0.21057128906295475
STRINGS = pa.list_(pa.string())

token_lists = st.none() | st.lists(st.none() | st.sampled_from("abcdef"), max_size=7)


def brute_force(a: list[str | None] | None, b: list[str | None] | None) -> float | None:
    if a is None or b is None:
        return None
    x, y = set(a) - {None}, set(b) - {None}
    return len(x & y) / len(x | y) if x | y else None


def smallest_by_scan(a: int, b: int, threshold: float, published: bool) -> int:
    """Second path for the table: try every overlap with scalar arithmetic."""
    for overlap in range(min(a, b) + 1):
        union = a + b - overlap
        if union == 0:
            continue
        value = overlap / union
        if np.float16(value) >= np.float16(threshold) if published else value >= threshold:
            return overlap
    return min(a, b) + 1


def test_hand_computed_similarities() -> None:
    a = pa.array([["x", "y", "z"], ["x", "x"], [], [], None, ["x"]], STRINGS)
    b = pa.array([["y", "z", "w"], ["x"], ["x"], [], ["x"], None], STRINGS)
    assert jaccard(a, b).to_pylist() == [2 / 4, 1.0, 0.0, None, None, None]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(token_lists, token_lists), max_size=12), st.integers(0, 12))
def test_equals_set_arithmetic_and_is_symmetric(pairs: list[tuple], cut: int) -> None:
    left, right = [p[0] for p in pairs], [p[1] for p in pairs]
    a = pa.chunked_array([left[:cut], left[cut:]], type=STRINGS)
    b = pa.array([["noise"], *right], STRINGS).slice(1)
    result = jaccard(a, b).to_pylist()
    assert result == [brute_force(x, y) for x, y in pairs]
    assert jaccard(b, a).to_pylist() == result
    assert all(value is None or 0 <= value <= 1 for value in result)


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 and 1"):
        jaccard(pa.array([[], []], STRINGS), pa.array([[]], STRINGS))


def test_four_of_nineteen_qualifies_only_as_published() -> None:
    assert PUBLISHED > 4 / 19
    assert qualifies(4 / 19, PUBLISHED, "published")
    assert not qualifies(4 / 19, PUBLISHED, "exact")
    # Sizes 11 and 12: overlap 4 leaves a union of 19.
    assert minimum_overlap(11, 12, PUBLISHED, "published") == 4
    assert minimum_overlap(11, 12, PUBLISHED, "exact") == 5
    # The next smaller fraction near it is below in both senses: 3/15 = 0.2, 5/24 = 0.2083.
    assert not qualifies([3 / 15, 5 / 24], PUBLISHED, "published").any()


def test_equality_qualifies_and_no_similarity_never_does() -> None:
    for comparison in ("exact", "published"):
        assert qualifies([0.5, np.nan], 0.5, comparison).tolist() == [True, False]
        assert qualifies([np.nan], -1.0, comparison).tolist() == [False]


def test_hand_computed_overlaps() -> None:
    # 11 and 11 tokens at 0.211: 3/19 = 0.158 is too little, 4/18 = 0.222 enough.
    assert minimum_overlap(11, 11, 0.211) == 4
    assert minimum_overlap([1, 6, 15, 200], [1, 6, 15, 200], 0.211).tolist() == [1, 3, 6, 70]
    assert minimum_overlap(2, 100, 0.211) == 3  # 2/100 at best: no overlap is enough
    assert minimum_overlap(5, 5, 1.0) == 5
    assert minimum_overlap(5, 5, 1.5) == 6
    assert minimum_overlap([0, 0, 3], [0, 4, 3], 0.0).tolist() == [1, 0, 0]  # empty with empty: never


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 60),
    st.integers(0, 60),
    st.floats(-0.1, 1.1) | st.fractions(0, 1, max_denominator=40).map(float),
    st.booleans(),
)
def test_overlaps_equal_a_scan(a: int, b: int, threshold: float, published: bool) -> None:
    comparison = "published" if published else "exact"
    expected = smallest_by_scan(a, b, threshold, published)
    assert minimum_overlap(a, b, threshold, comparison) == expected
    assert minimum_overlap(b, a, threshold, comparison) == expected


def test_exact_overlaps_follow_rational_arithmetic_for_large_sets() -> None:
    sizes = np.array([255, 256, 4_096, 65_535])
    a, b = sizes[:, None], sizes[None, :]
    threshold = Fraction(3, 8)  # a float64 without rounding
    table = minimum_overlap(a, b, float(threshold))
    for i, x in enumerate(sizes.tolist()):
        for j, y in enumerate(sizes.tolist()):
            # o / (x + y - o) >= 3/8  <=>  11 o >= 3 (x + y)
            smallest = -(-3 * (x + y) // 11)
            assert table[i, j] == min(smallest, min(x, y) + 1)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="comparison 'fuzzy'"):
        minimum_overlap(1, 1, 0.5, "fuzzy")
    with pytest.raises(ValueError, match="not a number"):
        qualifies(0.5, float("nan"), "exact")
    with pytest.raises(ValueError, match="negative"):
        minimum_overlap(-1, 1, 0.5)


def test_duckdb_calls_it_as_an_arrow_function_and_agrees_with_sql() -> None:
    con = duckdb.connect(config={"threads": 2})
    con.create_function(
        "token_jaccard",
        jaccard,
        ["VARCHAR[]", "VARCHAR[]"],
        "DOUBLE",
        type="arrow",
        null_handling="special",
    )
    rows = con.execute(
        """
        with words as (
            select i, [chr((97 + i * k % 11)::int) for k in range(i % 6)] as t from range(70) r(i)
        ), pairs as (
            select list_distinct(a.t) as x, list_distinct(b.t) as y from words a, words b
        )
        select
            token_jaccard(x, y),
            len(list_intersect(x, y)) / nullif(len(list_distinct(x || y)), 0)::double
        from pairs
        """
    ).fetchall()
    assert len(rows) == 4900  # more than one vector of 2,048 rows
    assert all(ours == sql for ours, sql in rows)
    assert any(ours is None for ours, _ in rows)
