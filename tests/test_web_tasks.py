"""Task lists of human judgments: the draw is the hash's, bands are balanced, shared tasks are the same for all."""

from __future__ import annotations

from itertools import combinations

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from web_home import QUERIES, make_home

from annotate.web.judgments import Judged
from annotate.web.names import checked_name, known_spelling
from annotate.web.pool import BANDS, UNRATED, Pair, Pool, read_pool
from annotate.web.sampling import choose_pairs, in_order_of_showing, shared_pairs
from annotate.web.workbench import Plan, Workbench
from warehouse.errors import SaberError
from warehouse.identity import uniform
from warehouse.settings import load_settings

SEED = 7


def band_of(pool: Pool) -> dict[Pair, int]:
    return {pair: band for band, pairs in pool.bands.items() for pair in pairs}


def test_bands_and_order_of_the_pool_are_those_of_a_plain_computation(tmp_path):
    home = make_home(tmp_path, documents=13)
    # Three documents share a rating, so their ranks 4, 5 and 6 all count as 5.
    for number in (7, 8, 9):
        home.ratings["s/q1", f"s/d{number:02}"] = 3.0
    pool = read_pool(home.write().settings, tasks=50, seed=SEED)
    expected: dict[int, list[Pair]] = {}
    for query in QUERIES:
        ratings = {document: home.ratings[query, document] for document in home.documents}
        ranks = {
            document: sum(other > rating for other in ratings.values())
            + (1 + sum(other == rating for other in ratings.values())) / 2
            for document, rating in ratings.items()
        }
        for lower, higher in combinations(home.documents, 2):
            band = min(BANDS - 1, int(BANDS * abs(ranks[lower] - ranks[higher]) // len(ranks)))
            expected.setdefault(band, []).append(Pair(query, lower, higher))
    for pairs in expected.values():
        pairs.sort(key=lambda pair: uniform(SEED, pair.query_id, pair.lower_id, pair.higher_id))
    assert {band: list(pairs) for band, pairs in pool.bands.items()} == expected
    assert (pool.benchmark, pool.variant) == ("test", "b1")


def test_rank_differences_of_25_and_50_among_150_candidates_begin_a_band(tmp_path):
    home = make_home(tmp_path, documents=0)
    for number in range(150):
        home.texts[f"s/d{number:03}"] = (f"statement {number}", "solution")
        home.ratings["s/q1", f"s/d{number:03}"] = number / 30
    bands = band_of(read_pool(home.write().settings, tasks=12_000, seed=SEED))
    first = "s/d000"
    shown = [bands[Pair("s/q1", first, f"s/d{number:03}")] for number in (1, 24, 25, 49, 50, 149)]
    assert shown == [0, 0, 1, 1, 2, 5]


def test_pairs_without_ratings_are_drawn_uniformly_and_equal_texts_never(tmp_path):
    home = make_home(tmp_path, documents=4, rated=False)
    home.texts["s/d03"] = home.texts["s/d02"]
    pool = read_pool(home.write().settings, tasks=50, seed=SEED)
    # least(5, NULL) is 5 in DuckDB, which once put these pairs into the band of the largest differences.
    assert list(pool.bands) == [UNRATED]
    assert len(pool.bands[UNRATED]) == 2 * (6 - 1)
    assert not any({pair.lower_id, pair.higher_id} == {"s/d02", "s/d03"} for pair in pool.bands[UNRATED])
    assert "uniform" in pool.description


def test_every_band_stands_in_the_list_equally_often(tmp_path):
    pool = read_pool(make_home(tmp_path, documents=40).settings, tasks=60, seed=SEED)
    chosen = choose_pairs(pool, 60, 6, SEED, "Ada")
    bands = [band_of(pool)[pair] for pair in chosen]
    assert len(set(chosen)) == 60
    assert [bands.count(band) for band in range(BANDS)] == [10] * BANDS
    # Uniform draws would not be balanced: small differences are many more than large ones.
    sizes = [len(pool.bands[band]) for band in range(BANDS)]
    assert sizes[0] > 4 * sizes[-1]


def test_shared_tasks_are_the_same_for_all_and_outlast_a_new_fit_of_the_ratings(tmp_path):
    home = make_home(tmp_path, documents=30, rated=False)
    before = read_pool(home.settings, tasks=40, seed=SEED)
    home.ratings = {(query, one): number for query in QUERIES for number, one in enumerate(home.documents)}
    after = read_pool(home.write().settings, tasks=40, seed=SEED)
    assert (list(before.bands), list(after.bands)) == ([UNRATED], list(range(BANDS)))
    shared = shared_pairs(before, 8, SEED)
    assert shared == shared_pairs(after, 8, SEED)
    ada, emmy = choose_pairs(before, 40, 8, SEED, "Ada"), choose_pairs(after, 40, 8, SEED, "Emmy")
    assert set(shared) <= set(ada) & set(emmy)
    # Beyond the shared ones two lists of 32 out of 870 pairs meet by chance alone.
    assert len(set(ada) & set(emmy)) < 8 + 8
    assert ada != sorted(ada)


def test_judged_pairs_stay_whatever_the_sample_says(tmp_path):
    pool = read_pool(make_home(tmp_path, documents=30).settings, tasks=20, seed=SEED)
    other = choose_pairs(pool, 20, 4, SEED + 1, "Ada")
    chosen = choose_pairs(pool, 20, 4, SEED, "Ada", judged=other[:10])
    assert set(other[:10]) <= set(chosen)
    assert len(chosen) == 20


def test_each_annotator_has_an_own_coin(tmp_path):
    pool = read_pool(make_home(tmp_path, documents=30).settings, tasks=200, seed=SEED)
    pairs = choose_pairs(pool, 200, 0, SEED, "Ada")
    ada, emmy = ([in_order_of_showing(pair, SEED, name) for pair in pairs] for name in ("Ada", "Emmy"))
    assert ada == [in_order_of_showing(pair, SEED, "ADA") for pair in pairs]
    # 200 fair tosses: 60 to 140 is more than five standard deviations either way.
    assert 60 < sum(order == (pair.lower_id, pair.higher_id) for order, pair in zip(ada, pairs, strict=True)) < 140
    assert 60 < sum(one == other for one, other in zip(ada, emmy, strict=True)) < 140


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
pools = st.dictionaries(
    st.integers(UNRATED, BANDS - 1),
    st.sets(st.tuples(st.sampled_from("pq"), st.integers(0, 8), st.integers(9, 15)), min_size=1, max_size=9),
    min_size=1,
)


@settings(max_examples=60, deadline=None)
@given(pools, st.integers(1, 40), st.integers(0, 10), st.integers(0, 5), names)
def test_any_list_is_complete_balanced_and_grows_by_adding(raw, tasks, overlap, seed, annotator):
    seen: set[Pair] = set()
    bands = {}
    for band, numbers in raw.items():
        pairs = [pair for q, a, b in sorted(numbers) if (pair := Pair(q, f"{a:02}", f"{b:02}")) not in seen]
        seen |= set(pairs)
        bands[band] = tuple(pairs)
    pool = Pool("test", "v", bands)
    overlap = min(overlap, tasks)
    chosen = choose_pairs(pool, tasks, overlap, seed, annotator)
    assert len(chosen) == len(set(chosen)) == min(tasks, len(seen))
    shared = set(shared_pairs(pool, overlap, seed))
    assert shared <= set(chosen) <= seen
    assert set(chosen) <= set(choose_pairs(pool, tasks + 5, overlap, seed, annotator))
    own = {band: len(set(pairs) & set(chosen)) for band, pairs in bands.items() if band != UNRATED}
    spare = {band for band in own if set(bands[band]) - set(chosen)}
    for band in spare:
        # A band with pairs to spare is behind another only where the shared pairs put that one ahead.
        ahead = [other for other in own if own[other] > own[band] + 1]
        assert all(set(bands[other]) & set(chosen) <= shared for other in ahead)
    if spare:
        assert set(bands.get(UNRATED, ())) & set(chosen) <= shared


def test_a_workbench_shows_judged_pairs_in_the_order_they_were_judged(tmp_path):
    home = make_home(tmp_path, documents=6)
    pair = Pair("s/q1", "s/d00", "s/d01")
    orders = set()
    for first, second in (("s/d00", "s/d01"), ("s/d01", "s/d00")):
        bench = Workbench(home.settings, Plan(30, 0, SEED))
        tasks = bench.task_list("Ada", {pair: Judged(first, second, "first", "")}).tasks.values()
        shown = next(task for task in tasks if task.pair == pair)
        assert (shown.first_id, shown.second_id) == (first, second)
        orders.add(shown.task_id)
    assert len(orders) == 2


def test_withdrawn_problems_make_no_tasks(tmp_path):
    home = make_home(tmp_path, documents=6)
    bench = Workbench(home.settings, Plan(30, 0, SEED))
    with duckdb.connect(str(tmp_path / "snapshot.duckdb")) as connection:
        connection.execute("delete from staging.stg_problems where problem_id = 's/d00'")
    tasks = bench.task_list("Ada", {}).tasks.values()
    assert len(tasks) == 2 * 10
    assert not any("s/d00" in (task.first_id, task.second_id) for task in tasks)


def test_marts_of_a_variant_lie_in_their_own_schemas(tmp_path, monkeypatch):
    (tmp_path / "saber.toml").write_text("[variants.two-k]\nbenchmark = { candidates_per_class = 2 }\n")
    monkeypatch.setenv("SABER_SETTINGS", str(tmp_path / "saber.toml"))
    home = make_home(tmp_path, documents=3)
    home.schema, home.variant = "__two_k", "b2"
    home.write()
    assert read_pool(load_settings(tmp_path, variant="two-k"), 5, SEED).variant == "b2"
    with pytest.raises(SaberError, match=r"no benchmark\.candidates.*dbt build"):
        read_pool(load_settings(tmp_path), 5, SEED)


def test_nothing_to_judge_is_said_with_the_remedy(tmp_path):
    with pytest.raises(SaberError, match="does not exist yet"):
        read_pool(load_settings(tmp_path), 5, SEED)
    home = make_home(tmp_path, documents=0)
    with pytest.raises(SaberError, match=r"benchmark\.candidates is empty.*dbt build"):
        read_pool(home.settings, 5, SEED)
    with pytest.raises(SaberError, match="nothing to judge"):
        read_pool(make_home(tmp_path, documents=1).settings, 5, SEED)
    with duckdb.connect(str(tmp_path / "snapshot.duckdb")) as connection:
        connection.execute("insert into benchmark.candidates values ('test', 'b9', 's/q1', 's/d00')")
    with pytest.raises(SaberError, match="mixes test/b1, test/b9"):
        read_pool(home.settings, 5, SEED)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Ada", "Ada"),
        ("  Ada   Lovelace ", "Ada Lovelace"),
        ("Erdo\u030bs", "Erd\u0151s"),
        ("O'Brien-2", "O'Brien-2"),
        ("\u0645\u062d\u0645\u062f", "\u0645\u062d\u0645\u062f"),
        ("\u0930\u093e\u092e\u093e\u0928\u0941\u091c\u0928", "\u0930\u093e\u092e\u093e\u0928\u0941\u091c\u0928"),
        ("a" * 40, "a" * 40),
    ],
)
def test_names_people_bear_are_names(given, kept):
    assert checked_name(given) == kept


NOT_NAMES = ["", " ", "../x", "a/b", "a\\b", ".hidden", "-rf", "a\nb", "a\tb", "a\0b", "a;b", 'a"b', "<b>", "{{a}}"]
NOT_NAMES += ["'; drop table judgments; --", "a" * 41, "a\u202eb", "a\u200bb"]


@pytest.mark.parametrize("given", [*NOT_NAMES, None, 7, ["Ada"]])
def test_paths_markup_and_controls_are_not_names(given):
    with pytest.raises(SaberError, match="Choose another name"):
        checked_name(given)


def test_a_known_spelling_goes_on():
    assert known_spelling("ada", ["Ada", "Emmy"]) == "Ada"
    assert known_spelling("Ada L", ["Ada"]) == "Ada L"
