"""The in-process engine, with a stand-in for the module ``vllm`` (the engine itself: marker ``realmodel``)."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from types import ModuleType, SimpleNamespace

import pytest

from annotate.calls import CallLog
from annotate.providers import make_provider
from annotate.providers.base import Request
from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.settings import Settings

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}


class Engine:
    """Answers each prompt with what follows a colon in it; notes how it was asked."""

    made: list[dict]
    batches: list[list[str]]

    def __init__(self, model: str, **options):
        if model == "missing":
            raise OSError("no such\nfolder")
        Engine.made.append({"model": model, **options})
        self.thread = threading.get_ident()

    def chat(self, messages, sampling_params, chat_template_kwargs, use_tqdm):
        assert threading.get_ident() == self.thread
        prompts = [conversation[-1]["content"] for conversation in messages]
        Engine.batches.append(prompts)
        Engine.asked += [
            (prompt, params, chat_template_kwargs) for prompt, params in zip(prompts, sampling_params, strict=True)
        ]
        if any(prompt.startswith("long") for prompt in prompts):
            raise ValueError("The decoder prompt is longer than the maximum model length of 4096")
        return [self.output(prompt) for prompt in prompts]

    @staticmethod
    def output(prompt: str):
        kind, _, text = prompt.partition(":")
        finish = {"cut": "length", "gone": "abort"}.get(kind, "stop")
        outputs = [] if kind == "none" else [SimpleNamespace(text=text, finish_reason=finish, token_ids=[1, 2])]
        return SimpleNamespace(prompt_token_ids=[1, 2, 3], outputs=outputs)


@pytest.fixture
def vllm(monkeypatch):
    Engine.made, Engine.batches, Engine.asked = [], [], []
    module = ModuleType("vllm")
    module.LLM, module.SamplingParams, module.__version__ = Engine, lambda **given: given, "0.32.0"
    inner = ModuleType("vllm.sampling_params")
    inner.StructuredOutputsParams = lambda **given: given
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", inner)
    return Engine


def provider(tmp_path, model="folder", **table):
    table = {"kind": "vllm-batch", "backoff_s": 0.001, "engine": {"dtype": "bfloat16"}, **table}
    return make_provider(Settings(home=tmp_path, providers={"local": table}), "local", model)


def ask(text: str, **changes) -> Request:
    return Request("judge", "judge@1", ({"role": "user", "content": text},), **changes)


def run(landing, asked, requests):
    async def job():
        log = CallLog(landing, asked, "job")
        found = {position: reply async for position, _, reply in log.run(requests)}
        await asked.close()
        return found, log.counts

    return asyncio.run(job())


def test_requests_run_as_one_batch_with_their_own_parameters(tmp_path, vllm):
    requests = [
        ask("a:x", params={"temperature": 0, "seed": 3}),
        ask('b:{"score": 7}', schema=SCHEMA),
        ask("c:2", choices=("1", "2"), params={"max_tokens": 4}),
    ]
    found, counts = run(Landing(tmp_path), provider(tmp_path), requests)
    assert vllm.made == [{"model": "folder", "dtype": "bfloat16"}]
    assert sorted(vllm.batches[0]) == sorted(request.messages[0]["content"] for request in requests)
    assert [found[at].text for at in range(3)] == ["x", '{"score": 7}', "2"]
    asked = {prompt[0]: params for prompt, params, _ in vllm.asked}
    assert asked["a"] == {"max_tokens": 50_000, "temperature": 0, "seed": 3}
    assert asked["b"] == {"max_tokens": 50_000, "structured_outputs": {"json": SCHEMA}}
    assert asked["c"] == {"max_tokens": 4, "structured_outputs": {"choice": ["1", "2"]}}
    assert counts.exit_code == 0
    landed = {
        json.loads(row["request"])["messages"][0]["content"]: row
        for row in Landing(tmp_path).read("llm_calls").to_pylist()
    }
    assert {(row["endpoint"], row["model"], row["fingerprint"]) for row in landed.values()} == {
        ("profile:local", "folder", "vllm-0.32.0")
    }
    assert (landed["a:x"]["tokens_in"], landed["a:x"]["tokens_out"]) == (3, 2)
    assert json.loads(landed["c:2"]["params"])["structured_output"] == "structured_outputs"


def test_every_failure_has_its_kind_and_one_bad_request_does_not_take_the_batch_with_it(tmp_path, vllm):
    kinds = {
        "cut:x": "length",
        "gone:x": "dropped",
        "none:": "empty_choices",
        "a:": "empty_reply",
        "long": "context_exceeded",
        "b:y": None,
    }
    asked = provider(tmp_path, attempts=1, service_attempts=1)
    found, counts = run(Landing(tmp_path), asked, [ask(prompt) for prompt in kinds])
    assert [found[at].error for at in range(len(kinds))] == list(kinds.values())
    assert (counts.good, counts.failed) == (1, 5)


def test_a_prompt_the_engine_cut_is_noticed(tmp_path, vllm):
    found, _ = run(Landing(tmp_path), provider(tmp_path, attempts=1), [ask("a:" + "x" * 5000)])
    assert found[0].error == "server_truncated"


def test_template_arguments_make_batches_of_their_own(tmp_path, vllm):
    requests = [
        ask("a:x", params={"reasoning_effort": "low"}),
        ask("b:x"),
        ask("c:x", params={"reasoning_effort": "low"}),
    ]
    run(Landing(tmp_path), provider(tmp_path), requests)
    assert {prompt: given for prompt, _, given in vllm.asked} == {
        "a:x": {"reasoning_effort": "low"},
        "b:x": None,
        "c:x": {"reasoning_effort": "low"},
    }
    assert all("reasoning_effort" not in params for _, params, _ in vllm.asked)


def test_without_the_extra_one_clear_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(SaberError, match=r"needs vLLM .*pip install 'saber-warehouse\[vllm\]'"):
        run(Landing(tmp_path), provider(tmp_path), [ask("a:x")])


def test_a_model_that_cannot_be_loaded_is_named(tmp_path, vllm):
    with pytest.raises(SaberError, match="cannot load the model 'missing': no such folder"):
        run(Landing(tmp_path), provider(tmp_path, "missing"), [ask("a:x")])


def test_whole_batches_are_the_default(tmp_path, vllm):
    assert provider(tmp_path).policy.concurrency == 1024
    assert provider(tmp_path, concurrency=8).policy.concurrency == 8
