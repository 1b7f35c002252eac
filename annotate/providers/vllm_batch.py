"""The in-process engine of vLLM: requests gather while a batch runs and form the next one.

Needs the optional extra ``vllm``. The engine lives in one thread of its own, so the event loop stays free to
journal replies; it is loaded when the first request comes.
"""

from __future__ import annotations

import asyncio
import importlib
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from annotate.calls.identity import canonical_json
from annotate.providers.base import Reply, Request, failed
from annotate.providers.chat import MODE, STRUCTURED_OUTPUTS
from annotate.providers.failures import CONTEXT_EXCEEDED
from annotate.providers.many import complete_many
from annotate.providers.profile import Profile
from annotate.providers.token_estimate import estimate_tokens, looks_truncated
from warehouse.errors import SaberError

_NOT_SAMPLING = {MODE, "reasoning_effort", "chat_template_kwargs"}
_TOO_LONG = ("maximum model length", "max_model_len", "maximum context length", "longer than the max")


class VllmBatchProvider:
    """Asks a model loaded into this process.

    Parameters
    ----------
    profile
        Model (name or folder), default parameters and ``engine``, the arguments of ``vllm.LLM``.
    """

    name = "vllm-batch"

    def __init__(self, profile: Profile) -> None:
        if not profile.model:
            raise SaberError(f"The provider {profile.name!r} has no model. Give --model or model in its profile.")
        self.profile = profile
        self.model = profile.model
        self.endpoint = profile.endpoint
        self.defaults = profile.params
        self.policy = profile.policy
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="vllm")
        self._vllm: Any = None
        self._engine: Any = None
        self._waiting: list[tuple[Request, asyncio.Future[Reply]]] = []
        self._running: asyncio.Task[None] | None = None

    async def complete(self, request: Request) -> Reply:
        """Answer one request in the next batch."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Reply] = loop.create_future()
        self._waiting.append((request, future))
        if self._running is None or self._running.done():
            self._running = loop.create_task(self._run_batches())
        return await future

    def complete_many(self, requests: Sequence[Request]) -> AsyncIterator[tuple[int, Reply]]:
        """Answer many requests, in batches of at most the profile's concurrency."""
        return complete_many(self.complete, requests, self.policy.concurrency)

    async def prepare(self, request: Request, ask: Any) -> None:
        """Load the engine.

        Raises
        ------
        SaberError
            When vLLM is not installed or cannot load the model.
        """
        if self._engine is None:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._load)

    async def close(self) -> None:
        """Free the engine."""
        self._engine = None
        self._thread.shutdown(wait=False)

    async def _run_batches(self) -> None:
        await asyncio.sleep(0)  # the requests of one burst make one batch
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting, []
            requests = [request for request, _ in batch]
            try:
                replies = await loop.run_in_executor(self._thread, self._answer, requests)
            except Exception as error:
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), reply in zip(batch, replies, strict=True):
                if not future.done():
                    future.set_result(reply)

    def _load(self) -> None:
        if self._engine is not None:
            return
        try:
            self._vllm = importlib.import_module("vllm")
        except ImportError as error:
            raise SaberError(
                f"The provider vllm-batch needs vLLM ({error}). Install it with: pip install 'saber-warehouse[vllm]'"
            ) from error
        try:
            self._engine = self._vllm.LLM(model=self.model, **self.profile.engine)
        except Exception as error:
            said = " ".join(str(error).split())[:300]
            raise SaberError(
                f"vLLM cannot load the model {self.model!r}: {said}. Correct model or engine in the profile."
            ) from error

    def _answer(self, requests: Sequence[Request]) -> list[Reply]:
        """Answer a batch; requests under different chat templates run one after the other."""
        self._load()
        groups: dict[str, list[int]] = defaultdict(list)
        for number, request in enumerate(requests):
            groups[canonical_json(_template_arguments(request))].append(number)
        replies: dict[int, Reply] = {}
        for numbers in groups.values():
            found = self._generate([requests[number] for number in numbers])
            replies.update(zip(numbers, found, strict=True))
        return [replies[number] for number in range(len(requests))]

    def _generate(self, requests: Sequence[Request]) -> list[Reply]:
        begun = time.perf_counter()
        try:
            outputs = self._engine.chat(
                [[dict(message) for message in request.messages] for request in requests],
                sampling_params=[self._sampling(request) for request in requests],
                chat_template_kwargs=_template_arguments(requests[0]) or None,
                use_tqdm=False,
            )
        except Exception as error:
            if len(requests) > 1:
                # One bad request must not take the batch with it: find it by asking one at a time.
                return [self._generate([request])[0] for request in requests]
            said = f"{type(error).__name__}: {error}"
            too_long = any(words in said for words in _TOO_LONG)
            return [failed(CONTEXT_EXCEEDED if too_long else "invalid_request", time.perf_counter() - begun, said)]
        took = time.perf_counter() - begun
        return [self._reply(request, out, took) for request, out in zip(requests, outputs, strict=True)]

    def _sampling(self, request: Request) -> Any:
        params = {name: value for name, value in request.params.items() if name not in _NOT_SAMPLING}
        form: dict[str, Any] = {}
        if request.schema is not None:
            form = {"json": dict(request.schema)}
        elif request.choices is not None:
            form = {"choice": list(request.choices)}
        if form:
            structured = importlib.import_module("vllm.sampling_params").StructuredOutputsParams
            params["structured_outputs"] = structured(**form)
        return self._vllm.SamplingParams(**params)

    def _reply(self, request: Request, output: Any, took: float) -> Reply:
        first = output.outputs[0] if output.outputs else None
        if first is None:
            return failed("empty_choices", took)
        tokens_in = len(output.prompt_token_ids or ())
        version = getattr(self._vllm, "__version__", None)
        reply = Reply(
            text=first.text,
            finish_reason=first.finish_reason,
            served_model=self.model,
            fingerprint=f"vllm-{version}" if version else None,
            tokens_in=tokens_in,
            tokens_out=len(first.token_ids),
            latency_s=took,
            recorded={MODE: STRUCTURED_OUTPUTS} if request.schema is not None or request.choices else {},
        )
        if looks_truncated(estimate_tokens(request.messages), tokens_in):
            return replace(reply, error="server_truncated")
        if first.finish_reason == "length":
            return replace(reply, error="length")
        if first.finish_reason != "stop":
            return replace(reply, error="dropped")  # aborted by the engine
        return reply if first.text else replace(reply, error="empty_reply")


def _template_arguments(request: Request) -> Mapping[str, Any]:
    """Return what goes to the chat template rather than to the sampler."""
    given = dict(request.params.get("chat_template_kwargs") or {})
    effort = request.params.get("reasoning_effort")
    return {**given, "reasoning_effort": effort} if effort is not None else given
