"""Mathematics against words, by plain loops and with a model's delimiters."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from scipy import stats

from udfs.formula_split import split_text


@pytest.fixture(scope="module")
def home(evaluation_home):
    return evaluation_home


def rated(home):
    """{query: [(document, class, rating)] in the order of ratings}."""
    found = defaultdict(list)
    for row in home.rows("select query_id, document_id, class, relevance from benchmark.qrels"):
        found[row[0]].append(row[1:])
    return {query: sorted(rows, key=lambda row: (-row[2], row[0])) for query, rows in found.items()}


def test_math_against_words_by_plain_loops(home):
    ranked = rated(home)
    statements = dict(home.rows("select problem_id, statement from staging.stg_problems"))
    runs = defaultdict(dict)
    for row in home.landing.read(
        "runs", where="setting in ('math-only', 'words-only') and system = 'jaccard'"
    ).to_pylist():
        runs[row["setting"], row["query_id"]][row["document_id"]] = row["score"]
    preferred, dropped = {}, 0
    for query, rows in ranked.items():
        parts = split_text(statements[query])
        if not (parts.mathematics and parts.words):
            dropped += 1
            continue
        best = [document for document, _, _ in rows[:5]]
        means = [np.mean([runs[setting, query][d] for d in best]) for setting in ("math-only", "words-only")]
        preferred[query] = np.sign(round(means[0], 12) - round(means[1], 12))
    found = home.rows(
        "select n_queries, n_dropped, n_mathematics, n_words, n_equal, share_preferring_mathematics, low, high "
        "from analysis.math_vs_words where system = 'jaccard' and domain = 'overall'"
    )
    counts = Counter(preferred.values())
    decided = counts[1] + counts[-1]
    wilson = stats.binomtest(counts[1], decided).proportion_ci(0.95, method="wilson")
    assert found == [
        (len(preferred), dropped, counts[1], counts[-1], counts[0], pytest.approx(counts[1] / decided),
         pytest.approx(wilson.low, abs=1e-6), pytest.approx(wilson.high, abs=1e-6))
    ]  # fmt: skip
    assert dropped + len(preferred) == 50
    assert dropped > 0
    fifths = home.rows(
        "select fifth, n_queries, n_mathematics, min_share_mathematics, max_share_mathematics "
        "from analysis.math_vs_words_by_share where system = 'jaccard' order by 1"
    )
    assert sum(row[1] for row in fifths) == len(preferred)
    assert sum(row[2] for row in fifths) == counts[1]
    assert [row[3] for row in fifths] == sorted(row[3] for row in fifths)


def test_a_model_s_delimiters_decide_the_split_where_the_settings_name_it(home, copy_home):
    """The problem stays as it is, so nothing that was judged or ranked grows stale."""
    other = copy_home(home)
    query = min(rated(home))
    problem = next(row for row in other.landing.read("problems").to_pylist() if row["problem_id"] == query)
    fresh = {"problem_id": query, "content_hash": problem["content_hash"], "model": "setter", "variant": "v"}
    other.landing.append(
        "delimited_statements",
        [
            {**fresh, "statement": "An older reply $z$.", "variant": "u"},
            {**fresh, "statement": "Let $rootwo$ be seven words long."},
            {**fresh, "statement": "Another model's $q$.", "model": "other"},
            {
                **fresh,
                "problem_id": sorted(rated(home))[1],
                "statement": "Of an older text $y$.",
                "content_hash": "0",
            },
        ],
        "test",
    )
    text = other.settings_file.read_text()
    other.settings_file.write_text(text.replace('formulas = "rules"', 'formulas = "setter"'))
    result = other.saber("retrieve", "--system", "jaccard", "--setting", "math-only", "words-only")
    assert result.returncode == 0, result.stderr
    result = other.dbt("run", "--select", "stg_delimited_statements", "query_parts", "run_queries", "systems")
    assert result.returncode == 0, result.stdout
    parts = "select query_id, mathematics, words, is_delimited from analysis.query_parts order by 1"
    before, after = home.rows(parts), other.rows(parts)
    assert after[0] == (query, "rootwo", "Let be seven words long.", True)
    assert after[1:] == before[1:]
    assert {row[3] for row in before} == {False}
    # the run that rules split stays beside; the analysis reads the one of the settings
    runs = other.rows("select run_id, params ->> 'formulas' from evaluation.systems where setting = 'math-only'")
    assert sorted(formulas or "rules" for _, formulas in runs) == ["rules", "rules", "setter"]
    read = other.rows("select distinct run_id from analysis.math_words_queries")
    assert read == [(run,) for run, formulas in runs if formulas == "setter"]
    candidate = other.rows(f"select min(document_id) from benchmark.candidates where query_id = '{query}'")[0][0]
    scores = {
        row["run_id"]: row["score"]
        for row in other.landing.read(
            "runs", where=f"query_id = '{query}' and document_id = '{candidate}' and setting = 'math-only' "
            "and system = 'jaccard'"
        ).to_pylist()
    }  # fmt: skip
    assert len(set(scores.values())) == 2
