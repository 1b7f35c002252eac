"""A provider's profile: a table ``[providers.NAME]`` of the settings.

Example::

    [providers.cluster]
    urls = ["http://10.0.0.5:8000/v1", "http://10.0.0.6:8000/v1"]
    model = "org/model-7b"
    key_variable = "CLUSTER_KEY"      # the key itself is never written down
    concurrency = 64
    temperature = 0.0
    max_tokens = 50000                # 0 leaves it to the server: what the context has left
    price_in = 0.15                   # per million tokens
    price_out = 0.60
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate.calls.identity import url_identity
from annotate.calls.policy import Policy
from annotate.providers.chat import MODES
from warehouse.errors import SaberError

KINDS = ("server", "vllm-batch")
_ENGINE_BATCH = 1024  # an engine in this process wants whole batches
_PARAMETERS = ("temperature", "top_p", "reasoning_effort", "seed", "max_tokens")


@dataclass(frozen=True)
class Profile:
    """How to reach a model and what it costs.

    Attributes
    ----------
    name
        The profile's name; replies are found again under it, so a profile that moves to another service
        needs another name.
    kind
        ``server`` or ``vllm-batch``.
    urls
        Base URLs that share the load, each ending in the protocol's version (``.../v1``).
    model
        The model to ask for; ``--model`` overrides it.
    key_variable
        Name of the environment variable that holds the key; empty = no key.
    timeout_s
        Longest wait for one reply.
    structured_output
        ``auto`` (probe once), ``json_schema``, ``json_schema_plain``, ``structured_outputs`` or ``prompt``.
    max_tokens_name
        ``max_tokens``, or ``max_completion_tokens`` where the service wants that.
    price_in, price_out
        Price of a million prompt and output tokens, in `currency`; None = unknown.
    params
        Default parameters: temperature, reasoning_effort, max_tokens, ... and, in the table ``params``, any
        others the server knows.
    policy
        Concurrency, limits per minute, retries.
    engine
        For ``vllm-batch``: arguments of the engine.
    """

    name: str
    kind: str = "server"
    urls: tuple[str, ...] = ()
    model: str = ""
    key_variable: str = ""
    timeout_s: float = 1800.0
    structured_output: str = "auto"
    max_tokens_name: str = "max_tokens"
    price_in: float | None = None
    price_out: float | None = None
    currency: str = "USD"
    params: Mapping[str, Any] = field(default_factory=lambda: {"max_tokens": 50_000})
    policy: Policy = field(default_factory=Policy)
    engine: Mapping[str, Any] = field(default_factory=dict)

    @property
    def endpoint(self) -> str:
        """The identity under which calls are landed."""
        return f"profile:{self.name}" if self.name else url_identity(self.urls)

    @property
    def prices(self) -> dict[str, Any]:
        """What lands with each call, so that its cost is known whatever the prices become; empty when unknown."""
        if self.price_in is None or self.price_out is None:
            return {}
        return {"price_in": self.price_in, "price_out": self.price_out, "currency": self.currency}


def read_profile(name: str, table: Mapping[str, Any]) -> Profile:
    """Read ``[providers.name]``.

    Raises
    ------
    SaberError
        For unknown keys and values of the wrong type; no value is repeated, since it may hold a secret.
    """
    where = f"[providers.{name}] of saber.toml"
    values = dict(table)
    params = {"max_tokens": 50_000}
    params |= {key: values.pop(key) for key in _PARAMETERS if key in values}
    extra = values.pop("params", {})
    if not isinstance(extra, Mapping):
        raise SaberError(f"{where}: params must be a table.")
    params |= extra
    if params["max_tokens"] == 0:
        del params["max_tokens"]
    policy_names = {f.name for f in dataclasses.fields(Policy)}
    policy_values = {key: values.pop(key) for key in list(values) if key in policy_names}
    if values.get("kind") == "vllm-batch":
        policy_values.setdefault("concurrency", _ENGINE_BATCH)
    own = {f.name for f in dataclasses.fields(Profile)} - {"name", "params", "policy"}
    unknown = values.keys() - own
    if unknown:
        known = ", ".join(sorted(own | policy_names | set(_PARAMETERS) | {"params"}))
        raise SaberError(f"{where} has unknown keys {', '.join(sorted(unknown))}. Known: {known}.")
    if isinstance(values.get("urls"), str):
        values["urls"] = [values["urls"]]
    for key, value in [*values.items(), *policy_values.items()]:
        _check_type(where, key, value)
    if "urls" in values:
        values["urls"] = tuple(values["urls"])
        check_urls(values["urls"], where)
    profile = Profile(name=name, params=params, policy=Policy.from_mapping(policy_values), **values)
    _check_choice(where, "kind", profile.kind, KINDS)
    _check_choice(where, "structured_output", profile.structured_output, ("auto", *MODES))
    if not profile.timeout_s > 0:
        raise SaberError(f"{where}: timeout_s must be above 0.")
    return profile


def check_urls(urls: tuple[str, ...], where: str) -> None:
    """Refuse base URLs that cannot be asked.

    Raises
    ------
    SaberError
        When one is no http(s) URL.
    """
    try:
        url_identity(urls)
    except ValueError as error:
        raise SaberError(f"{where}: {error}. Give URLs like http://127.0.0.1:8000/v1.") from None


_TEXTS = {"kind", "model", "key_variable", "structured_output", "max_tokens_name", "currency", "on_model_change"}
_WHOLE = {
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "attempts",
    "service_attempts",
    "given_up_in_a_row",
    "journal_bytes",
    "journal_records",
}


def _check_type(where: str, key: str, value: Any) -> None:
    if key in _TEXTS:
        good, wanted = isinstance(value, str), "a text"
    elif key in _WHOLE:
        good, wanted = isinstance(value, int) and not isinstance(value, bool), "a whole number"
    elif key == "urls":
        good = isinstance(value, list | tuple) and all(isinstance(url, str) for url in value)
        wanted = "a list of texts"
    elif key == "engine":
        good, wanted = isinstance(value, Mapping), "a table"
    elif key == "retry_quarantined":
        good, wanted = isinstance(value, bool), "true or false"
    else:
        good, wanted = isinstance(value, int | float) and not isinstance(value, bool), "a number"
    if not good:
        raise SaberError(f"{where}: {key} must be {wanted}.")


def _check_choice(where: str, key: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise SaberError(f"{where}: {key} must be one of {', '.join(choices)}.")
