"""A dense model's profile: a table ``[providers.NAME]`` of the settings with ``kind = "embeddings"``.

Example::

    [providers.big-embedder]
    kind = "embeddings"
    urls = ["http://10.0.0.5:8000/v1"]
    model = "org/big-embedder"
    key_variable = "CLUSTER_KEY"        # the key itself is never written down
    context_tokens = 8192
    tokeniser = "/models/big-embedder/tokenizer.json"
    query_prefix = "Instruct: Find problems solved alike.\\nQuery: "

Its name is then the name of a system: ``saber retrieve --system big-embedder``. With
``kind = "sentence-transformers"`` the model runs in this process; ``urls`` and what belongs to them are left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotate.providers.profile import check_urls
from warehouse.errors import SaberError

ENDPOINT, IN_PROCESS = "embeddings", "sentence-transformers"
KINDS = (ENDPOINT, IN_PROCESS)


@dataclass(frozen=True)
class EmbeddingProfile:
    """How to reach a dense model, and how it wants its texts.

    Attributes
    ----------
    urls
        Base URLs that share the load, each ending in the protocol's version (``.../v1``).
    key_variable
        Name of the environment variable that holds the key; empty = no key.
    timeout_s, concurrency, batch
        Longest wait for one call, calls at once, texts a call.
    dimensions
        Numbers in a vector, for models that can shorten them; 0 = the model's own.
    context_tokens
        Tokens a text may have, special ones included; 0 = as the server or model says.
    tokeniser
        How texts over the context are cut: path of a ``tokenizer.json``; empty = by the server's own
        ``/tokenize`` where it has one; ``none`` = never.
    query_prefix, document_prefix
        What stands before queries and documents.
    revision, device
        For ``sentence-transformers``: version of the model and where it runs.
    """

    name: str
    kind: str = ENDPOINT
    urls: tuple[str, ...] = ()
    model: str = ""
    key_variable: str = ""
    timeout_s: float = 600.0
    concurrency: int = 8
    batch: int = 64
    dimensions: int = 0
    context_tokens: int = 0
    tokeniser: str = ""
    query_prefix: str = ""
    document_prefix: str = ""
    revision: str = ""
    device: str = ""


def read_embedding_profile(name: str, table: Mapping[str, Any]) -> EmbeddingProfile:
    """Read ``[providers.name]``.

    Raises
    ------
    SaberError
        For unknown keys and values of the wrong type; no value is repeated, since it may hold a secret.
    """
    where = f"[providers.{name}] of saber.toml"
    fields = {field.name: field for field in dataclasses.fields(EmbeddingProfile) if field.name != "name"}
    values = dict(table)
    if isinstance(values.get("urls"), str):
        values["urls"] = [values["urls"]]
    for key, value in values.items():
        if key not in fields:
            raise SaberError(f"{where} has an unknown key {key}. Known: {', '.join(fields)}.")
        kind = str(fields[key].type)
        if kind.startswith("tuple"):
            good = isinstance(value, list | tuple) and all(isinstance(url, str) for url in value)
        else:
            wanted = {"str": (str,), "int": (int,), "float": (int, float)}[kind]
            good = isinstance(value, wanted) and not isinstance(value, bool)
        if not good:
            raise SaberError(f"{where}: {key} must be of type {'list of texts' if key == 'urls' else kind}.")
    if values.get("kind") not in KINDS:
        raise SaberError(f"{where} is no dense model: its kind must be one of {', '.join(KINDS)}.")
    values["urls"] = tuple(values.get("urls", ()))
    check_urls(values["urls"], where)
    profile = EmbeddingProfile(name=name, **values)
    for key in ("concurrency", "batch"):
        if getattr(profile, key) < 1:
            raise SaberError(f"{where}: {key} must be at least 1.")
    for key in ("dimensions", "context_tokens"):
        if getattr(profile, key) < 0:
            raise SaberError(f"{where}: {key} must not be negative.")
    if not profile.timeout_s > 0:
        raise SaberError(f"{where}: timeout_s must be above 0.")
    return profile
