"""Requests, replies and the interface every provider of model replies implements."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Request:
    """One call to a model.

    Attributes
    ----------
    purpose
        Which job asks: ``topics``, ``summary``, ``judge``, ...
    prompt_version
        ``name@hash`` of the prompt file.
    messages
        Chat messages, each with ``role`` and ``content``.
    params
        Sampling parameters under their OpenAI names (``temperature``, ``max_tokens``, ``reasoning_effort``,
        ``seed``, ...), laid over the defaults of the provider's profile; ``None`` removes a default.
    schema
        JSON schema of the reply, for structured output.
    choices
        The only texts allowed as a reply, for structured output.
    sample
        Number of an independent vote on the same messages: another call.
    payload
        Structured facts for the offline provider only: never sent, never landed, no part of the call's
        identity.
    about
        A few small facts that say what the call is about (ids): they land in the log with the request for
        people to read; never sent, no part of the call's identity.
    """

    purpose: str
    prompt_version: str
    messages: tuple[Mapping[str, str], ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    choices: tuple[str, ...] | None = None
    sample: int = 0
    payload: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """What came back. ``error`` names the kind of failure; ``None`` means that a usable reply came.

    Attributes
    ----------
    text
        The model's words, also those of a failed reply (cut off, of wrong form). Look at ``error`` first.
    latency_s
        Seconds from sending to the reply; NaN where nobody knows (batches).
    detail
        What a server or connection said about a failure, free of secrets.
    retry_after_s
        Seconds after which the server wants to be asked again, when it said so.
    recorded
        What the provider did that the request does not say (URL that answered, kind of structured output):
        lands beside the parameters.
    """

    text: str | None
    finish_reason: str | None
    served_model: str | None
    fingerprint: str | None
    tokens_in: int | None
    tokens_out: int | None
    latency_s: float
    error: str | None = None
    detail: str | None = None
    retry_after_s: float | None = None
    recorded: Mapping[str, Any] = field(default_factory=dict)


def failed(
    error: str, latency_s: float = 0.0, detail: str | None = None, retry_after_s: float | None = None
) -> Reply:
    """Return the reply that stands for a call without an answer."""
    return Reply(None, None, None, None, None, None, latency_s, error, detail, retry_after_s)


Ask = Callable[[Request], Awaitable[Reply]]


class Provider(Protocol):
    """A source of replies: ``offline``, ``server`` or ``vllm-batch``.

    A provider may also have ``defaults`` (parameters laid under those of every request), ``policy`` (how
    many calls at once, limits, retries: :class:`annotate.calls.policy.Policy`), ``prepare(request, ask)``
    (awaited before a request is sent; what it asks by ``ask`` lands in the log too) and ``close()``.
    """

    name: str
    model: str
    endpoint: str

    async def complete(self, request: Request) -> Reply:
        """Answer one request; a failure is a ``Reply`` with ``error`` set, never an exception."""
        ...

    def complete_many(self, requests: Sequence[Request]) -> AsyncIterator[tuple[int, Reply]]:
        """Answer many requests, yielding (index, reply) in the order of completion."""
        ...
