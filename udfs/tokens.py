"""Token sets of solution summaries: what the Jaccard similarity compares.

Two tokenisers are named in the settings:

``unicode``
    NFKC, lower case, then every maximal run of letters and digits (Unicode categories L* and N*).
    ``x_1`` gives ``x`` and ``1``; full-width, ligature and superscript forms meet their plain ones.
``published``
    Maximal runs of ``a-z A-Z 0-9 ^ _`` in the text as it stands, then lower case. Accented and
    non-Latin letters separate tokens; ``x^2`` stays whole.

After either one the stop words are dropped, whatever their case was.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import TypeAlias

import pyarrow as pa

from udfs.stop_words import stop_words

Texts: TypeAlias = "pa.Array | pa.ChunkedArray"
Tokeniser: TypeAlias = Callable[[str], list[str]]

# In Python's re, \w is exactly categories L and N and the underscore (a test walks all code points).
_LETTERS_AND_DIGITS = re.compile(r"[^\W_]+")
_PUBLISHED_TOKEN = re.compile(r"[a-zA-Z0-9^_]+")


def unicode_words(text: str) -> list[str]:
    """Lower-case runs of letters and digits of the NFKC form, in reading order, repeats included."""
    # ASCII is its own NFKC form; most summaries are ASCII, so the check pays.
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _LETTERS_AND_DIGITS.findall(normal.lower())


def published_words(text: str) -> list[str]:
    """Lower-case runs of ``[a-zA-Z0-9^_]``, in reading order, repeats included.

    Lower-casing comes last: the Kelvin sign would otherwise turn into an ASCII ``k``.
    """
    return [word.lower() for word in _PUBLISHED_TOKEN.findall(text)]


TOKENISERS: dict[str, Tokeniser] = {"unicode": unicode_words, "published": published_words}


def summary_tokens(texts: Texts, tokeniser: str) -> pa.ListArray:
    """Sorted distinct tokens of each text.

    Parameters
    ----------
    texts : Array or ChunkedArray of string, length n
    tokeniser : {"unicode", "published"}

    Returns
    -------
    ListArray of list<string>, length n
        Tokens in code point order. A NULL text gives NULL; a text without a token left gives an
        empty list.

    Raises
    ------
    ValueError
        For a tokeniser of another name.
    """
    words = _named_tokeniser(tokeniser)
    ignored = stop_words()
    chunks = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    lists = [
        None if text is None else sorted(set(words(text)) - ignored) for chunk in chunks for text in chunk.to_pylist()
    ]
    return pa.array(lists, type=pa.list_(pa.string()))


def summary_tokens_function(tokeniser: str) -> Callable[[pa.ChunkedArray], pa.ListArray]:
    """`summary_tokens` of one argument, for ``create_function(..., type="arrow")``.

    The function keeps no state between calls, so DuckDB may call it from several threads. Register
    it as ``(VARCHAR) -> VARCHAR[]``; NULL texts may be passed or held back by the engine.
    """
    _named_tokeniser(tokeniser)

    # A closure, not functools.partial: DuckDB counts the parameters of the signature.
    def tokens_of(texts: pa.ChunkedArray) -> pa.ListArray:
        return summary_tokens(texts, tokeniser)

    return tokens_of


def _named_tokeniser(name: str) -> Tokeniser:
    if name not in TOKENISERS:
        raise ValueError(f"Unknown tokeniser {name!r}. Use one of: {', '.join(sorted(TOKENISERS))}.")
    return TOKENISERS[name]
