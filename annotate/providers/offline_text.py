"""Words of ontology labels and of problem texts, brought to one form for the offline provider.

Labels such as ``ChineseRemainderTheorem`` are split at their capitals; LaTeX commands give words too
(``\\binom`` speaks of binomial coefficients). Stemming is light: plurals, -ing, -ed and a final e.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from annotate.providers.offline_cues import FAMILIES, FUNCTION_WORDS, IRREGULAR, LATEX_WORDS, PATTERNS

BREAK = ""
"""Stands between phrases (sentence ends, formulas): words on both sides of it are no neighbours."""

_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|[0-9]+")
_GLUED = re.compile(r"([A-Z]?[a-z]{2,}?)(andthe|ofthe|inthe|tothe|forthe|ofa|ina|and|of|in|for|to|with|the|from)")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|[.;:!?,()\[\]]")
_COMMAND = re.compile(r"\\([a-zA-Z]+)\*?")
_DIAGRAM = re.compile(r"\[asy\].*?\[/asy\]|\\begin\{tikzpicture\}.*?\\end\{tikzpicture\}", re.DOTALL)
_TEXT_IN_MATH = re.compile(r"\\(?:text|textbf|textit|mathrm|mbox|emph|operatorname)\s*\*?\s*\{([^{}]*)\}")
_MATH = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|\\\(.*?\\\)|\\\[.*?\\\]|\\begin\{(\w+\*?)\}.*?\\end\{\1\}", re.DOTALL)
_MARKUP = re.compile(r"\[/?[a-z]+\*?\]|<[^<>]{1,80}>|https?://\S+")


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the light stem of one word: lower case, no accents, no plural, -ing, -ed or final e."""
    word = unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode().lower()
    word = word.removesuffix("'s").replace("'", "")
    if word in IRREGULAR:
        return IRREGULAR[word]
    for prefix, family in FAMILIES.items():
        if word.startswith(prefix):
            return family
    return _strip_suffix(_strip_plural(word))


def _strip_plural(word: str) -> str:
    if len(word) <= 3 or word.endswith(("ss", "us", "is")) or not word.endswith("s"):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    return word[:-1]


def _strip_suffix(word: str) -> str:
    for suffix in ("ing", "ed"):
        base = word.removesuffix(suffix)
        if base != word and len(base) >= 3 and any(vowel in base for vowel in "aeiouy"):
            doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz"
            word = base[:-1] if doubled else base
            break
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def camel_words(label: str) -> list[str]:
    """Split a label at capitals, digits and punctuation: ``Non-EuclideanGeometry`` gives three words."""
    folded = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode()
    return _CAMEL.findall(folded.replace("'", ""))


class LabelSplitter:
    """Split labels into words, also where a small word is glued on (``CalculusandAnalysis``).

    ``Calculusand`` becomes ``Calculus and`` because ``Calculus`` is a word of some label, while
    ``Island`` stays whole: ``Isl`` is none.
    """

    def __init__(self, labels: Iterable[str]) -> None:
        self._known = {stem(word) for label in labels for word in camel_words(label)}

    def words(self, label: str) -> list[str]:
        """Return the stemmed words of ``label`` without function words."""
        result: list[str] = []
        camel = camel_words(label)
        for position, word in enumerate(camel):
            glued = _GLUED.fullmatch(word) if position + 1 < len(camel) else None
            if glued and (stem(glued[1]) in self._known or len(glued[1]) > 4):
                word = glued[1]
            if len(word) == 1 or word.lower() not in FUNCTION_WORDS:
                result.append(stem(word))
        return result


def features(words: Iterable[str]) -> Iterator[str]:
    """Yield each word and each pair of neighbours (``right_triangle``); a break parts neighbours."""
    previous = BREAK
    for word in words:
        if word:
            yield word
            if previous:
                yield f"{previous}_{word}"
        previous = word


def text_words(text: str) -> list[str]:
    """Return the stemmed words of a problem text in order, with breaks, without formulas."""
    plain = _MARKUP.sub(" ", _MATH.sub(" . ", _TEXT_IN_MATH.sub(r" \1 ", _DIAGRAM.sub(" . ", text))))
    plain = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode().lower()
    result: list[str] = []
    for word in _WORD.findall(_COMMAND.sub(" . ", plain).replace("-", " ")):
        if not word[0].isalpha():
            result.append(BREAK)
        elif word not in FUNCTION_WORDS:
            result.append(stem(word) if len(word) > 1 else BREAK)
    return result


def notation_words(text: str) -> list[list[str]]:
    """Return the stemmed phrases that a text's LaTeX commands and notation stand for, one an occurrence."""
    bare = _DIAGRAM.sub(" ", text)
    found = [_LATEX[name] for name in _COMMAND.findall(bare) if name in _LATEX]
    for pattern, phrase in _PATTERNS:
        found.extend([phrase] * len(pattern.findall(bare)))
    return found


_LATEX = {name: text_words(phrase) for name, phrase in LATEX_WORDS.items()}
_PATTERNS = [(pattern, text_words(phrase)) for pattern, phrase in PATTERNS]
