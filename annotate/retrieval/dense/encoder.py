"""What turns texts into vectors, and how a text longer than its context is cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from warehouse.errors import SaberError

Part = TypeVar("Part")


class Encoded(NamedTuple):
    """The vector of one piece.

    Attributes
    ----------
    position
        Position of the piece among those given.
    vector
        As the model gives it, shape (width,).
    seconds
        Time it took: the whole call's, divided by the pieces in it.
    """

    position: int
    vector: npt.NDArray[np.float32]
    seconds: float


class EncodingError(Exception):
    """The model gave no vectors for some pieces.

    Attributes
    ----------
    positions
        Of these pieces among those given.
    reason
        What the user should know, without secrets.
    """

    def __init__(self, positions: Sequence[int], reason: str) -> None:
        super().__init__(reason)
        self.positions = positions
        self.reason = reason


class Encoder(Protocol):
    """A model of vectors.

    Attributes
    ----------
    identity
        Everything its vectors depend on; vectors are cached under its hash. Never holds a secret.
    width
        Numbers in a vector; None = as the first one shows.
    """

    identity: Mapping[str, Any]
    width: int | None

    def pieces(self, text: str, prefix: str) -> list[Any]:
        """Cut a text into non-overlapping pieces that fit the context, each led by `prefix`; at least one."""
        ...

    def encode(self, pieces: Sequence[Any]) -> Iterator[Encoded]:
        """Yield the vector of every piece, in any order."""
        ...


def consecutive(parts: Sequence[Part], size: int) -> list[Sequence[Part]]:
    """Cut a sequence into consecutive, non-overlapping chunks of at most `size`; an empty one is one chunk.

    Raises
    ------
    ValueError
        When `size` is below 1.
    """
    if size < 1:
        raise ValueError("a chunk must hold at least one token")
    return [parts[start : start + size] for start in range(0, max(len(parts), 1), size)]


def cut_text(text: str, spans: Callable[[str], Sequence[tuple[int, int]]], size: int) -> list[str]:
    """Cut a text into consecutive slices of at most `size` tokens, at the borders of tokens.

    A slice alone may have more tokens than it had within its text (a word cut in two is spelt otherwise), so
    each is counted again and shortened until it fits. Nothing but white space between slices is lost.

    Parameters
    ----------
    text
        The text.
    spans
        Returns (start, end) of every token of a text, in characters.
    size
        Most tokens a slice may have.

    Raises
    ------
    SaberError
        When a single token is, standing alone, more than `size` tokens.
    """
    slices: list[str] = []
    rest = text
    while True:
        found = spans(rest)
        if len(found) <= size:
            return [*slices, rest] if found or not slices else slices
        take = size
        while take > 1 and len(spans(rest[: found[take - 1][1]])) > size:
            take -= 1
        end = found[take - 1][1]
        if len(spans(rest[:end])) > size or end <= 0:
            raise SaberError(f"A text cannot be cut into pieces of {size} tokens. Raise context_tokens.")
        slices.append(rest[:end])
        rest = rest[end:].lstrip()
