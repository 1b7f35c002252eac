"""How many tokens a prompt has, without the model's tokenizer: a rough estimate, and it says so.

Four bytes of UTF-8 a token is close for English prose (about 4.2 characters) and low for LaTeX (2.5 to 3) and
most other scripts, so a server that counts less than half of it has not read the whole prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil

_BYTES_PER_TOKEN = 4.0
_TOKENS_PER_MESSAGE = 4
_TRUNCATED_BELOW = 0.5
_TOO_SHORT_TO_TELL = 256


def estimate_tokens(messages: Iterable[Mapping[str, str]]) -> int:
    """Estimate the prompt tokens of chat messages; runs of white space count as one character."""
    total = 0
    for message in messages:
        text = message.get("content") or ""
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if "  " in text:
            size = len(" ".join(text.split()).encode("utf-8", "replace"))
        total += ceil(size / _BYTES_PER_TOKEN) + _TOKENS_PER_MESSAGE
    return total


def looks_truncated(estimated: int, counted: int | None) -> bool:
    """Say whether a server that counted `counted` prompt tokens has cut a prompt of `estimated` tokens."""
    if counted is None or counted <= 0 or estimated < _TOO_SHORT_TO_TELL:
        return False
    return counted < _TRUNCATED_BELOW * estimated
