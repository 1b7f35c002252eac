"""The extractive summary: rules of English as examples, and that every summary keeps the rules of models' ones."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.providers.offline_imperative import imperative, is_instruction
from annotate.providers.offline_summary import shorten, summarise
from annotate.summaries.reading import read_summary


@pytest.mark.parametrize(
    ("sentence", "hint"),
    [
        ("We can factor the cubic", "Factor the cubic"),
        ("First, we will simply rewrite the sum", "Rewrite the sum"),
        ("Let's count the complement", "Count the complement"),
        ("Therefore, consider the discriminant", "Consider the discriminant"),
        ("To find the area, we subtract the triangles", "Subtract the triangles to find the area"),
        ("Using the law of cosines, we compute the side", "Use the law of cosines to compute the side"),
        ("By symmetry, both angles are equal", "Use symmetry to show that both angles are equal"),
        (
            "Since the sum is even, we get that one term is even",
            "Use that the sum is even to show that one term is even",
        ),
        ("Multiplying both sides by 3, we find that it is odd", "Multiply both sides by 3 to show that it is odd"),
        ("The roots are real", "Show that the roots are real"),
        ("Vieta's formulas give the sum", "Show that Vieta's formulas give the sum"),
        ("ABC is isosceles", "Show that ABC is isosceles"),
    ],
)
def test_sentences_become_hints(sentence: str, hint: str) -> None:
    assert imperative(sentence) == hint


def test_instructions_are_told_from_scene_setting() -> None:
    assert is_instruction("We apply the pigeonhole principle")
    assert is_instruction("Count the pairs in two ways")
    assert not is_instruction("Let x be a number")
    assert not is_instruction("The number is even")


def test_shortened_to_the_last_clause_that_fits() -> None:
    long = "Use the first idea to bound the sum of all the terms from above and below, " + "and then go on " * 8
    assert shorten(long) == "Use the first idea to bound the sum of all the terms from above and below."
    assert len(shorten("word " * 50).split()) == 30
    assert shorten("Bound the sum of the") == "Bound the sum."


def test_the_sentence_that_names_the_method_is_taken() -> None:
    solution = (
        "There are $10$ people. We apply the pigeonhole principle to the remainders of the ages. "
        "The answer is $\\boxed{7}$."
    )
    found = summarise("Ten people have ages.", solution)
    assert found["coreIdea"] == "Apply the pigeonhole principle to the remainders of the ages."
    assert found["supportingIdeas"] == ["pigeonhole principle"]
    assert "pigeonhole principle" in found["keywords"]
    assert found["noCoreIdea"] is False


def test_a_plain_statement_gets_the_main_technique_in_front() -> None:
    found = summarise("Find the pairs.", "The remainders modulo $4$ of all squares are small, modulo $4$.")
    assert found["coreIdea"].startswith("Use modular arithmetic to show that")


@pytest.mark.parametrize("solution", ["$3+4=7$.", "$\\boxed{12}$", "The answer is $5$.", "", "36 - 26 = 10"])
def test_one_step_computations_have_no_core_idea(solution: str) -> None:
    found = summarise("Compute.", solution)
    assert found["noCoreIdea"] is True
    assert found["coreIdea"] is None


_TEXT = """We factor Therefore, since the number is 45-54 a$+$b $x^2 = 3$ \\[ y < 2 \\] by symmetry , . modulo $5$
3 + 4 we get circle Use \\textbf{this} [asy] draw(A--B); [/asy] _ {} remainder { } \\frac \\boxed{1} (see"""
_PIECES = [*_TEXT.split(), "\t", "\x0c", "\x08"]


@given(st.lists(st.sampled_from(_PIECES), max_size=40), st.text(max_size=80))
@settings(max_examples=120, deadline=None)
def test_every_summary_passes_the_check_of_models_summaries(pieces: list[str], noise: str) -> None:
    for solution in (" ".join(pieces), noise, " ".join(pieces) + noise):
        found = summarise("A statement.", solution)
        read_summary(json.dumps(found))
