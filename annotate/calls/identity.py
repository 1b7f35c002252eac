"""Which calls are the same call: the identity under which a reply is landed, found and never paid for twice.

Decisions
---------
* The endpoint of a named profile is ``profile:NAME``, not a URL: several URLs of one profile are machines
  that share the load, and adding one must not make every landed call a new call. A profile that moves to
  another service therefore needs another name. URLs given ad hoc stand for themselves.
* Parameters are those in force (profile defaults with the request's own laid over), so a changed default
  is another call. ``1`` and ``1.0`` are the same number.
* The prompt version is no part: the messages are. Neither are ``payload`` and ``about``, which are not sent.
* How structured output was enforced is no part (it is recorded beside the parameters): a call asks for a
  form, the server's means of enforcing it may change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from annotate.providers.base import Request

_DEFAULT_PORTS = {"http": 80, "https": 443}


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and no spaces.

    Raises
    ------
    ValueError
        For NaN and infinities, which have no JSON form.
    TypeError
        For values that are not JSON.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain
    )


def effective_params(defaults: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """Lay `params` over `defaults`; ``None`` removes a default, integral floats become integers."""
    merged = {**defaults, **params}
    return {key: _number(value) for key, value in merged.items() if value is not None}


def call_id(endpoint: str, model: str, params: Mapping[str, Any], request: Request) -> str:
    """Return the identity of a call.

    Parameters
    ----------
    endpoint
        Identity of the endpoint, see :func:`url_identity`.
    model
        The model asked for.
    params
        The parameters in force, see :func:`effective_params`.
    request
        Messages, schema, choices and sample count.

    Returns
    -------
    str
        32 hexadecimal digits of SHA-256.
    """
    parts = [
        endpoint,
        model,
        params,
        request.messages,
        request.schema,
        list(request.choices) if request.choices is not None else None,
        request.sample,
    ]
    # A lone surrogate cannot be sent, but it must not break the bookkeeping of the failure either.
    return hashlib.sha256(canonical_json(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def request_document(request: Request) -> str:
    """Return what lands in the column ``request``: everything a reader needs to ask again."""
    document: dict[str, Any] = {"messages": request.messages, "sample": request.sample}
    if request.schema is not None:
        document["schema"] = request.schema
    if request.choices is not None:
        document["choices"] = list(request.choices)
    if request.about:
        document["about"] = request.about
    return canonical_json(document)


def url_identity(urls: str | Sequence[str]) -> str:
    """Return base URLs without credentials, query, fragment, default port and final slash, sorted.

    Raises
    ------
    ValueError
        When one is not an http(s) URL; the message does not repeat it, since it may hold a secret.
    """
    listed = [urls] if isinstance(urls, str) else list(urls)
    return ",".join(sorted({_strip(url) for url in listed}))


def _strip(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise ValueError("a base URL cannot be read") from error
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise ValueError("a base URL must begin with http:// or https:// and name a host")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    shown = "" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}"
    return f"{parts.scheme}://{host}{shown}{parts.path.rstrip('/')}"


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
