"""Requests, replies and the interface every provider of model replies implements."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Request:
    """One call to a model.

    ``payload`` holds structured facts for the offline provider only: it is never sent to a server and is
    no part of the call's identity. ``sample`` numbers independent votes on the same messages.
    """

    purpose: str
    prompt_version: str
    messages: tuple[Mapping[str, str], ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    choices: tuple[str, ...] | None = None
    sample: int = 0
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """What came back. ``error`` names the kind of failure; ``None`` means that a reply came."""

    text: str | None
    finish_reason: str | None
    served_model: str | None
    fingerprint: str | None
    tokens_in: int | None
    tokens_out: int | None
    latency_s: float
    error: str | None = None


class Provider(Protocol):
    """A source of replies: ``offline``, ``server`` or ``vllm-batch``."""

    name: str
    model: str
    endpoint: str

    async def complete(self, request: Request) -> Reply:
        """Answer one request; a failure is a ``Reply`` with ``error`` set, never an exception."""
        ...

    def complete_many(self, requests: Sequence[Request]) -> AsyncIterator[tuple[int, Reply]]:
        """Answer many requests, yielding (index, reply) in the order of completion."""
        ...
