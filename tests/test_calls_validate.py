"""Strict reading of replies: each way of being wrong has its own name, and clean LaTeX passes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.calls.validate import (
    InvalidReply,
    check,
    parse_choice,
    parse_structured,
    strict_json,
    strip_reasoning,
    structured,
)
from annotate.providers.base import Reply, Request

SCHEMA = {
    "title": "scores",
    "type": "object",
    "properties": {
        "idea": {"type": "string", "minLength": 1, "maxLength": 40},
        "scores": {
            "type": "array",
            "minItems": 1,
            "maxItems": 3,
            "items": {"type": "number", "minimum": 0, "maximum": 100},
        },
        "rank": {"type": ["integer", "null"]},
        "sure": {"enum": ["yes", "no", 1]},
    },
    "required": ["idea", "scores"],
    "additionalProperties": False,
}


def kind_of(text: str, schema=SCHEMA) -> str | None:
    request = Request("p", "v", (), schema=schema)
    return structured(request, Reply(text, "stop", None, None, None, None, 0.0))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (r'{"idea": "use \\frac{1}{2}\n\tthen sum", "scores": [0, 100]}', None),
        (r'{"idea": "β", "scores": [5], "rank": 3.0, "sure": 1}', None),
        (r'{"idea": "x", "scores": [5], "rank": null}', None),
        ('<think>{"idea"</think>\n```json\n{"idea": "x", "scores": [5]}\n```', None),
        ('```\n{"idea": "x", "scores": [5]}\n```', None),
        ('{"idea": "x", "scores": [5]', "invalid_json"),
        ('Sure! {"idea": "x", "scores": [5]}', "invalid_json"),
        ('{"idea": "x", "scores": [5]} {"idea": "y", "scores": [5]}', "invalid_json"),
        ('{"idea": "\\alpha", "scores": [5]}', "invalid_json"),
        ('{"idea": "a\nb", "scores": [5]}', "invalid_json"),
        ("[" * 100_000, "invalid_json"),
        ('{"idea": "x", "scores": [' + "9" * 5000 + "]}", "invalid_json"),
        ("", "empty_reply"),
        (" \n", "empty_reply"),
        ("<think>never ends", "empty_reply"),
        ('{"idea": "x", "scores": [NaN]}', "not_finite"),
        ('{"idea": "x", "scores": [-Infinity]}', "not_finite"),
        ('{"idea": "x", "scores": [1e999]}', "not_finite"),
        ('{"idea": "x", "scores": [101]}', "out_of_range"),
        ('{"idea": "x", "scores": [-0.001]}', "out_of_range"),
        ('{"idea": "x", "scores": []}', "wrong_length"),
        ('{"idea": "x", "scores": [1, 2, 3, 4]}', "wrong_length"),
        ('{"idea": "", "scores": [1]}', "wrong_length"),
        ('{"idea": "x"}', "wrong_keys"),
        ('{"idea": "x", "scores": [1], "extra": 1}', "wrong_keys"),
        ('{"idea": "x", "idea": "y", "scores": [1]}', "wrong_keys"),
        ('{"idea": "x", "scores": ["1"]}', "wrong_keys"),
        ('{"idea": "x", "scores": [true]}', "wrong_keys"),
        ('{"idea": "x", "scores": [1], "rank": 1.5}', "wrong_keys"),
        ('{"idea": "x", "scores": [1], "rank": 1' + "0" * 400 + "}", None),
        ('["idea"]', "wrong_keys"),
        ('{"idea": "x", "scores": [1], "sure": true}', "wrong_choice"),
        (r'{"idea": "\frac12", "scores": [1]}', "control_characters"),
        (r'{"idea": "\beta", "scores": [1]}', "control_characters"),
        (r'{"idea": "2\times 3", "scores": [1]}', "control_characters"),
        (r'{"idea": "a\neq b", "scores": [1]}', "control_characters"),
        (r'{"idea": "\rho", "scores": [1]}', "control_characters"),
        (r'{"idea": "\u0000", "scores": [1]}', "control_characters"),
        (r'{"idea": "\ud835", "scores": [1]}', "control_characters"),
    ],
)
def test_each_way_of_being_wrong_has_its_name(text, kind):
    assert kind_of(text) == kind


EATEN = "frac beta bar binom begin boxed times theta text tan to tau tilde triangle neq nabla notin rho right"


@pytest.mark.parametrize("command", EATEN.split(" "))
def test_every_latex_command_that_json_eats_is_noticed(command):
    eaten = json.loads(f'"\\{command}(x)"')
    with pytest.raises(InvalidReply, match="control_characters"):
        strict_json(json.dumps({"a": [eaten]}))
    with pytest.raises(InvalidReply, match="control_characters"):
        strict_json(json.dumps({eaten: 1}))
    assert strict_json(json.dumps([f"\\{command}(x)"])) == [f"\\{command}(x)"]


@pytest.mark.parametrize("text", ["steps:\n\tone\n\ttwo", "line\r\nline", "let\nu = 3", "a\tb", "end\n"])
def test_white_space_of_prose_is_no_eaten_command(text):
    assert strict_json(json.dumps(text)) == text


def test_text_without_a_form_needs_only_be_clean():
    assert kind_of("Thus \\boxed{1}", schema=None) is None
    assert kind_of("Thus \x0crac", schema=None) == "control_characters"
    assert kind_of("\n ", schema=None) == "empty_reply"


def test_choices_are_exact():
    request = Request("p", "v", (), choices=("first", "second"))

    def kind(text: str | None) -> str | None:
        return structured(request, Reply(text, "stop", None, None, None, None, 0.0))

    assert kind(" first\n") is None
    assert kind("<think>second?</think>first") is None
    assert kind("first.") == "wrong_choice"
    assert kind("First") == "wrong_choice"
    assert kind(None) == "empty_reply"
    assert parse_choice("second", ("first", "second")) == "second"


def test_reasoning_is_taken_off_up_to_the_last_end():
    assert strip_reasoning("a</think>b</think> c") == " c"
    assert strip_reasoning("<thinking>a</thinking>b") == "b"
    assert strip_reasoning("b <think> stays inside prose") == "b <think> stays inside prose"


def test_a_schema_that_cannot_be_checked_whole_is_refused():
    with pytest.raises(ValueError, match="patternProperties"):
        check({}, {"patternProperties": {}})


def test_nested_schemas_are_checked_to_the_bottom():
    schema = {"additionalProperties": {"type": "integer"}}
    check({"a": 1}, schema)
    with pytest.raises(InvalidReply, match=r"reply\.b"):
        check({"a": 1, "b": "x"}, schema)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=("Cc",))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None)
@given(value=JSON)
def test_clean_json_is_read_as_the_standard_library_reads_it(value):
    assert strict_json(json.dumps(value)) == value


@settings(max_examples=50, deadline=None)
@given(value=JSON, data=st.data())
def test_half_a_json_object_never_passes(value, data):
    whole = json.dumps({"idea": "x", "scores": [1], "more": value})
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    with pytest.raises(InvalidReply, match="invalid_json"):
        parse_structured(cut, {})
