"""How strictly a summary is read: form and rules."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.calls.validate import InvalidReply
from annotate.summaries.reading import SCHEMA, RuleBroken, Summary, read_form, read_summary

GOOD: dict[str, Any] = {
    "noCoreIdea": False,
    "coreIdea": "Count the pairs in two ways and compare.",
    "supportingIdeas": ["double counting"],
    "keywords": ["pairs", "bijection"],
    "confidence": 0.8,
}


def text(**changes: Any) -> str:
    return json.dumps({**GOOD, **changes})


def test_a_good_reply() -> None:
    assert read_summary(text()) == Summary(
        "Count the pairs in two ways and compare.", ("double counting",), ("pairs", "bijection"), False, 0.8
    )


def test_no_core_idea() -> None:
    found = read_summary(text(noCoreIdea=True, coreIdea=None, supportingIdeas=[], keywords=[]))
    assert (found.core_idea, found.no_core_idea) == (None, True)
    assert read_summary(text(noCoreIdea=True, coreIdea="  ")).core_idea is None


def test_fences_and_words_around_the_one_object() -> None:
    assert read_summary(f"```json\n{text()}\n```") == read_summary(text())
    assert read_summary(f"Here it is: {text()}") == read_summary(text())


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("", "invalid_json"),
        ("I cannot do that.", "invalid_json"),
        (text()[:-10], "invalid_json"),
        (text() + text(), "invalid_json"),
        (f"[{text()}] {{}}", "invalid_json"),
        (text(extra=1), "wrong_keys"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "keywords"}), "wrong_keys"),
        (json.dumps({"NoCoreIdea": False, **{k: v for k, v in GOOD.items() if k != "noCoreIdea"}}), "wrong_keys"),
        (text(noCoreIdea="false"), "wrong_keys"),
        (text(coreIdea=["a"]), "wrong_keys"),
        (text(keywords="pairs"), "wrong_keys"),
        (text(keywords=[1]), "wrong_keys"),
        (text(confidence="0.8"), "wrong_keys"),
        (text(confidence=True), "wrong_keys"),
        (text(confidence=1.2), "out_of_range"),
        (text(confidence=float("nan")), "not_finite"),
        (text(supportingIdeas=["a", "b", "c", "d"]), "wrong_length"),
        # A single backslash in JSON: \f of \frac is a form feed, \t of \theta a tab, \b of \binom a backspace.
        (text().replace("pairs in", "\\\\frac in").replace("\\\\", "\\"), "control_characters"),
        (text().replace("pairs in", "\\theta in"), "control_characters"),
        (text(keywords=["\\binom"]).replace("\\\\", "\\"), "control_characters"),
        (text(coreIdea="Count\x00 pairs."), "control_characters"),
    ],
)
def test_wrong_form_has_a_name(reply: str, kind: str) -> None:
    with pytest.raises(InvalidReply) as caught:
        read_form(reply)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"coreIdea": "word " * 31}, "too_long"),
        ({"coreIdea": None}, "empty_core_idea"),
        ({"coreIdea": "   "}, "empty_core_idea"),
        ({"noCoreIdea": True}, "flag_with_idea"),
        ({"coreIdea": "Set x = 3."}, "equations"),
        ({"coreIdea": "Use $n$ twice."}, "equations"),
        ({"coreIdea": "Rewrite \\frac in lowest terms."}, "equations"),
        ({"coreIdea": "Add 3 + 4 first."}, "equations"),
        ({"coreIdea": "Bound x < 5."}, "equations"),
        ({"coreIdea": "Square x^2."}, "equations"),
        ({"coreIdea": "Compare a_n with its successor."}, "equations"),
        ({"coreIdea": "Factor x*y out."}, "equations"),
    ],
)
def test_a_broken_rule_has_a_name(changes: dict[str, Any], kind: str) -> None:
    read_form(text(**changes))
    with pytest.raises(RuleBroken) as caught:
        read_summary(text(**changes))
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "idea",
    [
        " ".join(["word"] * 30),
        "Use the 30-60-90 triangle.",
        "Apply AM-GM to the two terms.",
        "Use trial-and-error on one-digit numbers.",
        "Reduce modulo 7.",
        "Work with f(x) and its inverse.",
        "Prove both directions: if and only if.",
    ],
)
def test_plain_words_are_no_equation(idea: str) -> None:
    assert read_summary(text(coreIdea=idea)).core_idea == idea


def test_the_schema_and_the_reader_agree_on_the_keys() -> None:
    assert set(SCHEMA["properties"]) == set(SCHEMA["required"]) == set(GOOD)


values = st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.lists(st.text(max_size=4), max_size=4)


@given(st.dictionaries(st.sampled_from([*GOOD, "other"]), values), st.text(max_size=20))
@settings(max_examples=150)
def test_a_summary_or_a_named_failure(found: dict[str, Any], around: str) -> None:
    for reply in (json.dumps(found), around + json.dumps({**GOOD, **found})):
        try:
            summary = read_summary(reply)
        except (InvalidReply, RuleBroken):
            continue
        assert summary.no_core_idea == (summary.core_idea is None)
        assert 0 <= summary.confidence <= 1
