"""The OpenAI chat protocol: bodies of requests, and what answers and errors mean. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from annotate.providers.base import Reply, Request, failed
from annotate.providers.failures import CONTEXT_EXCEEDED, SERVER_TRUNCATED
from annotate.providers.token_estimate import looks_truncated

MODE = "structured_output"
JSON_SCHEMA, JSON_SCHEMA_PLAIN = "json_schema", "json_schema_plain"
STRUCTURED_OUTPUTS, PROMPT = "structured_outputs", "prompt"
MODES = (JSON_SCHEMA, JSON_SCHEMA_PLAIN, STRUCTURED_OUTPUTS, PROMPT)
_BOUNDS = {
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minLength", "maxLength", "minItems", "maxItems"),
}
_LONGEST_DETAIL = 4000
_CONTEXT_WORDS = (
    *("context length", "context_length", "context window", "context size", "maximum context"),
    *("max_model_len", "maximum model length"),
)


def chat_body(request: Request, model: str, mode: str, max_tokens_name: str = "max_tokens") -> dict[str, Any]:
    """Return the JSON body of a chat request.

    Parameters
    ----------
    request
        Its parameters go into the body as they are, unknown ones too (servers have their own).
    mode
        How structured output is asked for: ``json_schema`` (response_format, schemas only),
        ``json_schema_plain`` (the same without bounds on numbers and lengths, which some services refuse),
        ``structured_outputs`` (vLLM; schemas and choices) or ``prompt`` (not at all).
    max_tokens_name
        What this server calls the limit on output tokens.
    """
    body: dict[str, Any] = {"model": model, "messages": [dict(message) for message in request.messages]}
    for name, value in request.params.items():
        if name != MODE:
            body[max_tokens_name if name == "max_tokens" else name] = value
    if mode in (JSON_SCHEMA, JSON_SCHEMA_PLAIN) and request.schema is not None:
        schema = request.schema if mode == JSON_SCHEMA else without_bounds(request.schema)
        named = {"name": "reply", "schema": schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    elif mode == STRUCTURED_OUTPUTS and request.schema is not None:
        body["structured_outputs"] = {"json": request.schema}
    elif mode == STRUCTURED_OUTPUTS and request.choices is not None:
        body["structured_outputs"] = {"choice": list(request.choices)}
    return body


def without_bounds(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON schema of the same keys, types and choices without bounds on numbers and lengths."""
    plain: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword == "properties":
            plain[keyword] = {name: without_bounds(inner) for name, inner in value.items()}
        elif keyword not in _BOUNDS:
            plain[keyword] = without_bounds(value) if isinstance(value, Mapping) else value
    return plain


def read_completion(content: bytes | str, estimated_tokens: int, latency_s: float) -> Reply:
    """Return the reply that a 200 answer holds; anything but a whole, stopped completion is a failure."""
    try:
        answer = json.loads(content)
        choices = answer["choices"]
        if isinstance(choices, list) and not choices:
            return _with_usage(failed("empty_choices", latency_s, _shown(content)), answer)
        choice = choices[0]
        message = choice["message"]
        text, refusal = _text(message.get("content")), message.get("refusal")
        finish = choice.get("finish_reason")
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
        return failed("bad_body", latency_s, _shown(content))
    reply = _with_usage(Reply(text, _word(finish), None, None, None, None, latency_s), answer)
    error = None
    if looks_truncated(estimated_tokens, reply.tokens_in):
        error = SERVER_TRUNCATED
    elif refusal:
        error, text = "refusal", text or str(refusal)
    elif finish in ("length", "content_filter"):
        error = str(finish)
    elif not text:
        error = "empty_reply"
    return _replace(reply, text=text, error=error)


def read_status(
    status: int, content: str, headers: Mapping[str, str], latency_s: float, now: datetime | None = None
) -> Reply:
    """Return the failure that an answer with another status than 200 stands for."""
    said = content.lower()
    kind = f"http_{status}"
    if status == 429:
        kind = "quota" if "insufficient_quota" in said else "rate_limited"
    elif status == 400 and ('"content_filter"' in said or "content_policy" in said):
        kind = "content_filter"
    elif status in (400, 413, 422) and any(words in said for words in _CONTEXT_WORDS):
        kind = CONTEXT_EXCEEDED
    return failed(kind, latency_s, _shown(content) or None, retry_after(headers, now))


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds a server asks to wait: milliseconds, seconds or an HTTP date; None when it does not."""
    lower = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        given = lower.get(name)
        if given is None:
            continue
        try:
            seconds = float(given) * unit
        except ValueError:
            try:
                at = parsedate_to_datetime(given)
            except ValueError:
                continue
            at = at if at.tzinfo else at.replace(tzinfo=UTC)
            seconds = (at - (now or datetime.now(UTC))).total_seconds()
        if seconds == seconds and seconds != float("inf"):
            return max(seconds, 0.0)
    return None


def _with_usage(reply: Reply, answer: Mapping[str, Any]) -> Reply:
    usage = answer.get("usage")
    counted = usage if isinstance(usage, Mapping) else {}
    return _replace(
        reply,
        served_model=_word(answer.get("model")),
        fingerprint=_word(answer.get("system_fingerprint")),
        tokens_in=_whole(counted.get("prompt_tokens")),
        tokens_out=_whole(counted.get("completion_tokens")),
    )


def _text(content: Any) -> str | None:
    """Return the words of a message; some servers send them in parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    if content is not None and not isinstance(content, str):
        raise TypeError("content is no text")
    return content


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62 else None


def _shown(content: bytes | str) -> str:
    text = content.decode("utf-8", "backslashreplace") if isinstance(content, bytes) else content
    return text[:_LONGEST_DETAIL]


def _replace(reply: Reply, **changes: Any) -> Reply:
    return Reply(**{**reply.__dict__, **changes})
