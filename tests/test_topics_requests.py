"""What is asked at a visited topic and how strictly the reply is read."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.calls.validate import InvalidReply
from annotate.prompts import load_prompt, parse_prompt, with_prompt_file
from annotate.topics.requests import PLACES, parse_scores, topic_request
from annotate.topics.tree import build_tree
from warehouse.errors import SaberError
from warehouse.ontologies import Edge, unfold
from warehouse.settings import Settings, load_settings

TREE = build_tree(
    unfold(
        [
            Edge(None, "M", "M"),
            Edge("M", "Algebra", "Algebra"),
            Edge("M", "Geometry", "Geometry"),
            Edge("Geometry", "Plane", "Plane"),
            Edge("Geometry", "Solid", "Solid"),
        ]
    )
)
GEOMETRY = TREE.topic_ids.index("Geometry")
PLANE, SOLID = (TREE.topic_ids.index(f"Geometry/{label}") for label in ("Plane", "Solid"))
HOSTILE = 'Let $f\\{x\\}$ = {{ solution }} {statement} "quoted"; drop table problems; <b>\\boxed{1}</b> {{area}}'


def problem(statement: str, solution: str = "Short.") -> dict[str, str]:
    return {"problem_id": "p/1", "content_hash": "h", "statement": statement, "solution": solution}


@pytest.fixture
def defaults() -> Settings:
    return load_settings()


class TestRequest:
    def test_candidates_are_numbered_from_the_visited_topic(self, defaults: Settings) -> None:
        request = topic_request(
            problem("s"), TREE, [GEOMETRY, PLANE, SOLID], GEOMETRY, load_prompt(defaults, "topics", PLACES)
        )
        text = request.messages[-1]["content"]
        assert "1. Geometry\n2. Plane\n3. Solid" in text
        assert "M > Geometry" in text
        assert request.schema is not None
        assert request.schema["required"] == ["1", "2", "3"]
        assert request.about == {"problem_id": "p/1", "visited_topic_id": "Geometry"}

    def test_texts_reach_the_model_as_they_are(self, defaults: Settings) -> None:
        prompt = load_prompt(defaults, "topics", PLACES)
        request = topic_request(problem(HOSTILE, HOSTILE), TREE, [1, GEOMETRY], 0, prompt)
        assert request.messages[-1]["content"].count(HOSTILE) == 2
        assert HOSTILE not in request.messages[0]["content"]

    def test_the_offline_request_names_the_question_and_holds_the_facts(self) -> None:
        one = topic_request(problem(HOSTILE), TREE, [GEOMETRY, PLANE, SOLID], GEOMETRY, None)
        other = topic_request(problem(HOSTILE), TREE, [GEOMETRY, PLANE], GEOMETRY, None)
        assert HOSTILE not in str(one.messages)
        assert one.messages != other.messages
        assert one.payload["candidates"] == (GEOMETRY, PLANE, SOLID)
        assert one.about["labels"] == ["Geometry", "Plane", "Solid"]


class TestPromptFile:
    def test_another_file_is_another_version(self, defaults: Settings, tmp_path) -> None:
        own = tmp_path / "mine.md"
        own.write_text("## user\n{{ statement }} {{ solution }} {{ area }} {{ candidates }}\n")
        changed = with_prompt_file(defaults, "topics", str(own))
        prompt = load_prompt(changed, "topics", PLACES)
        assert prompt.version.startswith("mine@")
        assert prompt.version != load_prompt(defaults, "topics", PLACES).version

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("{{ statement }}", "sections"),
            ("## user\n{{ statement }}", "solution"),
            ("## user\n{{ statement }} {{ solution }} {{ other }}", "other"),
            ("## user\n{{ statement }}\n## system\n{{ solution }}", "sections"),
        ],
    )
    def test_a_wrong_file_is_named(self, text: str, said: str) -> None:
        with pytest.raises(SaberError, match=said):
            parse_prompt(text, "v", ("statement", "solution"), "file.md")


class TestParse:
    def test_in_the_order_of_the_numbers(self) -> None:
        assert parse_scores('{"2": 1, "1": 0.25, "3": 0.0}', 3).tolist() == [0.25, 1.0, 0.0]

    @pytest.mark.parametrize(
        "text",
        [
            '```json\n{"1": 0.5, "2": 1}\n```',
            'Here are the scores: {"1": 0.5, "2": 1}. Done.',
            '<think>maybe {"1": 0, "2": 0}</think>{"1": 0.5, "2": 1}',
        ],
    )
    def test_words_around_the_one_object_are_tolerated(self, text: str) -> None:
        assert parse_scores(text, 2).tolist() == [0.5, 1.0]

    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            (None, "invalid_json"),
            ("", "invalid_json"),
            ("no object", "invalid_json"),
            ('{"1": 0.5, "2": ', "invalid_json"),
            ('{"1": 0.5} {"2": 1}', "invalid_json"),
            ('{"scores": {"1": 0.5, "2": 1}', "invalid_json"),  # broken outer object, whole inner one
            ('broken { and {"1": 0.5, "2": 1}', "invalid_json"),
            ('{"1": 0.5, "1": 0.6, "2": 1}', "invalid_json"),
            ('<think>{"1": 0.5, "2": 1}', "invalid_json"),
            ('{"1": 0.5}', "wrong_keys"),
            ('{"1": 0.5, "2": 1, "3": 0}', "wrong_keys"),
            ('{"01": 0.5, "2": 1}', "wrong_keys"),
            ('{"1": "0.5", "2": 1}', "wrong_keys"),
            ('{"1": true, "2": 1}', "wrong_keys"),
            ('{"1": null, "2": 1}', "wrong_keys"),
            ('{"1": [0.5], "2": 1}', "wrong_keys"),
            ('{"1": NaN, "2": 1}', "not_finite"),
            ('{"1": Infinity, "2": 1}', "not_finite"),
            ('{"1": 1e999, "2": 1}', "not_finite"),
            ('{"1": -0.01, "2": 1}', "out_of_range"),
            ('{"1": 1.01, "2": 1}', "out_of_range"),
            ('{"1": ' + "9" * 400 + ', "2": 1}', "out_of_range"),
            ("[" * 100_000, "invalid_json"),
            ('{"1": ' + "[" * 100_000, "invalid_json"),
        ],
    )
    def test_anything_else_is_a_named_failure(self, text: str | None, kind: str) -> None:
        with pytest.raises(InvalidReply) as caught:
            parse_scores(text, 2)
        assert caught.value.kind == kind

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
    @settings(max_examples=50)
    def test_round_trip(self, scores: list[float]) -> None:
        text = json.dumps({str(number): score for number, score in enumerate(scores, 1)})
        assert np.array_equal(parse_scores(text, len(scores)), np.array(scores))

    @given(st.text(max_size=60), st.text(alphabet='{}[]":,0123456789. eENaIn', max_size=40))
    @settings(max_examples=150)
    def test_never_anything_but_scores_or_a_failure(self, prose: str, jsonish: str) -> None:
        for text in (prose, jsonish, prose + jsonish):
            try:
                scores = parse_scores(text, 2)
            except InvalidReply:
                continue
            assert scores.shape == (2,)
            assert ((scores >= 0) & (scores <= 1)).all()
