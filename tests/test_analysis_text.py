"""Mathematics and words of a text, by rules; hostile texts do not make them slow or lose anything."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from udfs.formula_split import count_tokens, split_text
from warehouse.errors import SaberError
from warehouse.texts import PART_SETTINGS, SETTINGS, forms, problem_text


@pytest.mark.parametrize(
    ("text", "mathematics", "words"),
    [
        ("Let $a$ be a root of $x^2+1=0$.", "a x^2+1=0", "Let be a root of"),
        ("Solve \\[x>0\\text{ where } x<1\\] now", "x>0 x<1", "Solve where now"),
        ("Show \\(n\\) divides $$n^2$$ today", "n n^2", "Show divides today"),
        ("\\begin{align*}x&=1\\\\y&=2\\end{align*} Find x.", "x&=1\\\\y&=2 x", "Find"),
        ("Is 2^10 > 1000 for all n?", "2^10 > 1000 n", "Is for all"),
        ("A train and I: a story", "", "A train and I: a story"),
        ("Prove ∀ ε, α ≤ β", "∀ ε α ≤ β", "Prove"),
        ("Use \\sin and \\frac12 here", "\\sin \\frac12", "Use and here"),
        ("Tom pays $5 and then gives $7 to Ann.", "5 7", "Tom pays and then gives to Ann."),
        ("It costs \\$5, and $x$ more.", "\\$5 x", "It costs and more."),
        ("Look at it [asy] draw((0,0)--(1,1)); [/asy] closely", "", "Look at it closely"),
        ("$x$", "x", ""),
        ("", "", ""),
        ("An open $x formula\n\nand $y$ closed", "x y", "An open formula and closed"),
    ],
)
def test_split_by_hand(text, mathematics, words):
    assert split_text(text) == (mathematics, words)


def test_tokens_by_hand():
    """\\frac, {, 1, }, {, 2, }, +, x: nine; two words and a full stop: three."""
    assert count_tokens("\\frac{1}{2}+x") == 9
    assert count_tokens("two words.") == 3
    assert count_tokens("3.14") == 1


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet="ab xy1=+$\\(){}[]\n", max_size=60))
def test_every_letter_and_digit_lands_in_one_part(text):
    """Commands of layout apart, nothing that was written is lost or doubled."""
    parts = split_text(text)
    found = "".join(parts)
    for character in "bxy1":
        assert found.count(character) <= text.count(character)
        if "\\" not in text:
            assert found.count(character) == text.count(character)


@pytest.mark.parametrize("opening", ["$", "\\(", "\\[", "\\begin{align}", "$$", "[asy]", "\\text{"])
def test_texts_of_openings_alone_end(opening):
    """Matches are bounded, so that no text of openings takes time that grows with the square of its length."""
    mathematics, words = split_text("Find " + opening * 5_000 + " x")
    assert words.startswith("Find")
    assert mathematics.endswith("x") == (opening != "[asy]")


def test_parts_are_settings_that_run_only_when_asked_for():
    assert not PART_SETTINGS.keys() & SETTINGS.keys()
    assert forms("math-only") == ("mathematics", "full")
    assert problem_text("mathematics", "Let $x=1$.", "s") == "x=1"
    assert problem_text("words", "Let $x=1$.", "s") == "Let"
    with pytest.raises(SaberError, match="math-only"):
        forms("maths-only")
