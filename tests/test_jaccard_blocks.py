"""The blocked Jaccard kernel against set arithmetic, SciPy and SQL."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from udfs.jaccard import minimum_overlap
from udfs.jaccard_blocks import PairBlock, jaccard_rows, qualifying_pairs, qualifying_partners
from udfs.jaccard_index import TokenSetIndex
from udfs.jaccard_lanes import WIDTHS, clear_high, high_value, lanes_at, lanes_with, pack, unpack

SMALL_BLOCKS = 1 << 22
"""Memory budget that gives tiles of 256 columns and blocks of 64 rows."""

thresholds = st.sampled_from([0.05, 0.211, 0.21057128906295475, 1 / 3, 0.5, 0.9, 1.0])


def csr(sets: list[set[int]]) -> tuple[np.ndarray, np.ndarray]:
    indptr = np.cumsum([0, *map(len, sets)])
    return indptr, np.array([token for tokens in sets for token in tokens], dtype=np.int32)


def index_of(sets: list[set[int]], **arguments: int) -> TokenSetIndex:
    return TokenSetIndex(*csr(sets), **arguments)


def collect(blocks: Iterable[PairBlock]) -> dict[tuple[int, int], tuple[int, int]]:
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for block in blocks:
        columns = (block.i, block.j, block.common, block.union)
        for i, j, common, union in zip(*(column.tolist() for column in columns), strict=True):
            assert (i, j) not in found, "a pair came twice"
            found[i, j] = (common, union)
    return found


def brute_force(sets: list[set[int]], threshold: float, published: bool = False) -> dict:
    found = {}
    for i, x in enumerate(sets):
        for j in range(i + 1, len(sets)):
            common, union = len(x & sets[j]), len(x | sets[j])
            if not union:
                continue
            value = common / union
            if np.float16(value) >= np.float16(threshold) if published else value >= threshold:
                found[i, j] = (common, union)
    return found


def skewed_sets(seed: int, n: int, mean: float, vocabulary: int, twins: int = 0) -> list[set[int]]:
    """Sets with Zipf-like tokens, some empty, and `twins` near copies of the first ones."""
    rng = np.random.default_rng(seed)
    weights = 1 / (np.arange(vocabulary) + 2.0)
    sizes = np.minimum(rng.poisson(mean, n), vocabulary // 2)
    sets = [set(rng.choice(vocabulary, k, False, weights / weights.sum()).tolist()) for k in sizes]
    for k in range(min(twins, n // 2)):
        sets[n - 1 - k] = set(list(sets[k])[: max(len(sets[k]) - k % 3, 0)])
    return sets


set_lists = st.lists(st.sets(st.integers(0, 30), max_size=14), max_size=40)


@settings(max_examples=80, deadline=None)
@given(set_lists, thresholds, st.booleans())
def test_equals_set_arithmetic(sets: list[set[int]], threshold: float, published: bool) -> None:
    index = index_of(sets, memory_budget=SMALL_BLOCKS)
    comparison = "published" if published else "exact"
    found = collect(qualifying_pairs(index, threshold, comparison, workers=1))
    assert found == brute_force(sets, threshold, published)


@pytest.mark.parametrize("mean", [4.0, 11.0, 24.0, 70.0])
@pytest.mark.parametrize("threshold", [0.05, 0.211])
def test_equals_a_sparse_product_at_many_tiles(mean: float, threshold: float) -> None:
    sets = skewed_sets(int(mean), 600, mean, 400, twins=60)
    index = index_of(sets, memory_budget=SMALL_BLOCKS)
    assert index.n_tiles >= 3
    assert index.block_rows == 64
    indptr, indices = csr(sets)
    matrix = sp.csr_matrix((np.ones(len(indices), np.int64), indices, indptr), shape=(600, 400))
    common = (matrix @ matrix.T).toarray()
    sizes = np.diff(indptr)
    union = sizes[:, None] + sizes[None, :] - common
    with np.errstate(invalid="ignore"):
        hit = np.triu(common / union >= threshold, 1)
    expected = {(i, j): (int(common[i, j]), int(union[i, j])) for i, j in np.argwhere(hit).tolist()}
    assert expected
    assert collect(qualifying_pairs(index, threshold)) == expected


def test_four_of_nineteen_is_the_published_border() -> None:
    a = set(range(11))
    b = set(range(7, 19))  # common 7..10: 4 of 11 + 12 - 4 = 19
    index = index_of([a, b, {100}])
    assert collect(qualifying_pairs(index, 0.21057128906295475, "published")) == {(0, 1): (4, 19)}
    assert collect(qualifying_pairs(index, 0.21057128906295475, "exact")) == {}


def test_sets_of_any_size_are_exact() -> None:
    """From no token to 65,535, where 4-bit and 8-bit lanes and the bias of 16-bit lanes end."""
    sizes = [0, 0, 1, 1, 2, 7, 8, 15, 16, 17, 22, 23, 60, 127, 128, 200, 255, 256, 300, 1000, 5000, 65_535]
    sets = [set(range(size)) for size in sizes]
    sets += [set(range(3, size + 3)) for size in sizes]
    sets += [set(range(0, 2 * size, 2)) for size in sizes]
    index = index_of(sets)
    for threshold in (0.01, 0.211, 0.5, 0.97):
        assert collect(qualifying_pairs(index, threshold)) == brute_force(sets, threshold)


def test_equal_sets_do_not_spill_into_their_neighbours() -> None:
    """Counts far above the smallest qualifying overlap once ran over a 4-bit lane into the next column."""
    sets = [set(range(size)) for size in range(1, 40) for _ in range(3)] + [{1000 + k} for k in range(50)]
    for threshold in (0.02, 0.211):
        assert collect(qualifying_pairs(index_of(sets), threshold)) == brute_force(sets, threshold)


def test_one_token_in_every_set_and_one_in_forty_percent() -> None:
    sets = [{0, 1 + k} | ({5000} if k % 5 < 2 else set()) for k in range(300)]
    assert collect(qualifying_pairs(index_of(sets), 0.3)) == brute_force(sets, 0.3)


def test_a_threshold_of_zero_takes_every_pair_with_a_similarity() -> None:
    sets = [set(), {1}, set(), {2, 3}, {1}]
    for threshold in (0.0, -1.0):
        found = collect(qualifying_pairs(index_of(sets), threshold))
        assert found == brute_force(sets, threshold)
        assert len(found) == 9  # ten pairs, less the two empty sets
    assert collect(qualifying_pairs(index_of(sets), 1.1)) == {}


@pytest.mark.parametrize("sets", [[], [set()], [{4}], [set(), set()], [{1}, {1}]])
def test_smallest_corpora(sets: list[set[int]]) -> None:
    index = index_of(sets)
    assert collect(qualifying_pairs(index, 0.5)) == brute_force(sets, 0.5)
    assert jaccard_rows(index, np.arange(len(sets))).shape == (len(sets), len(sets))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), thresholds)
def test_the_order_of_rows_and_the_names_of_tokens_do_not_matter(seed: int, threshold: float) -> None:
    sets = skewed_sets(seed, 60, 8, 50, twins=10)
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(len(sets)), rng.permutation(10_000)[:50]
    renamed = [{int(names[token]) for token in sets[row]} for row in order]
    found = collect(qualifying_pairs(index_of(renamed), threshold))
    back = {tuple(sorted((int(order[i]), int(order[j])))): value for (i, j), value in found.items()}
    assert back == collect(qualifying_pairs(index_of(sets), threshold))


def test_memory_budget_and_workers_change_nothing_but_the_blocks() -> None:
    sets = skewed_sets(1, 700, 9, 200)
    expected = collect(qualifying_pairs(index_of(sets), 0.211, workers=1))
    small = index_of(sets, memory_budget=SMALL_BLOCKS)
    assert collect(qualifying_pairs(small, 0.211, workers=3)) == expected
    assert small.fingerprint != index_of(sets).fingerprint


def test_resuming_gives_the_rest_and_only_the_rest() -> None:
    index = index_of(skewed_sets(2, 700, 9, 200), memory_budget=SMALL_BLOCKS)
    blocks = list(qualifying_pairs(index, 0.211))
    n_blocks = blocks[0].n_blocks
    assert [block.block for block in blocks] == list(range(n_blocks))
    rest = list(qualifying_pairs(index, 0.211, start_block=n_blocks // 3))
    assert collect(blocks[: n_blocks // 3]) | collect(rest) == collect(blocks)
    assert collect(rest) == collect(blocks[n_blocks // 3 :])
    assert list(qualifying_pairs(index, 0.211, start_block=n_blocks)) == []


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 90), thresholds)
def test_old_pairs_and_pairs_with_new_rows_make_all_pairs(seed: int, n_old: int, threshold: float) -> None:
    sets = skewed_sets(seed, 90, 8, 60, twins=20)
    new = collect(qualifying_pairs(index_of(sets), threshold, first_new_row=n_old))
    old = collect(qualifying_pairs(index_of(sets[:n_old]), threshold))
    assert not set(old) & set(new)
    assert old | new == collect(qualifying_pairs(index_of(sets), threshold))


def test_new_rows_cost_new_times_all_pairs() -> None:
    index = index_of(skewed_sets(3, 2000, 9, 200), memory_budget=SMALL_BLOCKS)
    compared = sum(block.n_compared for block in qualifying_pairs(index, 0.05, first_new_row=1980))
    assert compared <= 20 * len(index.row_of_column)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sets(st.integers(0, 79)), thresholds)
def test_partners_of_some_rows_are_their_part_of_all_pairs(seed: int, rows: set[int], threshold: float) -> None:
    index = index_of(skewed_sets(seed, 80, 8, 60, twins=20), memory_budget=SMALL_BLOCKS)
    both_ways = {}
    for (i, j), value in collect(qualifying_pairs(index, threshold)).items():
        both_ways[i, j] = both_ways[j, i] = value
    found = collect(qualifying_partners(index, np.array(list(rows), dtype=int), threshold))
    assert found == {pair: value for pair, value in both_ways.items() if pair[0] in rows}


@pytest.mark.parametrize("mean", [3.0, 20.0, 300.0])
def test_similarity_rows_equal_set_arithmetic(mean: float) -> None:
    sets = skewed_sets(5, 400, mean, 1000, twins=30)
    index = index_of(sets, memory_budget=SMALL_BLOCKS)
    rows = np.random.default_rng(0).permutation(400)[:37]
    result = jaccard_rows(index, rows)
    expected = [
        [len(sets[r] & other) / len(sets[r] | other) if sets[r] | other else np.nan for other in sets] for r in rows
    ]
    np.testing.assert_array_equal(result, expected)


def test_equals_a_sql_self_join() -> None:
    sets = skewed_sets(7, 600, 10, 300, twins=40)
    tokens = [(row, token) for row, held in enumerate(sets) for token in held]
    con = duckdb.connect()
    con.execute("create table tokens (row_id integer, token integer)")
    con.execute("insert into tokens select unnest(?), unnest(?)", [[r for r, _ in tokens], [t for _, t in tokens]])
    rows = con.execute(
        """
        with sizes as (select row_id, count(*) as n from tokens group by row_id),
        shared as (
            select a.row_id as i, b.row_id as j, count(*) as common
            from tokens a join tokens b on a.token = b.token and a.row_id < b.row_id group by all
        )
        select i, j, common, x.n + y.n - common as n_union
        from shared join sizes x on x.row_id = i join sizes y on y.row_id = j
        where common / n_union::double >= 0.211
        """
    ).fetchall()
    assert collect(qualifying_pairs(index_of(sets), 0.211)) == {(i, j): (c, u) for i, j, c, u in rows}


def test_what_is_no_set_is_refused_by_row() -> None:
    with pytest.raises(ValueError, match="Row 1 has a token twice"):
        TokenSetIndex(np.array([0, 1, 3]), np.array([5, 7, 7]))
    with pytest.raises(ValueError, match="Row 0 has 65536 tokens"):
        index_of([set(range(65_536))])
    with pytest.raises(ValueError, match="falls at row 1"):
        TokenSetIndex(np.array([0, 2, 1, 2]), np.array([1, 2]))
    with pytest.raises(ValueError, match="start at 0"):
        TokenSetIndex(np.array([0, 2]), np.array([1]))
    with pytest.raises(ValueError, match="integers of 0 or more"):
        TokenSetIndex(np.array([0, 1]), np.array([-1]))
    index = index_of([{1}, {2}])
    with pytest.raises(ValueError, match="given twice"):
        jaccard_rows(index, np.array([1, 1]))
    with pytest.raises(ValueError, match=r"outside 0\.\.1"):
        list(qualifying_partners(index, np.array([2]), 0.5))
    with pytest.raises(ValueError, match="Unknown comparison"):
        list(qualifying_pairs(index, 0.5, "about"))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(WIDTHS), st.integers(0, 2**31), st.integers(1, 4))
def test_lanes_hold_what_was_packed(bits: int, seed: int, n_words: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 1 << bits, (3, 16 * n_words))
    lanes = pack(values, bits)
    assert lanes.shape == (3, n_words * bits)
    np.testing.assert_array_equal(unpack(lanes, bits), values)
    high = values >= high_value(bits)
    positions, held = lanes_with(lanes, bits, high_value(bits))
    assert sorted(positions.tolist()) == np.flatnonzero(high).tolist()
    np.testing.assert_array_equal(held, values.ravel()[positions])
    rows, columns = np.divmod(positions, values.shape[1])
    np.testing.assert_array_equal(lanes_at(lanes, bits, rows, columns), values[rows, columns])
    clear_high(lanes, bits, rows, columns)
    np.testing.assert_array_equal(unpack(lanes, bits), values - high * high_value(bits))


def test_sizes_too_unlike_to_qualify_are_skipped() -> None:
    # At 0.211 a set of 2 tokens and one of 100 would need 2/100 >= 0.211.
    sets = [{k, k + 1} for k in range(600)] + [set(range(k, k + 100)) for k in range(600)]
    index = index_of(sets, memory_budget=SMALL_BLOCKS)
    blocks = list(qualifying_pairs(index, 0.211))
    assert max(block.union.max(initial=0) for block in blocks) > 100
    assert sum(block.n_compared for block in blocks) < 0.75 * sum(
        block.n_compared for block in qualifying_pairs(index, 0.0)
    )
    assert minimum_overlap(2, 100, 0.211) == 3
