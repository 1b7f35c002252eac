"""Statements as token arrays: LaTeX and typography unified, and told apart what may vary and what may not.

Two statements are the same problem only if everything **hard** is equal and in the same order: numbers (as
digits or words), variables, operators, LaTeX commands, names of points, and words whose exchange makes another
problem (maximum and minimum, sum and product, even and odd). Everything else is **soft** and may be reworded.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warehouse.deduplication.words import HARD_WORDS, NUMBER_WORDS, SAME

Hashes = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Offsets = NDArray[np.int64]

# Scripts without spaces between words go by single characters.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
# Words of Latin letters first: they are most of the text. Punctuation matches nothing and is passed over.
_TOKEN = re.compile(
    r"[A-Za-z\u00c0-\u024f]+\d*(?:['’][a-z]+|'+)?|\\[A-Za-z]+|\d+(?:,\d{3}(?!\d))*(?:\.\d+)?"
    rf"|[=+*/<>^|!%(){{}}\[\]-]|[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+\d*|[^\w\s!-~]"
)
# Braces are notation where they hold one thing (x^{2}), layout where they hold words (\\text{if}), and meaning
# everywhere else: 2^{n+1} is not 2^n+1.
_TEXT_GROUP = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|emph|mbox|hbox|mathrm|operatorname\*?|label|underline)\s*\{([^{}]*)\}"
)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[a-zA-Z]+\*?\}(?:\s*\{[lcr|@ ]*\})?|\\(?:left|right)\s*\.")
_SINGLE_GROUP = re.compile(r"(?<!\\)\{\s*(\\?[A-Za-z]+|\d+(?:\.\d+)?|[^\s{}\\])\s*\}")
_DELIMITER = re.compile(r"(?<!\\)\\[()\[\]]")
_NESTED = re.compile(r"\{\s*\{")
# Commands of layout and text, and signs that only punctuate: two copies of a problem differ in them freely.
_LAYOUT_COMMANDS = (
    r"\left \right \displaystyle \textstyle \scriptstyle \limits \nolimits \big \bigl \bigr \bigg \biggl "
    r"\biggr \bigm \middle \quad \qquad \text \textbf \textit \textrm \textsf \texttt \mathrm \mathbf \mathit "
    r"\mathsf \mathnormal \operatorname \emph \mbox \hbox \rm \bf \it \tt \em \displaylimits \noindent \par "
    r"\hspace \vspace \hfill \label \boldsymbol \bm \begin \end \underline \ensuremath \phantom \hphantom "
    r"\vphantom \mathord \mathop \mathrel \mathbin \item \small \large \centering \newline \linebreak "
)
_LAYOUT = frozenset(_LAYOUT_COMMANDS.split())
_PUNCTUATION = frozenset("’‘“”…。，、；：？（）「」・—–।«»¿¡•")


@dataclass(frozen=True)
class TokenArrays:
    """The tokens of all statements one behind the other.

    Attributes
    ----------
    plain : (T,) uint64
        Hash of every token.
    masked : (T,) uint64
        The same with every number replaced by one sign.
    hard : (T,) bool
        Which tokens must agree.
    number : (T,) bool
        Which tokens are numbers.
    formula : (T,) bool
        Which tokens belong to no language: commands, operators, variables, names of points.
    starts : (N + 1,) int64
        Statement ``i`` owns tokens ``starts[i]:starts[i + 1]``.
    """

    plain: Hashes
    masked: Hashes
    hard: Flags
    number: Flags
    formula: Flags
    starts: Offsets


def plain_groups(text: str) -> str:
    r"""Take away what only delimits: ``\(x^{2}\)`` -> `` x^ 2  ``, ``\text{if }`` -> `` if ``."""
    if "\\" in text:
        text = _DELIMITER.sub(" ", text)
    if "{" not in text:
        return text
    if "\\" in text:
        text = _ENVIRONMENT.sub(" ", _TEXT_GROUP.sub(r" \1 ", text))
    nested = _NESTED.search(text) is not None
    text, count = _SINGLE_GROUP.subn(r" \1 ", text)
    while nested and count:
        text, count = _SINGLE_GROUP.subn(r" \1 ", text)
    return text


def tokenise(statements: Iterable[str]) -> TokenArrays:
    """Turn statements into token arrays."""
    seen: defaultdict[str, int] = defaultdict()
    seen.default_factory = seen.__len__
    look_up, find = seen.__getitem__, _TOKEN.findall
    ids: list[NDArray[np.int32]] = []
    counts: list[int] = []
    for statement in statements:
        found = find(plain_groups(unicodedata.normalize("NFKC", statement)))
        ids.append(np.fromiter(map(look_up, found), np.int32, len(found)))
        counts.append(len(found))
    flat = np.concatenate(ids) if ids else np.empty(0, np.int32)
    return _arrays(flat, np.asarray(counts, np.int64), list(seen))


class Meaning(NamedTuple):
    """What a token stands for."""

    form: str
    hard: bool = False
    number: bool = False
    formula: bool = False


def canonical(token: str) -> Meaning | None:
    """Say what a token means; None for layout and punctuation."""
    form = SAME.get(token, token)
    if not form or form in _LAYOUT or form in _PUNCTUATION:
        return None
    if form[0].isdigit():
        return Meaning(form.replace(",", ""), hard=True, number=True)
    if not form[0].isalpha() or (form.endswith("'") and len(form.rstrip("'")) == 1):
        return Meaning(form, hard=True, formula=True)  # commands, operators, relations, f'
    form = form.rstrip("'")
    word = form.casefold()
    if word in NUMBER_WORDS:
        return Meaning(NUMBER_WORDS[word], hard=True, number=True)
    letters = form.rstrip("0123456789")
    if len(letters) == 1 and len(form) <= 3 and letters.isascii():
        article = form in ("a", "A", "I")
        return Meaning(form, hard=not article, formula=not article)
    # "AB" and "ABC" name points, "MISSISSIPPI" is quoted.
    if letters.isascii() and letters.isupper():
        return Meaning(form, hard=True, formula=True)
    return Meaning(word, hard=word in HARD_WORDS)


def _arrays(flat: NDArray[np.int32], counts: NDArray[np.int64], vocabulary: list[str]) -> TokenArrays:
    size = len(vocabulary)
    plain, masked = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    hard, number, formula, kept = (np.zeros(size, np.bool_) for _ in range(4))
    any_number = token_hash("\x00number")
    for place, token in enumerate(vocabulary):
        meaning = canonical(token)
        if meaning is None:
            continue
        kept[place] = True
        plain[place] = token_hash(meaning.form)
        hard[place], number[place], formula[place] = meaning.hard, meaning.number, meaning.formula
        masked[place] = any_number if meaning.number else plain[place]
    keep = kept[flat]
    ends = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
    starts = ends[np.concatenate(([0], np.cumsum(counts)))]
    flat = flat[keep]
    return TokenArrays(plain[flat], masked[flat], hard[flat], number[flat], formula[flat], starts)


def token_hash(form: str) -> int:
    """The stable 64-bit hash of a token's form."""
    return int.from_bytes(hashlib.blake2b(form.encode("utf-8", "replace"), digest_size=8).digest(), "little")
