"""Finding out which kind of structured output a server obeys: asked once, landed like any call.

Some servers refuse what they do not know, others ignore it in silence, so the probe asks for a greeting in a
form in which nobody greets: only an enforced form comes back as asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from annotate.calls.validate import InvalidReply, parse_choice, parse_structured
from annotate.providers.base import Ask, Reply, Request
from annotate.providers.chat import (
    JSON_SCHEMA,
    JSON_SCHEMA_PLAIN,
    MODE,
    PROMPT,
    STRUCTURED_OUTPUTS,
    without_bounds,
)
from annotate.providers.failures import CONTEXT_EXCEEDED, Fault, fault, meaning
from warehouse.errors import SaberError

PURPOSE = "probe"
_VERSION = "probe@2"
_MESSAGES = ({"role": "user", "content": "Greet the reader in one short friendly sentence."},)
# Every keyword that the jobs' schemas use: a service may know schemas and yet refuse some of them.
_SCHEMA = {
    "type": "object",
    "properties": {
        "form": {"type": "string", "enum": ["kept"]},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "words": {"type": "array", "items": {"type": "string", "maxLength": 12}, "maxItems": 2},
        "flag": {"type": ["boolean", "null"]},
    },
    "required": ["form", "share", "words", "flag"],
    "additionalProperties": False,
}
_CHOICES = ("form-kept", "form-held")
MAX_TOKENS = 1024  # models that reason first need room for it


async def probe_schema(ask: Ask, max_tokens: int = MAX_TOKENS) -> str:
    """Return the first mode under which the server keeps to a JSON schema, else ``prompt``."""
    for mode in (JSON_SCHEMA, STRUCTURED_OUTPUTS, JSON_SCHEMA_PLAIN):
        params = {"max_tokens": max_tokens, MODE: mode}
        reply = await ask(Request(PURPOSE, _VERSION, _MESSAGES, params, schema=_SCHEMA))
        schema = without_bounds(_SCHEMA) if mode == JSON_SCHEMA_PLAIN else _SCHEMA
        if _kept(reply, partial(parse_structured, schema=schema)):
            return mode
    return PROMPT


async def probe_choices(ask: Ask, max_tokens: int = MAX_TOKENS) -> str:
    """Return ``structured_outputs`` when the server keeps to a set of choices, else ``prompt``."""
    params = {"max_tokens": max_tokens, MODE: STRUCTURED_OUTPUTS}
    reply = await ask(Request(PURPOSE, _VERSION, _MESSAGES, params, choices=_CHOICES))
    return STRUCTURED_OUTPUTS if _kept(reply, partial(parse_choice, choices=_CHOICES)) else PROMPT


def _kept(reply: Reply, parse: Callable[[str], object]) -> bool:
    if fault(reply.error) is Fault.SERVICE:
        raise SaberError(
            f"The server did not answer the probe for structured output: {meaning(reply.error or '')}. Run again "
            "when it is up, or set structured_output in the provider's profile."
        )
    if reply.error == CONTEXT_EXCEEDED:
        raise SaberError(
            "The model's context is too small for the probe for structured output. Lower max_tokens in the "
            "provider's profile: the probe asks for no more than that."
        )
    if reply.error is not None or reply.text is None:
        return False
    try:
        parse(reply.text)
    except InvalidReply:
        return False
    return True
