"""A third way to run a job: files of the OpenAI Batch API, written, submitted and collected.

``write`` puts the calls that are not in the log into files, ``submit`` hands them to the service, ``collect``
lands what came back, good or bad, as attempts like any others. The job then runs from the log. A batch lives in
``batches/`` of the home: the files, the requests they stand for, and a manifest that says how far each file is.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from annotate.calls.identity import call_id, canonical_json, effective_params
from annotate.calls.index import CallIndex
from annotate.calls.policy import Policy
from annotate.providers.base import Request
from annotate.providers.chat import JSON_SCHEMA_PLAIN, PROMPT, STRUCTURED_OUTPUTS, chat_body
from annotate.providers.server import ServerProvider
from warehouse.errors import SaberError
from warehouse.landing import Landing

WRITTEN, SUBMITTING, SUBMITTED, COLLECTED = "written", "submitting", "submitted", "collected"
_MOST_REQUESTS = 50_000
_MOST_BYTES = 190 << 20


@dataclass
class Part:
    """One file of a batch; `state` is written, submitting, submitted or collected."""

    name: str
    requests: int
    state: str = WRITTEN
    input_file: str = ""
    batch: str = ""
    status: str = ""


@dataclass
class Batch:
    """A batch and its manifest."""

    folder: Path
    endpoint: str
    model: str
    parts: list[Part] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The batch's name."""
        return self.folder.name

    def save(self) -> None:
        """Write the manifest, whole or not at all."""
        document = {"endpoint": self.endpoint, "model": self.model, "parts": [asdict(part) for part in self.parts]}
        following = self.folder / ".manifest.json"
        with following.open("w") as handle:
            json.dump(document, handle, indent=1)
            handle.flush()
            os.fsync(handle.fileno())
        following.rename(self.folder / "manifest.json")

    def requests(self, part: Part) -> Iterator[Asked]:
        """Yield the requests of a part."""
        with (self.folder / f"{part.name}.requests.jsonl").open() as lines:
            for line in lines:
                yield Asked.read(json.loads(line))


@dataclass(frozen=True)
class Asked:
    """One call in a batch: its identity, attempt, parameters in force and request."""

    call_id: str
    attempt: int
    params: dict[str, Any]
    mode: str
    request: Request

    @property
    def custom_id(self) -> str:
        """The name under which the service returns it."""
        return f"{self.call_id}-{self.attempt}"

    def line(self) -> str:
        """Return one line of JSON from which :meth:`read` makes the same call."""
        request = self.request
        document = {
            "call_id": self.call_id,
            "attempt": self.attempt,
            "params": self.params,
            "mode": self.mode,
            "purpose": request.purpose,
            "prompt_version": request.prompt_version,
            "messages": request.messages,
            "schema": request.schema,
            "choices": request.choices,
            "sample": request.sample,
            "about": request.about,
        }
        return canonical_json(document)

    @classmethod
    def read(cls, document: dict[str, Any]) -> Asked:
        """Build from a line."""
        request = Request(
            purpose=document["purpose"],
            prompt_version=document["prompt_version"],
            messages=tuple(document["messages"]),
            params=document["params"],
            schema=document["schema"],
            choices=None if document["choices"] is None else tuple(document["choices"]),
            sample=document["sample"],
            about=document["about"],
        )
        return cls(document["call_id"], document["attempt"], document["params"], document["mode"], request)


def batches(landing: Landing, provider: ServerProvider) -> list[Batch]:
    """Return the batches of this provider and model, oldest first.

    Raises
    ------
    SaberError
        When a manifest cannot be read.
    """
    found = []
    for path in sorted((landing.home / "batches").glob("*/manifest.json")):
        try:
            document = json.loads(path.read_text())
            parts = [Part(**part) for part in document["parts"]]
            batch = Batch(path.parent, document["endpoint"], document["model"], parts)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SaberError(f"The batch manifest {path} cannot be read: {error}. Move its folder away.") from error
        if (batch.endpoint, batch.model) == (provider.endpoint, provider.model):
            found.append(batch)
    return found


def write_batch(
    landing: Landing, provider: ServerProvider, requests: Iterable[Request], policy: Policy | None = None
) -> Batch | None:
    """Write a batch of `requests`, see :class:`BatchWriter`; None when there is nothing to write."""
    writer = BatchWriter(landing, provider, policy)
    for request in requests:
        writer.add(request)
    return writer.close()


class BatchWriter:
    """Writes the calls that have no usable reply and are in no open batch, a file at a time.

    Quarantined calls are left out unless the policy says to retry them. Structured output is asked for as the
    profile says; ``auto`` means ``json_schema_plain``, which the Batch API takes, since nothing is sent to find out.
    ``CallLog(send=False, on_missing=writer.add)`` makes a batch of what a job would ask.
    """

    def __init__(self, landing: Landing, provider: ServerProvider, policy: Policy | None = None) -> None:
        self._provider = provider
        self._policy = policy or provider.policy
        self._index = CallIndex()
        self._index.refresh(landing)
        self._written = {
            asked.call_id
            for batch in batches(landing, provider)
            for part in batch.parts
            if part.state != COLLECTED
            for asked in batch.requests(part)
        }
        folder = landing.home / "batches" / f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
        self._batch = Batch(folder, provider.endpoint, provider.model)
        self._open: list[TextIO] = []
        self._bytes = 0

    def add(self, request: Request) -> None:
        """Write one call, unless it needs not be asked."""
        provider = self._provider
        params = effective_params(provider.defaults, request.params)
        identity = call_id(provider.endpoint, provider.model, params, request)
        history = self._index.history(identity)
        quarantined = history.hopeless or history.reply_faults >= self._policy.attempts
        if quarantined and not self._policy.retry_quarantined:
            return
        if identity not in self._written and history.good is None:
            self._written.add(identity)
            mode = _mode(provider.profile.structured_output, request)
            self._write(Asked(identity, history.attempts + 1, params, mode, request))

    def close(self) -> Batch | None:
        """Sync the files, then write the manifest: a batch without one does not exist."""
        self._end_part()
        if not self._batch.parts:
            return None
        self._batch.save()
        return self._batch

    def _write(self, asked: Asked) -> None:
        sent = replace(asked.request, params=asked.params)
        body = chat_body(sent, self._provider.model, asked.mode, self._provider.profile.max_tokens_name)
        document = {"custom_id": asked.custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}
        line = json.dumps(document, separators=(",", ":")) + "\n"
        parts = self._batch.parts
        if not parts or parts[-1].requests >= _MOST_REQUESTS or self._bytes + len(line) > _MOST_BYTES:
            self._next_part()
        self._open[0].write(line)
        self._open[1].write(asked.line() + "\n")
        self._bytes += len(line)
        parts[-1].requests += 1

    def _next_part(self) -> None:
        self._end_part()
        folder = self._batch.folder
        folder.mkdir(parents=True, exist_ok=True)
        part = Part(f"part-{len(self._batch.parts):03d}", 0)
        self._batch.parts.append(part)
        names = (f"{part.name}.jsonl", f"{part.name}.requests.jsonl")
        self._open = [(folder / name).open("w", encoding="utf-8", errors="backslashreplace") for name in names]
        self._bytes = 0

    def _end_part(self) -> None:
        for handle in self._open:
            handle.flush()
            os.fsync(handle.fileno())
            handle.close()
        self._open = []


def _mode(fixed: str, request: Request) -> str:
    if request.schema is not None:
        return JSON_SCHEMA_PLAIN if fixed == "auto" else fixed
    return STRUCTURED_OUTPUTS if request.choices is not None and fixed == STRUCTURED_OUTPUTS else PROMPT
