"""Texts held to what they said: formulas set in LaTeX, translations, and where mathematics stands bare."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.sourcing.format_formulas import bare_mathematics
from annotate.sourcing.integrity import format_difference, translation_difference
from annotate.sourcing.linear_form import linear_form


@pytest.mark.parametrize(
    ("written", "form"),
    [
        (r"$\frac{x+1}{2}$", "(x+1)/2"),
        ("(x+1)/2", "(x+1)/2"),
        (r"\(\dfrac{x+1}2\)", "(x+1)/2"),
        (r"\frac{\frac12}{3}", "(1/2)/3"),
        ("½", "1/2"),
        ("2½", "2(1/2)"),
        (r"$2\frac{1}{2}$", "2(1/2)"),
        (r"$2 \frac{1}{2}$", "2␣1/2"),
        ("2 1/2", "2␣1/2"),
        ("21/2", "21/2"),
        ("x² + 1 ≤ 3", "x^2+1<=3"),
        (r"$x^{2}+1\leqslant 3$", "x^2+1<=3"),
        ("2^(n+1)", "2^(n+1)"),
        (r"$2^{n+1}$", "2^(n+1)"),
        (r"$2^n+1$", "2^n+1"),
        ("√(n+1)", "sqrt(n+1)"),
        (r"$\sqrt{n+1}$", "sqrt(n+1)"),
        ("αx₁₀ − Δ", "alphax_10-Delta"),
        (r"$\alpha x_{10}-\Delta$", "alphax_10-Delta"),
        (r"$\left\{1,2\right\}$", "(1,2)"),
        ("2 3", "2␣3"),
        (r"$\text{if } \sin x$", "ifsinx"),
        (r"$\binom{n}{2}$", "nchoose2"),
    ],
)
def test_the_linear_form_is_the_same_in_every_notation(written: str, form: str) -> None:
    assert linear_form(written) == form


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Let x^2 <= 4.", r"Let $x^{2} \le 4$."),
        ("Find (x+1)/2 for x = 3, then stop.", r"Find $\frac{x+1}{2}$ for $x=3$, then stop."),
        ("It costs $5 and $6, so x = 11.", r"It costs \$5 and \$6, so $x = 11$."),
        (r"Already $a$ set, b = \frac12 not.", r"Already $a$ set, $b = \frac12$ not."),
        ("Show that\na + b = c\nholds.", "Show that\n$$a + b = c$$\nholds."),
        ("设 x = 3，求 x²。", "设 $x = 3$，求 $x^2$。"),
        ("(a) Find n. (b) Find 2n.", "(a) Find $n$. (b) Find $2n$."),
    ],
)
def test_delimiters_and_notation_may_change(before: str, after: str) -> None:
    assert format_difference(before, after) is None


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("Let x^2 <= 4.", r"Let $x^2 \le 5$.", "'5.' where it was '4.'"),
        ("Let x^2 <= 4.", r"Let $x^2 < 4$.", "'4.' where it was '=4.'"),
        ("Let 2^(n+1) be even.", "Let $2^n+1$ be even.", "where it was"),
        ("Add 1/2 to x.", "Add $12$ to $x$.", "where it was"),
        ("Add 2 3 and x.", "Add $23$ and $x$.", "where it was"),
        ("Let x be even.", "Let $x$ be odd.", "'odd.' where it was 'even.'"),
        ("(a) Let x = 1.", "a) Let $x = 1$.", "where it was"),
        ("f(x) is odd.", "fx is odd.", "outside formulas"),
        ("It costs $5, x = 2.", "It costs 5, $x = 2$.", "outside formulas"),
        ("It costs $5, x = 2.", "It costs $5, $x=2$.", "money"),
        ("Let a b be words.", "Let ab be words.", "outside formulas"),
        ("The end x = 1. More.", "The end $x = 1$.", "nothing"),
        ("Let x = 1.", "Let $x = 1$. Done.", "'Done.' where it was nothing"),
    ],
)
def test_anything_else_is_named(before: str, after: str, named: str) -> None:
    assert named in (format_difference(before, after) or "")


_PLAIN = st.lists(
    st.sampled_from(["find", "x^2+1", "the", "a=b/c", "sum", "2n-7", "of", "all", "k_1<9", "(iii)"]), min_size=1
)


@settings(max_examples=60, deadline=None)
@given(_PLAIN, st.data())
def test_setting_formulas_passes_and_a_changed_sign_does_not(words: list[str], data: st.DataObject) -> None:
    """An independent writer of delimiters: what it makes passes, and any one letter or digit changed is found."""
    formulas = {"x^2+1": "$x^{2}+1$", "a=b/c": r"$a=\frac{b}{c}$", "2n-7": "$2n-7$", "k_1<9": r"$k_{1} \lt 9$"}
    before, after = " ".join(words), " ".join(formulas.get(word, word) for word in words)
    assert format_difference(before, after) is None
    places = [place for place, sign in enumerate(before) if sign.isalnum()]
    place = data.draw(st.sampled_from(places))
    other = data.draw(st.sampled_from([sign for sign in "qZ05" if sign != before[place]]))
    assert format_difference(before[:place] + other + before[place + 1 :], after) is not None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("রজারের ৫টি বল আছে। ১২টি আরও।", "Roger has 5 balls. 12 more."),
        ("Sei $x\\in A$ mit 3,5 Einheiten.", "Let $x\\in A$ with 3.5 units."),
        ("求两个数 $a_1$ 和 $a_2$ 的和。", "Find the sum of the 2 numbers $a_1$ and $a_2$."),
        ("Si $x>0\\text{ alors }y$", "If $x>0\\text{ then }y$"),
    ],
)
def test_a_translation_keeps_numbers_commands_and_variables(before: str, after: str) -> None:
    assert translation_difference(before, after) is None


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("রজারের ৫৫টি বল আছে", "Roger has 56 balls", "'55' of the text is missing"),
        ("Sei $x = 3$ gegeben", "Let x be given", "missing"),
        ("Sei $\\alpha < 2$", "Let $\\beta < 2$", "'\\\\alpha' of the text is missing"),
        ("Sei $x < 2$", "Let $y < 2$", "the variable 'x'"),
        ("Sei $x < 2$", "Let $x < 2$ with 1234 sheep", "'1234' of the translation"),
        ("দুই বন্ধু", "দুই friends", "another script"),
    ],
)
def test_a_translation_that_lost_or_invented_something_is_named(before: str, after: str, named: str) -> None:
    assert named in (translation_difference(before, after) or "")


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Let $x^2 = 4$ be given.", None),
        ("Let x^2 be given.", "x^2"),
        (r"The value \frac{1}{2} stands bare.", r"\frac"),
        ("If n ≤ 4 then", "≤"),
        ("An ordinary text -- with dashes, and/or slashes.", None),
        ("A well-known 3-4-5 triangle.", None),
        ("Compute 3 + 4.", "3 + 4"),
    ],
)
def test_bare_mathematics_is_found_outside_formulas_alone(text: str, bare: str | None) -> None:
    assert bare_mathematics(text) == bare
