"""The in-process engine with a real model: ``SABER_MODEL_DIR`` names a folder that vLLM loads."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
from pathlib import Path

import pytest

from annotate.calls import CallLog, parse_structured
from annotate.providers import make_provider
from annotate.providers.base import Reply, Request
from warehouse.landing import Landing
from warehouse.settings import Settings

FOLDER = os.environ.get("SABER_MODEL_DIR", "")
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number", "minimum": 0, "maximum": 1}},
    "required": ["score"],
    "additionalProperties": False,
}
CHOICES = (r"\boxed{1}", r"\boxed{2}")
ENGINE = {
    "dtype": "bfloat16",
    "enforce_eager": True,
    "max_model_len": 1024,
    # Small models like to go on with white space where the schema allows it.
    "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
}

pytestmark = [
    pytest.mark.realmodel,
    pytest.mark.skipif(not FOLDER, reason="SABER_MODEL_DIR names no model folder"),
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vLLM is not installed (the extra 'vllm')"),
]


def ask(text: str, **changes) -> Request:
    return Request("judge", "judge@1", ({"role": "user", "content": text},), **changes)


def test_one_batch_of_every_form(tmp_path: Path) -> None:
    table = {"kind": "vllm-batch", "max_tokens": 64, "temperature": 0.7, "seed": 1, "engine": ENGINE}
    provider = make_provider(Settings(home=tmp_path, providers={"real": table}), "real", FOLDER)
    requests = [
        ask("How near is a circle to an ellipse, from 0 to 1?", schema=SCHEMA),
        ask("Which candidate {{x}} is closer? <b>1</b> or '2'?", choices=CHOICES),
        ask("Say hello."),
        ask("long " * 2000),
    ]

    async def job() -> list[Reply]:
        log = CallLog(Landing(tmp_path), provider, "job")
        found = {position: reply async for position, _, reply in log.run(requests)}
        await provider.close()
        return [found[position] for position in range(len(requests))]

    score, choice, words, too_long = asyncio.run(job())
    assert 0.0 <= parse_structured(score.text or "", SCHEMA)["score"] <= 1.0
    assert choice.text in CHOICES
    assert words.error in (None, "length")
    assert words.text
    assert too_long.error == "context_exceeded"
    landed = Landing(tmp_path).read("llm_calls").to_pylist()
    assert {row["model"] for row in landed} == {FOLDER}
    # The seed of a second attempt differs; every attempt is a row.
    assert len({row["call_id"] for row in landed}) == len(requests)
    assert {row["served_model"] for row in landed if row["error"] != "context_exceeded"} == {FOLDER}
    modes = [json.loads(row["params"]).get("structured_output") for row in landed if row["error"] is None]
    assert modes.count("structured_outputs") == 2
