"""Lexical systems against formulas computed term by term, and tokenisers against hand-cut texts."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieval_home import RetrievalHome, scores_of, task_of

from annotate.retrieval.base import Text
from annotate.retrieval.registry import own_systems, system_class
from annotate.retrieval.systems.bm25 import BM25
from annotate.retrieval.systems.jaccard import Jaccard
from annotate.retrieval.systems.random import Random
from annotate.retrieval.systems.tfidf import TfIdf
from annotate.retrieval.term_counts import Analyser, TermCounts, WeightedTerms
from annotate.retrieval.tokenisers import mathematical_terms
from udfs.stop_words import stop_words
from warehouse.errors import SaberError
from warehouse.identity import uniform

DOCUMENTS = ["prime sum prime", "sum of angles", "prime factor of a sum of sums", "circle"]
QUERY = "prime prime sum circle tangent"
WORDS = st.lists(st.sampled_from(["prime", "sum", "circle", "angle", "of", "x", "2"]), max_size=8).map(" ".join)


@pytest.fixture
def context(tmp_path):
    return RetrievalHome(tmp_path).context()


def bm25_by_formula(documents: list[str], query: str, k1: float = 1.5, b: float = 0.75) -> list[float]:
    """Sum of idf · tf / (tf + k1·(1 − b + b·length/mean length)), term by term."""
    bags = [Counter(text.split()) for text in documents]
    lengths = [sum(bag.values()) for bag in bags]
    mean = sum(lengths) / len(lengths)
    scores = []
    for bag, length in zip(bags, lengths, strict=True):
        score = 0.0
        for term in query.split():
            df = sum(term in other for other in bags)
            if bag[term]:
                idf = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
                score += idf * bag[term] / (bag[term] + k1 * (1 - b + b * length / mean))
        scores.append(score)
    return scores


def tfidf_by_formula(documents: list[str], query: str) -> list[float]:
    """Cosine of tf·(ln((1 + n)/(1 + df)) + 1) vectors; query terms that no document has are dropped."""
    bags = [Counter(text.split()) for text in documents]
    df = Counter(term for bag in bags for term in bag)

    def vector(bag: Counter[str]) -> dict[str, float]:
        return {t: n * (math.log((1 + len(bags)) / (1 + df[t])) + 1) for t, n in bag.items() if df[t]}

    def cosine(x: dict[str, float], y: dict[str, float]) -> float:
        norms = math.sqrt(sum(v * v for v in x.values()) * sum(v * v for v in y.values()))
        return sum(v * y.get(t, 0.0) for t, v in x.items()) / norms if norms else 0.0

    return [cosine(vector(Counter(query.split())), vector(bag)) for bag in bags]


def test_bm25_of_four_documents_by_hand(context):
    # Lengths 3, 3, 7, 1, mean 3.5; document frequencies: prime 2, sum 3, circle 1. The query has prime twice.
    idf_prime, idf_sum, idf_circle = math.log(2.0), math.log(1 + 1.5 / 3.5), math.log(1 + 3.5 / 1.5)
    norm = {length: 1.5 * (0.25 + 0.75 * length / 3.5) for length in (1, 3, 7)}
    expected = [
        2 * idf_prime * 2 / (2 + norm[3]) + idf_sum / (1 + norm[3]),
        idf_sum / (1 + norm[3]),
        2 * idf_prime / (1 + norm[7]) + idf_sum / (1 + norm[7]),
        idf_circle / (1 + norm[1]),
    ]
    assert scores_of(BM25(), task_of(DOCUMENTS, [QUERY], context))[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("system", "formula"), [(BM25(), bm25_by_formula), (TfIdf(), tfidf_by_formula)])
class TestStatistics:
    def test_from_the_corpus(self, system, formula, context):
        found = scores_of(system, task_of(DOCUMENTS, [QUERY], context, candidates=[[0, 2]]))
        whole = formula(DOCUMENTS, QUERY)
        assert found[0] == pytest.approx([whole[0], whole[2]], rel=1e-12)

    def test_from_the_candidates_alone(self, system, formula, context):
        found = scores_of(system, task_of(DOCUMENTS, [QUERY], context, idf="candidates", candidates=[[0, 2]]))
        assert found[0] == pytest.approx(formula([DOCUMENTS[0], DOCUMENTS[2]], QUERY), rel=1e-12)
        assert found[0] != pytest.approx([formula(DOCUMENTS, QUERY)[at] for at in (0, 2)], rel=1e-3)

    @settings(max_examples=40, deadline=None)
    @given(data=st.data())
    def test_equals_the_formula_on_random_texts(self, system, formula, data):
        documents = data.draw(st.lists(WORDS, min_size=1, max_size=6))
        query = data.draw(WORDS)
        chosen = data.draw(st.lists(st.sampled_from(range(len(documents))), unique=True, min_size=1).map(sorted))
        corpus = scores_of(system, task_of(documents, [query], None, candidates=[chosen]))[0]
        local = scores_of(system, task_of(documents, [query], None, idf="candidates", candidates=[chosen]))[0]
        assert corpus == pytest.approx([formula(documents, query)[at] for at in chosen], rel=1e-9, abs=1e-12)
        assert local == pytest.approx(formula([documents[at] for at in chosen], query), rel=1e-9, abs=1e-12)


def test_bm25_equals_the_library_itself(context):
    import bm25s

    model = bm25s.BM25(k1=1.2, b=0.5, method="lucene", dtype="float64")
    model.index([text.split() for text in DOCUMENTS], show_progress=False)
    expected = model.get_scores(QUERY.split()).tolist()
    assert scores_of(BM25(k1=1.2, b=0.5), task_of(DOCUMENTS, [QUERY], context))[0] == pytest.approx(
        expected, rel=1e-12
    )


def test_tfidf_equals_the_library_itself(context):
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(token_pattern=r"\S+", sublinear_tf=True).fit(DOCUMENTS)
    expected = (vectorizer.transform(DOCUMENTS) @ vectorizer.transform([QUERY]).T).toarray()[:, 0].tolist()
    found = scores_of(TfIdf(sublinear_tf=True), task_of(DOCUMENTS, [QUERY], context))[0]
    assert found == pytest.approx(expected, rel=1e-12)


def test_jaccard_counts_query_terms_that_no_document_has(context):
    # Without "of" and "a", which are stop words: {prime, sum, circle, tangent} against each set.
    found = scores_of(Jaccard(), task_of(DOCUMENTS, [QUERY], context))[0]
    assert found == pytest.approx([2 / 4, 1 / 5, 2 / 6, 1 / 4])


def test_jaccard_of_two_empty_sets_is_zero(context):
    assert scores_of(Jaccard(), task_of(["of the", "circle"], ["a"], context))[0] == [0.0, 0.0]


@settings(max_examples=40, deadline=None)
@given(documents=st.lists(WORDS, min_size=1, max_size=6), query=WORDS)
def test_jaccard_equals_sets(documents, query):
    def members(text: str) -> set[str]:
        return set(text.split()) - stop_words()

    expected = []
    for text in documents:
        union = members(text) | members(query)
        expected.append(len(members(text) & members(query)) / len(union) if union else 0.0)
    assert scores_of(Jaccard(), task_of(documents, [query], None))[0] == pytest.approx(expected)


def test_random_is_the_hash_of_seed_and_ids(context):
    found = scores_of(Random(seed=7), task_of(["a", "b"], ["x", "y"], context, candidates=[[0, 1], [1]]))
    assert found == [[uniform(7, "q0", "d0"), uniform(7, "q0", "d1")], [uniform(7, "q1", "d1")]]


def test_texts_without_a_term_score_zero(context):
    for name in ("bm25", "tfidf", "jaccard", "bm25-math"):
        for idf in ("corpus", "candidates"):
            task = task_of(["", "!!"], ["prime", ""], context, idf if system_class(name).uses_statistics else "none")
            assert scores_of(system_class(name)(), task) == [[0.0, 0.0], [0.0, 0.0]]


def test_restricting_equals_counting_anew():
    texts = [Text(str(number), text) for number, text in enumerate(DOCUMENTS)]
    whole = TermCounts.of(texts, Analyser("plain"))
    part = whole.restricted(np.array([1, 3]))
    anew = TermCounts.of([texts[1], texts[3]], Analyser("plain"))
    assert (part.matrix.toarray() == anew.matrix.toarray()).all()
    assert list(anew.vocabulary) == [term for term, number in whole.vocabulary.items() if number in part.terms]
    columns, counts, distinct = part.query(Text("q", "of of prime circle"))
    assert ([list(anew.vocabulary)[at] for at in columns], counts.tolist(), distinct) == (["circle", "of"], [1, 2], 3)


def test_both_ways_of_multiplying_are_equal_to_the_last_bit():
    matrix = TermCounts.of([Text(str(n), text) for n, text in enumerate(DOCUMENTS * 3)], Analyser("plain")).matrix
    weights = WeightedTerms((matrix * 0.1).tocsr())
    columns, values = np.array([0, 2, 5, 6]), np.array([0.3, 1.7, 0.9, 0.2])
    few = np.concatenate([weights.products(columns, values, np.array([at])) for at in range(12)])
    assert few.tolist() == weights.products(columns, values, np.arange(12)).tolist()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        (r"Solve $x^2+10x \leq 3.5$.", ["solve", "x", "^", "2", "+", "10", "x", "\\le", "3.5"]),
        (r"A fraction \(\dfrac{ab}{N}\), \[n!\]", ["a", "fraction", "\\frac", "a", "b", "N", "n", "!"]),
        (r"It costs \$5 and \$6", ["it", "costs", "5", "and", "6"]),
        (r"Unclosed $ sign stays Prose", ["unclosed", "sign", "stays", "prose"]),
        ("One $ and\n\nanother $ far away", ["one", "and", "another", "far", "away"]),
        (r"$\left( x \right) \text{ for all } y$", ["x", "for", "all", "y"]),
        (r"$a \\ b \\[2pt] c$", ["a", "b", "c"]),
        ("\\begin{align*} x &= 1 \\\\ y &\\ne 2 \\end{align*}", ["x", "=", "1", "y", "\\ne", "2"]),
        ("x ≤ π, 90°", ["x", "\\le", "\\pi", "90", "\\circ"]),
        (r"\textbf{Note} that \frac12 is half", ["note", "that", "\\frac", "12", "is", "half"]),
        ("$$ a-b $$", ["a", "-", "b"]),
        ("Ångström und Große", ["ångström", "und", "große"]),
        ("", []),
    ],
)
def test_mathematical_terms(text, terms):
    assert mathematical_terms(text) == terms


def test_spellings_of_one_formula_are_one_text():
    assert mathematical_terms(r"$\tfrac{1}{2}\geqslant a$") == mathematical_terms(
        r"\(\frac12 ≥ a\)".replace("12", "1 2")
    )


def test_openings_alone_do_not_take_quadratic_time():
    # The expression once scanned to the end of the text from each opening: minutes for this text.
    assert mathematical_terms("\\( $$ \\[ " * 20_000) == []


def test_unknown_tokeniser_is_refused(context):
    with pytest.raises(SaberError, match="mathematics"):
        scores_of(BM25(tokeniser="latex"), task_of(DOCUMENTS, [QUERY], context))


def test_every_system_has_its_own_name():
    assert {"random", "jaccard", "tfidf", "bm25", "bm25-math"} <= own_systems().keys()
    with pytest.raises(SaberError, match="bm26"):
        system_class("bm26")
