"""Extractive summary of the offline provider: the best sentence of a solution, turned into a hint.

Sentences are scored by what hints have (an instruction, a named technique, words of method) and what they have
not (formulas, numbers, the answer, words repeated from the statement). The winner is put in the imperative
where its form allows. A solution with nothing to extract has no core idea. Every step is a rule: the summary is
as good as the sentence that the author happened to write, and lands as provider ``offline``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from annotate.providers.offline_cues import FUNCTION_WORDS, PASSING_WORDS
from annotate.providers.offline_imperative import imperative, is_instruction
from annotate.providers.offline_prose import FORMULA_WORDS, sentences
from annotate.providers.offline_techniques import TECHNIQUES, techniques_in
from annotate.providers.offline_text import stem, text_words
from annotate.summaries.reading import RuleBroken, Summary, check_rules

MAX_WORDS = 30
_FEWEST_CONTENT_WORDS = 3
_TRIVIAL_WORDS = 6

_METHOD = re.compile(
    r"\b(?:us(?:e|es|ing)|appl(?:y|ies|ying)|by|factor\w*|substitut\w*|consider\w*|observ\w*|not(?:e|ice)\w*|recall"
    r"|theorem|formula|lemma|identity|principle|propert\w+|rewrit\w*|express\w*|count\w*|multipl\w+|subtract\w*"
    r"|add\w*|divid\w*|squar\w*|symmetr\w+|induct\w+|cases?|construct\w*|draw\w*|extend\w*|reflect\w*|bound\w*"
    r"|compar\w*|choos\w*|choice|since|because|must|only if|whenever|for every|for each)\b",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\b(?:answer|boxed|in total|final(?:ly)?|for a total|we are done|as desired|total of|desired)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![A-Za-z])\d[\d.,]*")
_REFERENCE = re.compile(
    r"^(?:it|this|that|these|those|they|he|she|his|her|similarly|likewise|note:)\b|\b(?:above|following|earlier|previous\w*)\b"
    r"|\buse this\b",
    re.IGNORECASE,
)
_FORMULA = re.compile("|".join(sorted(FORMULA_WORDS, key=len, reverse=True)))


def summarise(statement: str, solution: str) -> dict[str, Any]:
    """Summarise one solution; the result has the keys of the summary prompt's schema."""
    said = set(text_words(statement))
    named = techniques_in(solution)
    techniques = sorted(named, key=lambda name: (-named[name], name))
    found = sentences(solution)
    keywords = _keywords(found, techniques)
    worths = [_worth(text, position / len(found), said, named) for position, text in enumerate(found)]
    best = max(range(len(found)), key=lambda i: (worths[i], -i), default=None)
    if best is None or len(_content_words(found[best])) < _FEWEST_CONTENT_WORDS:
        hint, worth = _named_hint(techniques), 0.0
    else:
        hint, worth = _with_technique(imperative(found[best]), techniques), worths[best]
    hint = hint if _keeps_rules(shorten(hint)) else _named_hint(techniques)
    prose = sum(len(_content_words(sentence)) for sentence in found)
    if not hint or (prose < _TRIVIAL_WORDS and not techniques):
        return _result(True, None, [], keywords, 0.5)
    confidence = round(min(0.9, max(0.1, 0.3 + 0.1 * worth)), 2)
    return _result(False, shorten(hint), techniques[:3], keywords, confidence)


def _keeps_rules(hint: str) -> bool:
    """Say whether a hint passes the check that models' summaries have to pass."""
    try:
        check_rules(Summary(hint, (), (), False, 1.0))
    except RuleBroken:
        return False
    return True


def _named_hint(techniques: Sequence[str]) -> str:
    """Return "Use factoring and parity" where no sentence has anything to say; "" without a technique."""
    return f"Use {' and '.join(techniques[:2])}" if techniques else ""


def _with_technique(hint: str, techniques: Sequence[str]) -> str:
    """Name the solution's main technique in a hint that names no means: "Use parity to show that ..."."""
    if techniques and hint.startswith("Show that ") and techniques[0] not in hint.lower():
        return f"Use {techniques[0]} to show that {hint.removeprefix('Show that ')}"
    return hint


def shorten(sentence: str, limit: int = MAX_WORDS) -> str:
    """Cut a sentence to ``limit`` words, at its last clause boundary where one comes late enough."""
    words = sentence.split()
    if len(words) > limit:
        words = words[:limit]
        boundary = max((i for i, word in enumerate(words, 1) if word[-1] in ",;:"), default=0)
        words = words[:boundary] if boundary >= limit // 2 else words
    while len(words) > 1 and words[-1].lower().strip(",;:") in FUNCTION_WORDS:
        words = words[:-1]
    return " ".join(words).rstrip(" ,;:") + "."


def _worth(sentence: str, position: float, said: set[str], named: Iterable[str]) -> float:
    content = _content_words(sentence)
    formulas = len(_FORMULA.findall(sentence))
    repeated = sum(word in said for word in content) / max(1, len(content))
    return (
        2.0 * is_instruction(sentence)
        + 0.8 * min(2, len(_METHOD.findall(sentence)))
        + 1.0 * min(2, sum(bool(TECHNIQUES[name].search(sentence)) for name in named))
        + 0.15 * min(8, len(content))
        - 0.6 * min(4, formulas)
        - 0.3 * min(4, len(_NUMBER.findall(sentence)))
        - 1.5 * bool(_ANSWER.search(sentence))
        - 1.0 * repeated
        - 0.7 * bool(_REFERENCE.search(sentence))
        - 2.0 * (len(content) < _FEWEST_CONTENT_WORDS)
        - 0.05 * max(0, len(sentence.split()) - MAX_WORDS)
        - 0.4 * position
    )


def _content_words(sentence: str) -> list[str]:
    return [word for word in text_words(_FORMULA.sub(" ", sentence)) if len(word) > 2]


def _keywords(found: Sequence[str], techniques: Sequence[str]) -> list[str]:
    """Up to five phrases of one or two words: techniques first, then the solution's most used content words."""
    short = [name for name in techniques if len(name.split()) <= 2][:3]
    counts: dict[str, int] = {}
    for sentence in found:
        for word in re.findall(r"[a-z]{4,}", sentence.lower()):
            if word not in FUNCTION_WORDS and stem(word) not in _PASSING and f" {word}" not in _FORMULA_TEXT:
                counts[word] = counts.get(word, 0) + 1
    common = sorted(counts, key=lambda word: (-counts[word], word))
    return (short + [word for word in common if not any(word in name for name in short)])[:5]


def _result(
    none: bool, idea: str | None, supporting: list[str], keywords: list[str], confidence: float
) -> dict[str, Any]:
    return {
        "noCoreIdea": none,
        "coreIdea": idea,
        "supportingIdeas": supporting,
        "keywords": keywords,
        "confidence": confidence,
    }


_PASSING = {stem(word) for word in PASSING_WORDS}
_FORMULA_TEXT = " ".join(sorted(FORMULA_WORDS))
