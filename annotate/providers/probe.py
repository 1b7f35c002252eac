"""Finding out which kind of structured output a server obeys: asked once, landed like any call.

Some servers refuse what they do not know, others ignore it in silence, so the probe asks for a greeting in a
form in which nobody greets: only an enforced form comes back as asked.
"""

from __future__ import annotations

from annotate.calls.validate import InvalidReply, parse_choice, parse_structured
from annotate.providers.base import Ask, Reply, Request
from annotate.providers.chat import JSON_SCHEMA, MODE, PROMPT, STRUCTURED_OUTPUTS
from annotate.providers.failures import Fault, fault, meaning
from warehouse.errors import SaberError

PURPOSE = "probe"
_VERSION = "probe@1"
_MESSAGES = ({"role": "user", "content": "Greet the reader in one short friendly sentence."},)
_SCHEMA = {
    "type": "object",
    "properties": {"form": {"type": "string", "enum": ["kept"]}},
    "required": ["form"],
    "additionalProperties": False,
}
_CHOICES = ("form-kept", "form-held")
_MAX_TOKENS = 1024


async def probe_schema(ask: Ask) -> str:
    """Return the first mode under which the server keeps to a JSON schema, else ``prompt``."""
    for mode in (JSON_SCHEMA, STRUCTURED_OUTPUTS):
        params = {"max_tokens": _MAX_TOKENS, MODE: mode}
        reply = await ask(Request(PURPOSE, _VERSION, _MESSAGES, params, schema=_SCHEMA))
        if _kept(reply, schema=True):
            return mode
    return PROMPT


async def probe_choices(ask: Ask) -> str:
    """Return ``structured_outputs`` when the server keeps to a set of choices, else ``prompt``."""
    params = {"max_tokens": _MAX_TOKENS, MODE: STRUCTURED_OUTPUTS}
    reply = await ask(Request(PURPOSE, _VERSION, _MESSAGES, params, choices=_CHOICES))
    return STRUCTURED_OUTPUTS if _kept(reply, schema=False) else PROMPT


def _kept(reply: Reply, schema: bool) -> bool:
    if fault(reply.error) is Fault.SERVICE:
        raise SaberError(
            f"The server did not answer the probe for structured output: {meaning(reply.error or '')}. Run again "
            "when it is up, or set structured_output in the provider's profile."
        )
    if reply.error is not None or reply.text is None:
        return False
    try:
        if schema:
            parse_structured(reply.text, _SCHEMA)
        else:
            parse_choice(reply.text, _CHOICES)
    except InvalidReply:
        return False
    return True
