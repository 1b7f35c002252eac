"""Cutting texts for a server: by the model's own tokeniser file, or by the server's ``/tokenize``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from annotate.retrieval.dense.encoder import consecutive, cut_text
from warehouse.errors import SaberError

_SPECIAL_BYTES = 16  # more than any tokeniser adds to a text


class Cutter(Protocol):
    """Cuts a text that is longer than a model's context.

    Attributes
    ----------
    context_tokens
        Tokens of one text, special ones included.
    """

    context_tokens: int

    def cut(self, text: str, prefix: str) -> list[str]:
        """Return non-overlapping pieces that fit together with the prefix; the prefix is not in them."""
        ...


def surely_fits(text: str, prefix: str, context_tokens: int) -> bool:
    """Say whether a text is so short that it fits whatever the tokeniser: a token is at least one byte."""
    return len((prefix + text).encode("utf-8", "surrogatepass")) + _SPECIAL_BYTES <= context_tokens


class FileCutter:
    """Cuts with a ``tokenizer.json``."""

    def __init__(self, path: Path, context_tokens: int) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise SaberError(
                f"Cutting long texts needs the package tokenizers ({error}). Install the extra: "
                "pip install 'saber-warehouse[embeddings]'"
            ) from error
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare exceptions
            raise SaberError(f"The tokeniser {path} cannot be read: {error}.") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.context_tokens = context_tokens

    def cut(self, text: str, prefix: str) -> list[str]:
        """Cut at the borders of tokens."""
        special = self._tokenizer.num_special_tokens_to_add(False)
        size = room(self.context_tokens, special + len(self._spans(prefix)))
        return cut_text(text, self._spans, size)

    def _spans(self, text: str) -> list[tuple[int, int]]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)


class Tokens(Protocol):
    """A server's tokeniser."""

    def ids(self, text: str, special: bool) -> list[int]:
        """Return the ids of a text's tokens."""
        ...

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of some ids."""
        ...


class ServerCutter:
    """Cuts with the server's tokeniser: ids are cut, and the pieces are their texts."""

    def __init__(self, tokens: Tokens, context_tokens: int) -> None:
        self._tokens = tokens
        self.context_tokens = context_tokens

    def cut(self, text: str, prefix: str) -> list[str]:
        """Cut by ids; pieces that would be longer standing alone are halved."""
        whole = self._tokens.ids(prefix + text, True)
        if len(whole) <= self.context_tokens:
            return [text]
        ids = self._tokens.ids(text, False)
        special = len(self._tokens.ids(prefix, True))
        size = room(self.context_tokens, special)
        return [piece for chunk in consecutive(ids, size) for piece in self._fitting(chunk, prefix)]

    def _fitting(self, ids: Sequence[int], prefix: str) -> list[str]:
        piece = self._tokens.text(ids)
        if len(self._tokens.ids(prefix + piece, True)) <= self.context_tokens:
            return [piece]
        if len(ids) == 1:
            raise SaberError(
                f"A text cannot be cut into pieces of {self.context_tokens} tokens. Raise context_tokens."
            )
        middle = len(ids) // 2
        return self._fitting(ids[:middle], prefix) + self._fitting(ids[middle:], prefix)


def room(context_tokens: int, taken: int) -> int:
    """Return the tokens left for text when prefix and special tokens take `taken`; none is an error."""
    if context_tokens - taken < 1:
        raise SaberError(f"Prefix and special tokens take {taken} of {context_tokens} tokens. Raise context_tokens.")
    return context_tokens - taken


def server_tokens_from(reply: Any) -> list[int] | None:
    """Read a reply of ``/tokenize``; None when it is of another form."""
    tokens = reply.get("tokens") if isinstance(reply, dict) else None
    if not isinstance(tokens, list) or not all(isinstance(token, int) for token in tokens):
        return None
    return tokens
