"""One attempt as it is journalled, landed and read back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.json as pj

from annotate.calls.identity import canonical_json, request_document
from annotate.providers.base import Reply, Request
from warehouse.schemas import TABLES

TABLE = "llm_calls"
SCHEMA = pa.schema([pa.field(name, kind) for name, kind in TABLES[TABLE].columns])
REPLY_COLUMNS = (
    "reply",
    "finish_reason",
    "served_model",
    "fingerprint",
    "tokens_in",
    "tokens_out",
    "latency_s",
    "error",
)
_READ_BLOCK = 1 << 20


def encode(
    call_id: str,
    attempt: int,
    endpoint: str,
    model: str,
    params: Mapping[str, Any],
    request: Request,
    reply: Reply,
) -> bytes:
    """Return the journal record of one attempt: one line of JSON with the columns of ``llm_calls``.

    The column ``reply`` holds the model's words or, when there were none, what the server said instead.
    """
    row = {
        "call_id": call_id,
        "attempt": attempt,
        "purpose": request.purpose,
        "endpoint": endpoint,
        "model": model,
        "served_model": _valid(reply.served_model),
        "fingerprint": _valid(reply.fingerprint),
        "params": canonical_json({**params, **reply.recorded} if reply.recorded else params),
        "prompt_version": request.prompt_version,
        "request": _valid(request_document(request)),
        "reply": _valid(reply.text if reply.text is not None else reply.detail),
        "finish_reason": _valid(reply.finish_reason),
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "latency_s": None if math.isnan(reply.latency_s) else float(reply.latency_s),
        "error": reply.error,
    }
    return json.dumps(row, separators=(",", ":")).encode("ascii")


def decode(payload: bytes) -> dict[str, Any]:
    """Return the row of a journal record."""
    row: dict[str, Any] = json.loads(payload)
    return row


def to_table(payloads: Iterable[bytes]) -> pa.Table:
    """Return journal records as an Arrow table of ``llm_calls`` without its bookkeeping columns."""
    lines = list(payloads)
    if not lines:
        return SCHEMA.empty_table()
    block = max(_READ_BLOCK, 2 * max(map(len, lines)))
    return pj.read_json(
        BytesIO(b"\n".join(lines)),
        read_options=pj.ReadOptions(block_size=block),
        parse_options=pj.ParseOptions(explicit_schema=SCHEMA, unexpected_field_behavior="error"),
    )


def to_reply(row: Mapping[str, Any]) -> Reply:
    """Return the reply that a landed row holds."""
    return Reply(
        text=row["reply"],
        finish_reason=row["finish_reason"],
        served_model=row["served_model"],
        fingerprint=row["fingerprint"],
        tokens_in=row["tokens_in"],
        tokens_out=row["tokens_out"],
        latency_s=math.nan if row["latency_s"] is None else row["latency_s"],
        error=row["error"],
    )


def _valid(text: str | None) -> str | None:
    """Return text that UTF-8 can hold: a lone surrogate is shown as an escape."""
    if text is None or text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text
