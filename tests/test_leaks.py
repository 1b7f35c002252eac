"""Rows that must not reach the marts although they have landed, and values that once broke or bent a mart.

One home holds them all, so that the models run once: each test looks at what it names.
"""

import json
import math
import shutil
from collections import defaultdict

import pytest
from homes import Home

from warehouse.identity import pair_hash

MODELS = (
    "staging", "qrels", "query_quotas", "evaluation", "math_words_queries", "gain_scores", "external_correlations",
    "leaderboard_scores", "stale_rows", "tournament_verdicts", "compared_tournaments", "tournament_inversions",
    "pair_choices", "query_parts",
)  # fmt: skip
BOOKKEEPING = ("job_id", "sequence", "schema_version")


def landed(home, table, where="true"):
    rows = home.landing.read(table, where=where).to_pylist()
    return [{name: value for name, value in row.items() if name not in BOOKKEEPING} for row in rows]


@pytest.fixture(scope="module")
def before(evaluation_home):
    return evaluation_home


@pytest.fixture(scope="module")
def home(evaluation_home, tmp_path_factory):
    # The sample's own settings hold while it is the only corpus; here they are everyone's.
    settings = evaluation_home.settings_file.read_text()
    for general, own in (("queries = 100", "queries = 50"), ("min_eligible = 40", "min_eligible = 12")):
        assert general in settings
        settings = settings.replace(general, own)
    copy = Home(tmp_path_factory.mktemp("leaks"), settings)
    shutil.copytree(evaluation_home.landing.home, copy.landing.home, dirs_exist_ok=True)
    copy.queries = [
        row[0] for row in copy.rows("select distinct query_id from analysis.math_words_queries order by query_id")
    ]
    land_withdrawn_source(copy)
    land_changed_candidates(copy)
    land_qrels(copy)
    land_old_scores_of_mathematics(copy)
    land_other_tournament(copy)
    land_ratings(copy)
    land_odd_numbers(copy)
    result = copy.dbt("run", "--select", *MODELS)
    assert result.returncode == 0, result.stdout
    return copy


def land_withdrawn_source(home):
    """A document of a source that is withdrawn, which a run has ranked first for one query."""
    home.problems([{"problem_id": "gone/1"}])
    home.landing.append("tombstones", [{"source": "gone", "action": "retract"}], "test")
    hashes = home.hashes()
    home.withdrawn_run = "tfidf.statement-full.withdrawn"
    rows = landed(home, "runs", "system = 'tfidf' and setting = 'statement-full' and scope = 'candidates'")
    query = home.withdrawn_query = min(row["query_id"] for row in rows)
    rows = [{**row, "run_id": home.withdrawn_run, "system": "withdrawn"} for row in rows]
    first = next(row for row in rows if row["query_id"] == query)
    added = {
        **first,
        "document_id": "gone/1",
        "score": 1e6,
        "content_hash": pair_hash(hashes[query], hashes["gone/1"]),
    }
    home.landing.append("runs", [*rows, added], "test")


def land_changed_candidates(home):
    """A run whose last document has another text by now, of one query, or is no candidate any more, of another."""
    hashes = home.hashes()
    home.changed_run = "tfidf.statement-full.changed"
    rows = landed(home, "runs", "system = 'tfidf' and setting = 'statement-full' and scope = 'candidates'")
    rows = [{**row, "run_id": home.changed_run, "system": "changed"} for row in rows]
    older, bereft = home.changed_queries = sorted({row["query_id"] for row in rows})[1:3]
    last = min((row for row in rows if row["query_id"] == older), key=lambda row: row["score"])
    last["content_hash"] = "a text of yesterday"
    home.yesterday = last["document_id"]
    own = {row["document_id"] for row in rows if row["query_id"] == bereft} | {bereft}
    home.former = min(problem for problem in hashes if problem not in own and not problem.startswith("gone/"))
    added = {
        **next(row for row in rows if row["query_id"] == bereft),
        "document_id": home.former,
        "score": -1.0,
        "content_hash": pair_hash(hashes[bereft], hashes[home.former]),
    }
    home.landing.append("runs", [*rows, added], "test")


def land_qrels(home):
    """An imported benchmark: relevances of present texts, of an older text and of a withdrawn source."""
    hashes, problems = home.hashes(), sorted(home.hashes())
    query, *documents = [name for name in problems if not name.startswith("gone")][:4]
    home.imported = (query, documents)
    seen = {documents[0]: pair_hash(hashes[query], hashes[documents[0]]), documents[1]: "an older text",
            "gone/1": pair_hash(hashes[query], hashes["gone/1"]), documents[2]: None}  # fmt: skip
    rows = [
        {"benchmark": "imported", "query_id": query, "document_id": document, "relevance": 1.0,
         "content_hash": seen_hash, "variant": "imported"}
        for document, seen_hash in seen.items()
    ]  # fmt: skip
    home.landing.append("qrels", rows, "test")


def land_old_scores_of_mathematics(home):
    """A query's ranking by its mathematics was made when its documents had other texts."""
    query = home.queries[0]
    rows = landed(home, "runs", f"setting = 'math-only' and query_id = '{query}'")
    home.landing.append("runs", [{**row, "content_hash": "an older text"} for row in rows], "test")


def land_other_tournament(home):
    """The judge's tournament of another seed, and an exhaustive one in other words: all verdicts the other way."""
    other = {"first": "second", "second": "first"}
    for schedule, names in (
        ("swiss", {"variant": "other seed", "prompt_version": "judge@offline"}),
        ("exhaustive", {"variant": "other words", "prompt_version": "judge@other"}),
    ):
        rows = landed(home, "judgments", f"schedule = '{schedule}'")
        rows = [{**row, **names, "verdict": other.get(row["verdict"], row["verdict"])} for row in rows]
        home.landing.append("judgments", rows, "test")


def land_ratings(home):
    """Of one query all but two candidates lose their rating; of another the judge was another one before."""
    rows = landed(home, "ratings")
    partly, tied, twice = sorted({row["query_id"] for row in rows})[-3:]
    home.partly, home.tied, home.twice = partly, tied, twice
    of = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["document_id"]):
        of[row["query_id"]].append(row)
    home.landing.append("ratings", [{**row, "rating": None} for row in of[partly][2:]], "test")
    home.landing.append(
        "ratings", [{**row, "rating": 5.0 if at < 2 else 1.0} for at, row in enumerate(of[tied])], "test"
    )
    home.landing.append(
        "ratings", [{**row, "judge": "offline-similarity", "rating": 3.0} for row in of[twice]], "test"
    )


def land_odd_numbers(home):
    """Scores beyond single precision, and measures that are the same for every system."""
    runs = landed(home, "runs", "run_id = 'toy.sound'")
    home.landing.append(
        "runs",
        [{**row, "run_id": "toy.large", "system": "toy.large", "score": row["score"] * 1e300} for row in runs],
        "test",
    )
    rows = [
        {"leaderboard": "elsewhere", "system": system, "measure": "constant", "value": 1.0}
        for system in ("BM25", "TF-IDF", "Jaccard", "random")
    ]
    home.landing.append("external_scores", rows, "test")


def test_a_ranking_with_a_withdrawn_document_counts_as_missing(home):
    """It once kept its rank, worth nothing, and pushed the others down."""
    rows = home.rows(
        f"select value, is_missing from evaluation.query_metrics where run_id = '{home.withdrawn_run}' "
        f"and query_id = '{home.withdrawn_query}' and measure = 'ndcg_exp@10'"
    )
    assert rows == [(0.0, True)]
    assert home.rows(f"select n_missing from evaluation.leaderboard where run_id = '{home.withdrawn_run}'") == [(1,)]


def test_a_ranking_of_other_candidates_or_older_texts_counts_as_missing_down_to_its_last_document(home):
    """Only the first documents were looked at, and a ranking of former candidates kept its score."""
    rows = home.rows(
        f"select query_id, value, is_missing from evaluation.query_metrics where run_id = '{home.changed_run}' "
        "and measure = 'ndcg_exp@10' and is_missing order by query_id"
    )
    assert rows == [(query, 0.0, True) for query in home.changed_queries]
    assert home.rows(f"select n_missing from evaluation.leaderboard where run_id = '{home.changed_run}'") == [(2,)]
    older, bereft = home.changed_queries
    listed = home.rows(
        "select query_id, problem_id, reason from analysis.stale_rows where landed_table = 'runs' "
        "and problem_id <> 'gone/1'"
    )
    assert (older, home.yesterday, "older text") in listed
    assert (bereft, home.former, "no candidate") in listed


def test_relevances_of_older_texts_and_withdrawn_sources_are_listed_not_read(home):
    _, documents = home.imported
    found = home.rows("select document_id from evaluation.relevances where benchmark = 'imported' order by 1")
    assert found == [(documents[0],), (documents[2],)]
    listed = home.rows(
        "select problem_id, reason from analysis.stale_rows where landed_table = 'qrels' and variant = 'imported'"
    )
    assert sorted(listed) == sorted([("gone/1", "problem gone"), (documents[1], "older text")])
    older = home.rows(
        "select distinct reason from analysis.stale_rows where landed_table = 'qrels' and variant = 'old'"
    )
    assert older == [("another variant",)]


def test_mathematics_and_words_are_compared_on_present_texts(home, before):
    """Scores of an older text were once compared with those of the present one."""
    asked = "select query_id from analysis.math_words_queries"
    assert {row[0] for row in before.rows(asked)} - {row[0] for row in home.rows(asked)} == {home.queries[0]}


def test_tournaments_of_other_variants_are_not_mixed(home, before):
    """Verdicts of another seed once doubled a tournament, and an exhaustive one in other words was compared with."""
    asked = "select * exclude (mean_pairs) from analysis.tournament_inversions order by all"
    assert before.rows(asked)
    assert home.rows(asked) == before.rows(asked)


def test_a_rating_of_an_earlier_judge_is_replaced(home):
    """Two judges of one variant once rated a document twice, and it counted twice in the ideal ranking."""
    rows = home.rows(
        "select count(*), count(distinct document_id), any_value(judge) from staging.stg_all_ratings "
        f"where query_id = '{home.twice}' and schedule = 'swiss'"
    )
    assert rows == [(30, 30, "offline-similarity")]
    assert home.rows(f"select count(*) from staging.stg_rating_replicates where query_id = '{home.twice}'") == [(0,)]


def test_chance_counts_the_candidates_that_have_no_rating(home):
    """A random order may place them first: chance was once that of the rated ones alone."""
    ratings = home.rows(f"select relevance from benchmark.qrels where query_id = '{home.partly}'")
    gains = sorted((2 ** (rating or 0.0) - 1 for (rating,) in ratings), reverse=True)
    assert len(gains) == 30
    places = [1 / math.log2(rank + 1) for rank in range(1, 11)]
    found = home.rows(
        "select random_exponential, ideal_exponential, n_documents, n_judged from evaluation.ideal_gains "
        f"where query_id = '{home.partly}' and k = 10"
    )
    assert found[0] == (
        pytest.approx(sum(gains) / 30 * sum(places)),
        pytest.approx(sum(gain * place for gain, place in zip(gains, places, strict=False))),
        30,
        2,
    )


def test_the_gain_of_a_rank_is_the_share_that_is_rated_lower(home):
    """Equally rated documents once counted as lower: the lowest 28 of 30 had a gain of 27/29."""
    run = home.rows(
        "select min(run_id) from evaluation.systems where system = 'tfidf' and setting = 'statement-full'"
    )[0][0]
    lower = {
        query: dict(
            home.rows(
                "select document_id, percent_rank() over (order by relevance) from benchmark.qrels "
                f"where query_id = '{query}' and relevance is not null"
            )
        )
        for (query,) in home.rows("select query_id from benchmark.queries")
    }
    assert sorted(set(lower[home.tied].values())) == [0.0, pytest.approx(28 / 29)]
    ranked = defaultdict(dict)
    for query, document, rank in home.rows(
        f"select query_id, document_id, rank from evaluation.ranked_runs where run_id = '{run}' and rank <= 10"
    ):
        ranked[query][rank] = document
    scores = []
    for query, gains in lower.items():
        best = sorted(gains.values(), reverse=True)[:10]
        if not any(best):  # rated alike, all of them: no order is better than another
            continue
        gained = sum(gains.get(document, 0.0) / math.log2(rank + 1) for rank, document in ranked[query].items())
        scores.append(gained / sum(gain / math.log2(rank + 2) for rank, gain in enumerate(best)))
    found = home.rows(f"select score from analysis.gain_scores where run_id = '{run}' and gain = 'rank'")
    assert found == [(pytest.approx(sum(scores) / len(scores)),)]


def test_scores_beyond_single_precision_are_ranked(home):
    """Looking for ties in single precision once ended the whole build."""
    asked = "select query_id, measure, value from evaluation.query_metrics where run_id = '{}' order by all"
    assert home.rows(asked.format("toy.large")) == home.rows(asked.format("toy.sound"))


def test_a_measure_that_is_the_same_for_all_has_no_correlation(home):
    """corr() says NaN, which failed the range test of the build."""
    rows = home.rows("select pearson, spearman, n_systems from analysis.external_correlations "
                     "where 'constant' in (measure, other_measure) and n_systems >= 3")  # fmt: skip
    assert rows
    assert {row[:2] for row in rows} == {(None, None)}
    assert json.dumps(rows)
