"""Any server of the OpenAI chat protocol: OpenAI itself, vLLM, llama.cpp and others, several URLs at once."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

import httpx2  # the HTTP library of the openai client: its types, no second client
import openai

from annotate.calls.identity import url_identity
from annotate.calls.limits import Sleep
from annotate.providers.base import Ask, Reply, Request, failed
from annotate.providers.chat import MODE, PROMPT, STRUCTURED_OUTPUTS, chat_body, read_completion, read_status
from annotate.providers.failures import Fault, fault
from annotate.providers.many import complete_many
from annotate.providers.probe import MAX_TOKENS, probe_choices, probe_schema
from annotate.providers.profile import Profile
from annotate.providers.redact import Redactor, guard_http_logs, url_secrets
from annotate.providers.token_estimate import estimate_tokens
from warehouse.errors import SaberError

_CONNECT_S = 10.0
_COOL_CAP_S = 60.0
_WORDS = ("text", "finish_reason", "served_model", "fingerprint")


@dataclass
class _Line:
    """One base URL: its client, its load, and until when it is let alone."""

    url: str
    shown: str
    client: openai.AsyncOpenAI
    in_flight: int = 0
    failures: int = 0
    cool_until: float = 0.0


class ServerProvider:
    """Asks the servers of a profile; retries are the call log's.

    Parameters
    ----------
    profile
        URLs, model, parameters, limits.
    sleep
        How to wait for a URL that asked for a pause, replaceable in tests.
    """

    name = "server"

    def __init__(self, profile: Profile, sleep: Sleep = asyncio.sleep) -> None:
        if not profile.urls:
            raise SaberError(
                f"The provider {profile.name or 'server'!r} has no URL. Give --base-url URL or "
                f"[providers.{profile.name or 'NAME'}] urls in saber.toml."
            )
        if not profile.model:
            raise SaberError(
                f"The provider {profile.name or 'server'!r} has no model. Give --model or model in its profile."
            )
        self.profile = profile
        self.model = profile.model
        self.endpoint = profile.endpoint
        self.defaults = profile.params
        self.policy = profile.policy
        self._sleep = sleep
        self._lines: list[_Line] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._modes: dict[str, str] = {}
        self._probing = asyncio.Lock()
        self._secrets = {secret for url in profile.urls for secret in url_secrets(url)} | {self._key() or ""}
        self._redact = Redactor(self._secrets)

    def __repr__(self) -> str:
        return f"ServerProvider({self.endpoint!r}, {self.model!r})"

    async def prepare(self, request: Request, ask: Ask) -> None:
        """Make ready to send `request`; finds out once which structured output the server obeys.

        Raises
        ------
        SaberError
            When the key is missing or the probe gets no answer.
        """
        self._connect()
        form = _form(request)
        if form is None or form in self._modes:
            return
        async with self._probing:
            if form not in self._modes:
                self._modes[form] = await self._choose_mode(form, ask)

    async def complete(self, request: Request) -> Reply:
        """Send one request once. Without :meth:`prepare`, structured output is asked for by the prompt alone."""
        self._connect()
        form = _form(request)
        mode = str(request.params.get(MODE) or (self._modes.get(form, PROMPT) if form else PROMPT))
        body = chat_body(request, self.model, mode, self.profile.max_tokens_name)
        line = await self._least_loaded()
        line.in_flight += 1
        try:
            reply = await self._send(line, body, estimate_tokens(request.messages))
        finally:
            line.in_flight -= 1
        self._note(line, reply)
        recorded: dict[str, Any] = {"url": line.shown, **self.profile.prices}
        if form is not None:
            recorded[MODE] = mode
        return self.cleaned(replace(reply, recorded=recorded))

    def complete_many(self, requests: Sequence[Request]) -> AsyncIterator[tuple[int, Reply]]:
        """Send many requests, as many at once as the profile allows."""
        return complete_many(self.complete, requests, self.policy.concurrency)

    async def close(self) -> None:
        """Close the connections."""
        lines, self._lines, self._loop = self._lines, [], None
        for line in lines:
            await line.client.close()

    async def _send(self, line: _Line, body: dict[str, Any], estimated_tokens: int) -> Reply:
        begun = time.perf_counter()

        def took() -> float:
            return time.perf_counter() - begun

        try:
            # The read timeout alone would let a server that sends a byte now and then hold a call for ever.
            async with asyncio.timeout(self.profile.timeout_s):
                response = await line.client.post("/chat/completions", cast_to=httpx2.Response, body=body)
        except openai.APIStatusError as error:
            return read_status(error.status_code, error.response.text, error.response.headers, took())
        except (TimeoutError, openai.APITimeoutError) as error:
            connecting = isinstance(error.__cause__, httpx2.ConnectTimeout)
            return failed("connect_failed" if connecting else "timeout", took(), _cause(error))
        except openai.APIConnectionError as error:
            unreachable = isinstance(error.__cause__, httpx2.ConnectError)
            return failed("connect_failed" if unreachable else "dropped", took(), _cause(error))
        except (UnicodeError, TypeError, ValueError) as error:
            # A lone surrogate, a value that is no JSON: nothing was sent.
            return failed("invalid_request", took(), f"{type(error).__name__}: {error}")
        return read_completion(response.content, estimated_tokens, took())

    async def _least_loaded(self) -> _Line:
        while True:
            now = time.monotonic()
            ready = [line for line in self._lines if line.cool_until <= now]
            if ready:
                return min(ready, key=lambda line: line.in_flight)
            await self._sleep(min(line.cool_until for line in self._lines) - now)

    def _note(self, line: _Line, reply: Reply) -> None:
        """Let a URL alone that asked for a pause; prefer others to one that is down."""
        if reply.retry_after_s is not None:
            pause = min(reply.retry_after_s, self.policy.retry_after_cap_s)
            line.cool_until = max(line.cool_until, time.monotonic() + pause)
        if fault(reply.error) is not Fault.SERVICE or reply.error == "rate_limited":
            line.failures = 0
        else:
            line.failures += 1
            if len(self._lines) > 1:
                # A dead URL fails fast, so it would always look the least loaded.
                pause = min(_COOL_CAP_S, self.policy.backoff_s * 2.0 ** min(line.failures - 1, 60))
                line.cool_until = max(line.cool_until, time.monotonic() + pause)

    async def _choose_mode(self, form: str, ask: Ask) -> str:
        fixed = self.profile.structured_output
        if fixed != "auto":
            return fixed if form == "schema" or fixed == STRUCTURED_OUTPUTS else PROMPT
        most = self.defaults.get("max_tokens")
        most = min(most, MAX_TOKENS) if isinstance(most, int) else MAX_TOKENS
        return await (probe_schema(ask, most) if form == "schema" else probe_choices(ask, most))

    def client(self) -> openai.AsyncOpenAI:
        """Return the client of the first URL, for what is not a chat request."""
        self._connect()
        return self._lines[0].client

    def redacted(self, text: str) -> str:
        """Return `text` without secrets."""
        return self._redact.error(text)

    def cleaned(self, reply: Reply) -> Reply:
        """Return `reply` without secrets."""
        hidden: dict[str, Any] = {
            name: self._redact.words(value) for name in _WORDS if (value := getattr(reply, name))
        }
        detail = self._redact.error(reply.detail) if reply.detail else reply.detail
        return replace(reply, **hidden, detail=detail)

    def _key(self) -> str | None:
        variable = self.profile.key_variable
        return os.environ.get(variable, "").strip() if variable else None

    def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        key = self._key()
        if key == "":
            raise SaberError(
                f"The environment variable {self.profile.key_variable} is not set, which the profile "
                f"{self.profile.name!r} names as its key. Set it and run again."
            )
        guard_http_logs(self._secrets)
        self._lines = [self._line(url, key or "none") for url in self.profile.urls]
        self._loop = loop

    def _line(self, url: str, key: str) -> _Line:
        parts = urlsplit(url)
        user = httpx2.BasicAuth(unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        host = parts.netloc.rpartition("@")[2]
        most = self.policy.concurrency
        client = openai.AsyncOpenAI(
            api_key=key,
            base_url=urlunsplit((parts.scheme, host, parts.path, "", "")),
            default_query=dict(parse_qsl(parts.query)),
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(
                auth=user,
                timeout=httpx2.Timeout(self.profile.timeout_s, connect=_CONNECT_S, pool=None),
                limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most),
            ),
        )
        # The environment's own OpenAI account is nobody's business but OpenAI's.
        if parts.hostname is None or not parts.hostname.endswith("openai.com"):
            client.organization = client.project = None
        return _Line(url, url_identity(url), client)


def _form(request: Request) -> str | None:
    if request.schema is not None:
        return "schema"
    return "choices" if request.choices is not None else None


def _cause(error: BaseException) -> str:
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}".rstrip(": ")
