"""Token sets: golden values, definition by character, NULLs, DuckDB."""

from __future__ import annotations

import sys
import unicodedata

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from udfs.stop_words import MATHEMATICAL_STOP_WORDS, stop_words
from udfs.tokens import (
    published_words,
    summary_tokens,
    summary_tokens_function,
    unicode_words,
)


def tokens_of(text: str | None, tokeniser: str = "unicode") -> list[str] | None:
    return summary_tokens(pa.array([text], pa.string()), tokeniser).to_pylist()[0]


def words_by_character(text: str) -> list[str]:
    """Second path for `unicode`: one character at a time by its Unicode category."""
    words, current = [], ""
    for character in unicodedata.normalize("NFKC", text).lower() + " ":
        if unicodedata.category(character)[0] in "LN":
            current += character
        elif current:
            words.append(current)
            current = ""
    return words


def test_a_summary_becomes_its_sorted_distinct_content_words() -> None:
    text = "Apply the AM-GM inequality; then apply Cauchy's inequality to x_1^2 + y."
    # "the", "then", "to" are stop words, and so is the "am" of AM-GM (as in "I am"); "s" is none.
    expected = ["1", "2", "apply", "cauchy", "gm", "inequality", "s", "x", "y"]
    assert tokens_of(text) == expected
    expected = ["apply", "cauchy", "gm", "inequality", "s", "x_1^2", "y"]
    assert tokens_of(text, "published") == expected


def test_tokenisers_differ_where_letters_leave_ascii() -> None:
    text = "Gödel ﬁeld x² Ｆｕｌｌ ТЕОРИЯ"
    assert tokens_of(text) == ["field", "gödel", "x2", "теория"]  # "full" is an English stop word
    assert tokens_of(text, "published") == ["del", "eld", "g", "x"]


def test_published_lower_cases_after_matching() -> None:
    assert published_words("\u212a") == []  # the Kelvin sign is no ASCII letter
    assert unicode_words("\u212a") == ["k"]


def test_composed_and_decomposed_accents_are_one_token() -> None:
    assert tokens_of("caf\u00e9") == tokens_of("cafe\u0301") == ["caf\u00e9"]


def test_stop_words_are_both_lists_in_any_case() -> None:
    assert stop_words() == ENGLISH_STOP_WORDS | MATHEMATICAL_STOP_WORDS
    assert len(MATHEMATICAL_STOP_WORDS) == 30
    assert tokens_of("HENCE the Theorem, Lemma and SOLUTION of induction") == ["induction"]
    assert tokens_of("if and or but", "published") == []


def test_null_stays_null_and_an_empty_text_has_the_empty_set() -> None:
    texts = pa.chunked_array([["prime", None], [], ["", "the"]], type=pa.string())
    result = summary_tokens(texts, "unicode")
    assert result.type == pa.list_(pa.string())
    assert result.to_pylist() == [["prime"], None, [], []]
    assert summary_tokens(pa.array([], pa.string()), "unicode").to_pylist() == []


def test_an_unknown_tokeniser_is_named() -> None:
    with pytest.raises(ValueError, match=r"'porter'.*published, unicode"):
        summary_tokens(pa.array(["x"]), "porter")
    with pytest.raises(ValueError, match="'porter'"):
        summary_tokens_function("porter")


def test_every_code_point_is_a_token_character_iff_letter_or_number() -> None:
    characters = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF]
    # One word each; the definition by category is asked directly, without normalising.
    from udfs.tokens import _LETTERS_AND_DIGITS

    found = set(_LETTERS_AND_DIGITS.findall(" ".join(characters)))
    assert found == {c for c in characters if unicodedata.category(c)[0] in "LN"}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | st.text(max_size=40), max_size=8))
def test_unicode_tokens_equal_the_character_definition(texts: list[str | None]) -> None:
    expected = [None if t is None else sorted(set(words_by_character(t)) - stop_words()) for t in texts]
    assert summary_tokens(pa.array(texts, pa.string()), "unicode").to_pylist() == expected


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=10), st.integers(0, 10))
def test_chunks_do_not_matter(texts: list[str], cut: int) -> None:
    whole = summary_tokens(pa.array(texts, pa.string()), "published")
    parts = pa.chunked_array([texts[:cut], texts[cut:]], type=pa.string())
    assert summary_tokens(parts, "published").equals(whole)


def test_duckdb_calls_it_as_an_arrow_function_from_two_threads() -> None:
    con = duckdb.connect(config={"threads": 2})
    con.create_function(
        "summary_tokens",
        summary_tokens_function("unicode"),
        ["VARCHAR"],
        "VARCHAR[]",
        type="arrow",
        null_handling="special",
    )
    rows = con.execute(
        "select summary_tokens(x) from (values (0, 'Use Vieta jumping'), (1, null), (2, '')) t(i, x) order by i"
    ).fetchall()
    assert rows == [(["jumping", "use", "vieta"],), (None,), ([],)]
    total = con.execute("select sum(len(summary_tokens('the induction on ' || i))) from range(5000) t(i)").fetchall()
    assert total == [(2 * 5000,)]
