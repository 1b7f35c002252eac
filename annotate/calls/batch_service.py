"""Handing batch files to the service and landing what comes back."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

import openai

from annotate.calls import record
from annotate.calls.batch import COLLECTED, SUBMITTED, SUBMITTING, WRITTEN, Asked, Batch, Part, batches
from annotate.calls.progress import say
from annotate.calls.served import ServedModels
from annotate.calls.store import CallStore
from annotate.calls.validate import Validator, structured
from annotate.providers.base import Reply, failed
from annotate.providers.chat import MODE, read_completion, read_status
from annotate.providers.failures import SERVED_MODEL_CHANGED
from annotate.providers.server import ServerProvider
from annotate.providers.token_estimate import estimate_tokens
from warehouse.errors import SaberError
from warehouse.landing import Landing

_PART_KEY = "saber_part"
_ENDED = ("completed", "failed", "expired", "cancelled")
_LATENCY_UNKNOWN = math.nan


@dataclass
class Collected:
    """What collecting landed.

    Attributes
    ----------
    good
        Calls with a usable reply.
    failures
        Failed attempts by kind.
    waiting
        Calls in files that the service has not finished.
    unknown
        Lines of the service that no request of the file stands for; they are left out.
    """

    good: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    unknown: int = 0


async def submit_batches(landing: Landing, provider: ServerProvider) -> list[Part]:
    """Upload the files not yet submitted and start them; return those started now.

    A kill between starting a file and noting it is made good: the next call asks the service for a batch that
    bears the file's name before it starts another.

    Raises
    ------
    SaberError
        When the service refuses.
    """
    started = []
    for batch in batches(landing, provider):
        for part in batch.parts:
            if part.state in (WRITTEN, SUBMITTING):
                await _submit(batch, part, provider)
                started.append(part)
    return started


async def collect_batches(
    landing: Landing, provider: ServerProvider, job_id: str, validate: Validator = structured
) -> Collected:
    """Land the replies of every finished file; files still running are counted and left.

    Raises
    ------
    SaberError
        When the service cannot be asked, or the replies come from more than one model (all of them land first).
    """
    found = Collected()
    store = CallStore(landing, job_id, provider.policy, say)
    await store.open()
    try:
        await store.enter(provider.endpoint, provider.model, "batch")
        for batch in batches(landing, provider):
            served = ServedModels(provider.policy.on_model_change)
            for part in batch.parts:
                if part.state == SUBMITTED:
                    await _collect(batch, part, provider, store, served, validate, found)
            if found.failures[SERVED_MODEL_CHANGED]:
                raise SaberError(served.sentence(provider.endpoint, f"of {batch.name}"))
    finally:
        await store.close()
    return found


async def _submit(batch: Batch, part: Part, provider: ServerProvider) -> None:
    client, key = provider.client(), f"{batch.name}/{part.name}"
    try:
        if part.state == SUBMITTING:
            async for known in await client.batches.list(limit=100):
                if (known.metadata or {}).get(_PART_KEY) == key:
                    part.batch, part.state = known.id, SUBMITTED
                    batch.save()
                    return
        uploaded = await client.files.create(file=batch.folder / f"{part.name}.jsonl", purpose="batch")
        part.input_file, part.state = uploaded.id, SUBMITTING
        batch.save()
        started = await client.batches.create(
            input_file_id=uploaded.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={_PART_KEY: key},
        )
    except openai.OpenAIError as error:
        raise _refused(provider, f"the batch file {key}", error) from None
    part.batch, part.status, part.state = started.id, started.status, SUBMITTED
    batch.save()


async def _collect(
    batch: Batch,
    part: Part,
    provider: ServerProvider,
    store: CallStore,
    served: ServedModels,
    validate: Validator,
    found: Collected,
) -> None:
    client = provider.client()
    try:
        state = await client.batches.retrieve(part.batch)
        if state.status not in _ENDED:
            found.waiting += part.requests
            return
        left = {asked.custom_id: asked for asked in batch.requests(part)}
        for file_id in (state.output_file_id, state.error_file_id):
            async for line in _lines(client, file_id):
                asked = left.pop(str(line.get("custom_id")), None)
                if asked is None:
                    found.unknown += 1
                else:
                    _land(asked, _reply(asked, line), batch, provider, store, served, validate, found)
                await asyncio.sleep(0)  # a compaction may be due
    except openai.OpenAIError as error:
        raise _refused(provider, f"the batch {part.batch}", error) from None
    # The service said nothing about these: the file failed its checks, expired or was cancelled.
    why = json.dumps(state.errors.model_dump(), default=str) if state.errors else None
    for asked in left.values():
        reply = failed(f"batch_{state.status}", _LATENCY_UNKNOWN, why)
        _land(asked, reply, batch, provider, store, served, validate, found)
    await store.sync()
    part.status, part.state = state.status, COLLECTED
    batch.save()


def _land(
    asked: Asked,
    reply: Reply,
    batch: Batch,
    provider: ServerProvider,
    store: CallStore,
    served: ServedModels,
    validate: Validator,
    found: Collected,
) -> None:
    recorded: dict[str, Any] = {"batch": batch.name, **provider.profile.prices}
    if asked.request.schema is not None or asked.request.choices is not None:
        recorded[MODE] = asked.mode
    reply = provider.cleaned(replace(reply, recorded=recorded))
    reply = replace(reply, error=served.check(reply) or reply.error or validate(asked.request, reply))
    if reply.error is None:
        found.good += 1
    else:
        found.failures[reply.error] += 1
    if not store.holds(asked.call_id, asked.attempt):  # collected before, by a run that was killed
        payload = record.encode(
            asked.call_id, asked.attempt, provider.endpoint, provider.model, asked.params, asked.request, reply
        )
        store.record(asked.call_id, asked.attempt, reply.error, payload)


async def _lines(client: openai.AsyncOpenAI, file_id: str | None) -> AsyncIterator[dict[str, Any]]:
    """Yield the lines of a result file as it streams in; what is no JSON object yields an empty one."""
    if not file_id:
        return
    async with client.files.with_streaming_response.content(file_id) as response:
        rest = b""
        async for piece in response.iter_bytes():
            # Split at line feeds alone: replies may hold other separators of lines.
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                if line.strip():
                    yield _object(line)
        if rest.strip():
            yield _object(rest)


def _object(line: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(line)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _reply(asked: Asked, line: dict[str, Any]) -> Reply:
    response, error = line.get("response"), line.get("error")
    if isinstance(response, dict):
        body, status = json.dumps(response.get("body")), response.get("status_code")
        if status == 200:
            return read_completion(body, estimate_tokens(asked.request.messages), _LATENCY_UNKNOWN)
        return read_status(int(status or 500), body, {}, _LATENCY_UNKNOWN)
    code = error.get("code") if isinstance(error, dict) else None
    kind = code if isinstance(code, str) and code.startswith("batch_") else "batch_failed"
    return failed(kind, _LATENCY_UNKNOWN, json.dumps(error))


def _refused(provider: ServerProvider, what: str, error: openai.OpenAIError) -> SaberError:
    said = " ".join(provider.redacted(str(error)).split())[:300]
    return SaberError(f"{provider.endpoint} did not take or return {what}: {said}. Run the same command again.")
