"""Vectors from any server of the OpenAI embeddings protocol, vLLM among them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, as_completed
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

import httpx2  # the HTTP library of the openai client: its types, no second client
import numpy as np
import openai

from annotate.calls.identity import url_identity
from annotate.providers.redact import Redactor, guard_http_logs, url_secrets
from annotate.retrieval.dense.cutting import Cutter, FileCutter, ServerCutter, server_tokens_from, surely_fits
from annotate.retrieval.dense.encoder import Encoded, EncodingError
from annotate.retrieval.dense.profile import EmbeddingProfile
from warehouse.errors import SaberError

_CHARACTERS_PER_CALL = 200_000  # services bound the tokens of a call
_RETRIES = 8


class EndpointEncoder:
    """Asks the servers of a profile; pieces are texts.

    Parameters
    ----------
    profile
        Where and how to ask.
    retries
        Repetitions of a call that the service failed; the client waits between them, longer each time.
    """

    def __init__(self, profile: EmbeddingProfile, retries: int = _RETRIES) -> None:
        self._profile = profile
        key = os.environ.get(profile.key_variable, "").strip() if profile.key_variable else None
        if key == "":
            raise SaberError(f"The environment variable {profile.key_variable} is not set. Set it and run again.")
        secrets = {secret for url in profile.urls for secret in url_secrets(url)} | {key or ""}
        guard_http_logs(secrets)
        self._redact = Redactor(secrets)
        self._clients = [_client(url, key or "none", profile, retries) for url in profile.urls]
        self._served: str | None = None
        self.width: int | None = profile.dimensions or None
        self._cutter = self._make_cutter()
        self.identity: Mapping[str, Any] = {
            "endpoint": endpoint_identity(profile),
            "model": profile.model,
            "dimensions": profile.dimensions,
            "context_tokens": self._cutter.context_tokens if self._cutter else profile.context_tokens,
        }

    def pieces(self, text: str, prefix: str) -> list[str]:
        """Cut a text that is over the context, where it is known how."""
        if self._cutter is None or surely_fits(text, prefix, self._cutter.context_tokens):
            return [prefix + text]
        return [prefix + piece for piece in self._cutter.cut(text, prefix)]

    def encode(self, pieces: Sequence[str]) -> Iterator[Encoded]:
        """Send the pieces, several calls at once; what came before a failure is passed on first."""
        clients = cycle(self._clients)
        failure: EncodingError | None = None
        pool = ThreadPoolExecutor(self._profile.concurrency)
        try:
            calls: list[Future[list[Encoded]]] = [
                pool.submit(self._call, next(clients), batch, [pieces[at] for at in batch])
                for batch in self._batches(pieces)
            ]
            for call in as_completed(calls):
                try:
                    yield from call.result()
                except CancelledError:
                    continue
                except EncodingError as error:
                    failure = failure or error
                    for other in calls:
                        other.cancel()
        finally:
            pool.shutdown(cancel_futures=True)  # who stops listening must not pay for the rest
        if failure is not None:
            raise failure

    def _batches(self, pieces: Sequence[str]) -> Iterator[list[int]]:
        batch: list[int] = []
        size = 0
        for at, piece in enumerate(pieces):
            if batch and (len(batch) == self._profile.batch or size + len(piece) > _CHARACTERS_PER_CALL):
                yield batch
                batch, size = [], 0
            batch.append(at)
            size += len(piece)
        if batch:
            yield batch

    def _call(self, client: openai.OpenAI, positions: Sequence[int], texts: Sequence[str]) -> list[Encoded]:
        begun = time.perf_counter()
        extra: dict[str, Any] = {"dimensions": self._profile.dimensions} if self._profile.dimensions else {}
        try:
            reply = client.embeddings.create(
                model=self._profile.model, input=list(texts), encoding_format="float", **extra
            )
            vectors = {item.index: np.asarray(item.embedding, dtype=np.float32) for item in reply.data}
        except (openai.OpenAIError, UnicodeError, TypeError, ValueError, AttributeError) as error:
            raise EncodingError(positions, self._explained(error)) from None
        if sorted(vectors) != list(range(len(texts))):
            raise EncodingError(positions, f"the server sent {len(vectors)} vectors for {len(texts)} texts")
        self._check_served(positions, reply.model)
        share = (time.perf_counter() - begun) / len(texts)
        return [Encoded(position, vectors[at], share) for at, position in enumerate(positions)]

    def _check_served(self, positions: Sequence[int], served: str | None) -> None:
        if served and self._served and served != self._served:
            raise EncodingError(positions, f"the server answered as {served!r} after {self._served!r} in one job")
        self._served = served or self._served

    def _explained(self, error: Exception) -> str:
        text = self._redact.error(f"{type(error).__name__}: {error}".replace("\n", " "))[:300]
        if isinstance(error, openai.BadRequestError) and self._cutter is None:
            text += ". If the text is too long, set context_tokens and tokeniser in the model's profile"
        return text

    def _make_cutter(self) -> Cutter | None:
        profile = self._profile
        if profile.tokeniser == "none":
            return None
        if profile.tokeniser:
            if not profile.context_tokens:
                raise SaberError(f"[providers.{profile.name}] has a tokeniser, so it needs context_tokens too.")
            return FileCutter(Path(profile.tokeniser).expanduser(), profile.context_tokens)
        tokens = _ServerTokens(self._clients[0], profile.model)
        limit = profile.context_tokens or tokens.context_tokens
        if tokens.works and limit:
            return ServerCutter(tokens, limit)
        if profile.context_tokens:
            raise SaberError(
                f"The server of {profile.name or profile.model!r} has no /tokenize, so texts over "
                f"{profile.context_tokens} tokens cannot be cut. "
                'Give tokeniser = PATH of tokenizer.json, or tokeniser = "none".'
            )
        return None


class _ServerTokens:
    """``/tokenize`` and ``/detokenize`` as vLLM has them, beside the protocol's version in the URL."""

    def __init__(self, client: openai.OpenAI, model: str) -> None:
        self._client = client.with_options(max_retries=2)
        self._model = model
        root = str(client.base_url).rstrip("/")
        self._root = root.removesuffix("/v1")
        self.works = False
        self.context_tokens = 0
        try:
            reply = self._post("/tokenize", {"prompt": "1", "add_special_tokens": True})
        except openai.OpenAIError:
            return
        if server_tokens_from(reply) is not None:
            self.works = True
            self.context_tokens = int(reply.get("max_model_len") or 0)

    def ids(self, text: str, special: bool) -> list[int]:
        reply = self._asked("/tokenize", {"prompt": text, "add_special_tokens": special})
        found = server_tokens_from(reply)
        if found is None:
            raise SaberError("The server's /tokenize answered in an unknown form. Give a tokeniser in the profile.")
        return found

    def text(self, ids: Sequence[int]) -> str:
        return str(self._asked("/detokenize", {"tokens": list(ids)}).get("prompt", ""))

    def _asked(self, path: str, body: dict[str, Any]) -> Any:
        try:
            return self._post(path, body)
        except openai.OpenAIError as error:
            raise SaberError(f"The server's {path} failed: {type(error).__name__}. Run the command again.") from None

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        answer = self._client.post(self._root + path, cast_to=httpx2.Response, body={"model": self._model, **body})
        try:
            return answer.json()
        except ValueError:
            return None


def endpoint_identity(profile: EmbeddingProfile) -> str:
    """Return the profile's name, under which vectors are found again, or the URLs without credentials."""
    return f"profile:{profile.name}" if profile.name else url_identity(profile.urls)


def _client(url: str, key: str, profile: EmbeddingProfile, retries: int) -> openai.OpenAI:
    parts = urlsplit(url)
    user = httpx2.BasicAuth(unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    client = openai.OpenAI(
        api_key=key,
        base_url=urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")),
        default_query=dict(parse_qsl(parts.query)),
        max_retries=retries,
        http_client=openai.DefaultHttpxClient(auth=user, timeout=httpx2.Timeout(profile.timeout_s, connect=10.0)),
    )
    # The environment's own OpenAI account is nobody's business but OpenAI's.
    if parts.hostname is None or not parts.hostname.endswith("openai.com"):
        client.organization = client.project = None
    return client
