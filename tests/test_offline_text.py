"""Words of labels, texts and formulas for the offline provider."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.providers.offline_prose import put_in_words, sentences
from annotate.providers.offline_text import LabelSplitter, features, notation_words, stem, text_words

SPLITTER = LabelSplitter(
    ["Calculus", "Foundation", "Island", "CalculusandAnalysis", "ThousandIslands", "LawofSines", "Solids", "Art"]
)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("ChineseRemainderTheorem", ["chines", "remainder", "theorem"]),
        ("CalculusandAnalysis", ["calculus", "analysis"]),  # the joining word is glued on in MathWorld labels
        ("SolidsofConstantWidth", ["solid", "constant", "width"]),
        ("IslandTheorem", ["island", "theorem"]),  # "Isl" is no word, so "Island" stays whole
        ("Non-EuclideanGeometry", ["non", "euclidean", "geometry"]),
        ("A-Sequence", ["a", "sequenc"]),  # the letter keeps it apart from plain "Sequence"
        ("HeronsFormula", ["heron", "formula"]),
        ("15Puzzle", ["15", "puzzl"]),
        ("Vieta Formulas", ["vieta", "formula"]),
        ("Poincaré Disk", ["poincar", "disk"]),
    ],
)
def test_labels(label: str, words: list[str]) -> None:
    assert SPLITTER.words(label) == words


@pytest.mark.parametrize(
    ("forms", "root"),
    [
        (["triangle", "triangles", "triangular"], "triangl"),
        (["vertex", "vertices"], "vertex"),
        (["divisible", "divisor", "divisors", "divisibility"], "divis"),
        (["polynomial", "polynomials"], "polynomial"),
        (["identity", "identities"], "identity"),
        (["mapping", "mapped", "maps"], "map"),
        (["Heron's", "herons"], "heron"),
        (["axis", "axes"], "axis"),
    ],
)
def test_forms_of_a_word_meet(forms: list[str], root: str) -> None:
    assert {stem(form) for form in forms} == {root}


def test_different_words_stay_apart() -> None:
    apart = [
        "integral",
        "integer",
        "factorial",
        "factor",
        "ring",
        "rational",
        "ratio",
        "series",
        "prime",
        "primitive",
    ]
    assert len({stem(word) for word in apart}) == len(apart)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=14))
@settings(max_examples=150)
def test_a_plural_has_the_stem_of_its_singular(word: str) -> None:
    if len(word) > 3 and not word.endswith(("s", "x", "z", "h", "y", "i", "u", "e", "ing", "ed")):
        plural, single = stem(word + "s"), stem(word)
        assert plural == single


def test_text_words_without_formulas_and_across_breaks() -> None:
    words = text_words(
        "Angles of the right triangle $ABC$ are equal. Triangles \\textbf{similar} [asy] draw(circle); [/asy]"
    )
    assert [word for word in words if word] == ["angl", "right", "triangl", "equal", "triangl", "similar"]
    pairs = {word for word in features(words) if "_" in word}
    # "of the" joins, a formula or a full stop parts neighbours.
    assert pairs == {"angl_right", "right_triangl", "triangl_similar"}


def test_notation_speaks() -> None:
    phrases = notation_words(r"$\binom{5}{2} \equiv 3 \pmod 7$, so $\triangle ABC$ has $n!$ ways")
    assert ["binomial", "coefficient"] in phrases
    assert ["congruenc", "", "modular", "arithmetic"] in phrases or any("modular" in phrase for phrase in phrases)
    assert ["triangl"] in phrases
    assert ["factorial"] in phrases


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("x", "x"),
        ("A B C", "ABC"),
        (r"\triangle ABC", "triangle ABC"),
        (r"90^\circ", "90 degrees"),
        ("42", "42"),
        ("f(x)", "f(x)"),
        ("x^2 + y^2 = 1", "an equation"),
        (r"a \equiv b \pmod n", "a congruence"),
        (r"\binom{n}{k}", "a binomial coefficient"),
        (r"\frac{1}{2}", "a fraction"),
        ("x < 3", "an inequality"),
        ("2+3", "an expression"),
        ("", ""),
    ],
)
def test_formulas_in_words(formula: str, words: str) -> None:
    assert put_in_words(formula) == words


def test_sentences_are_plain() -> None:
    text = (
        "We factor $x^2-1$ as \\[(x-1)(x+1).\\]The roots are $1$ and $-1$. [asy] draw((0,0)--(1,1)); [/asy]\n\n"
        "\\begin{align*} a &= b \\\\ &= c \\end{align*} Therefore \\textbf{both} work, e.g. $\\boxed{1}$!"
    )
    assert sentences(text) == [
        "We factor a square as an expression",
        "The roots are 1 and an expression",
        "an equation",
        "Therefore both work, e.g. an expression",
    ]


@given(st.text(max_size=200))
@settings(max_examples=100)
def test_any_text_gives_sentences_without_latex(text: str) -> None:
    for sentence in sentences(text):
        assert not set(sentence) & set("\\${}=<>^")
