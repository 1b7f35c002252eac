"""The comparing judge of the offline provider.

Where the query and all candidates carry technique labels in their metadata (``{"techniques": [...]}``), the
overlap of the labels decides, and texts only break ties. Otherwise texts decide: shared techniques that the
wording gives away, shared words, and shared topics where the problem records bring them. The second kind flatters
lexical retrieval systems, which look at the same words; the two have different judge names for that reason.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.providers.offline_cues import PASSING_WORDS
from annotate.providers.offline_techniques import techniques_in
from annotate.providers.offline_text import stem, text_words

Problem = Mapping[str, Any]

TECHNIQUES_JUDGE = "offline-techniques"
SIMILARITY_JUDGE = "offline-similarity"

_MAIN_TECHNIQUE = 0.25
_WEIGHTS = {"techniques": 0.5, "words": 0.3, "topics": 0.2}
_KEPT = 50_000


@dataclass(frozen=True)
class _Profile:
    labels: tuple[str, ...]
    techniques: Mapping[str, float]
    words: Mapping[str, float]
    topics: frozenset[str]


def judge_name(*problems: Problem) -> str:
    """Return which judge the offline provider is for these problems: by labels only where all have them."""
    return TECHNIQUES_JUDGE if all(technique_labels(problem) for problem in problems) else SIMILARITY_JUDGE


def technique_labels(problem: Problem) -> tuple[str, ...]:
    """Return the technique labels in a problem's metadata, the main one first; () without any."""
    try:
        labels = json.loads(problem.get("metadata") or "{}").get("techniques") or ()
    except (ValueError, AttributeError):
        return ()
    if isinstance(labels, str):
        labels = labels.split(",")
    if not isinstance(labels, list | tuple):
        return ()
    return tuple(label.strip().lower() for label in labels if isinstance(label, str) and label.strip())


class OfflineJudge:
    """Compares problems; profiles of recently seen problems are kept."""

    def __init__(self) -> None:
        self._profiles: OrderedDict[str, _Profile] = OrderedDict()

    def compare(self, facts: Mapping[str, Any]) -> str:
        r"""Say which candidate is closer to the query; the reply ends with ``\boxed{1}`` or ``\boxed{2}``."""
        query, first, second = facts["query"], facts["first"], facts["second"]
        name = self._name(facts, query, first, second)
        one, two = self._closeness(name, query, first), self._closeness(name, query, second)
        if one == two:
            # Neither the order shown nor chance may decide a tie: the same candidate wins it both ways round.
            one, two = _lot(query, first), _lot(query, second)
            words = "equal; decided by lot"
        else:
            words = f"{_shown(one)} against {_shown(two)}"
        winner = 1 if one >= two else 2
        return f"{name}: similarity to the target {words}. \\boxed{{{winner}}}"

    def grade(self, facts: Mapping[str, Any]) -> str:
        r"""Grade one candidate from 0 to 100; the reply ends with ``\boxed{grade}``."""
        query, document = facts["query"], facts["document"]
        name = self._name(facts, query, document)
        closeness = self._closeness(name, query, document)
        grade = round(100 * min(1.0, closeness[0] / (1 + _MAIN_TECHNIQUE) + closeness[1] / 100))
        return f"{name}: similarity to the target {_shown(closeness)}. \\boxed{{{grade}}}"

    def _name(self, facts: Mapping[str, Any], *problems: Problem) -> str:
        return SIMILARITY_JUDGE if facts.get("judge") == SIMILARITY_JUDGE else judge_name(*problems)

    def _closeness(self, name: str, query: Problem, document: Problem) -> tuple[float, float]:
        """Return (deciding similarity, tie-breaking similarity)."""
        asked, offered = self._profile(query), self._profile(document)
        text = _text_similarity(asked, offered)
        if name == SIMILARITY_JUDGE:
            return text, 0.0
        shared, union = set(asked.labels) & set(offered.labels), set(asked.labels) | set(offered.labels)
        main = _MAIN_TECHNIQUE * (asked.labels[0] == offered.labels[0])
        return len(shared) / len(union) + main, text

    def _profile(self, problem: Problem) -> _Profile:
        key = f"{problem['problem_id']}\x1f{problem['content_hash']}"
        if key not in self._profiles:
            self._profiles[key] = _describe(problem)
            if len(self._profiles) > _KEPT:
                self._profiles.popitem(last=False)
        return self._profiles[key]


def _describe(problem: Problem) -> _Profile:
    statement, solution = problem["statement"] or "", problem["solution"] or ""
    counts = Counter(text_words(f"{statement} . {solution}"))
    words = {
        word: (0.3 if word in _PASSING else 1.0) * (1 + math.log(count))
        for word, count in counts.items()
        if len(word) > 2
    }
    techniques = {name: 1 + math.log(count) for name, count in techniques_in(solution or statement).items()}
    topics = frozenset(_with_ancestors(problem.get("topics") or ()))
    return _Profile(technique_labels(problem), techniques, words, topics)


def _text_similarity(one: _Profile, two: _Profile) -> float:
    parts = {
        "techniques": _cosine(one.techniques, two.techniques),
        "words": _cosine(one.words, two.words),
    }
    if one.topics and two.topics:
        parts["topics"] = len(one.topics & two.topics) / len(one.topics | two.topics)
    weight = sum(_WEIGHTS[name] for name in parts)
    return round(sum(_WEIGHTS[name] * part for name, part in parts.items()) / weight, 6)


def _cosine(one: Mapping[str, float], two: Mapping[str, float]) -> float:
    if not one or not two:
        return 0.0
    dot = math.fsum(weight * two[key] for key, weight in one.items() if key in two)
    return dot / math.sqrt(math.fsum(w * w for w in one.values()) * math.fsum(w * w for w in two.values()))


def _with_ancestors(topics: Sequence[str]) -> list[str]:
    return ["/".join(topic.split("/")[:depth]) for topic in topics for depth in range(1, topic.count("/") + 2)]


def _lot(query: Problem, document: Problem) -> tuple[float, float]:
    text = f"{query['problem_id']}\x1f{document['problem_id']}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2.0**48, 0.0


def _shown(closeness: tuple[float, float]) -> str:
    return " / ".join(f"{part:.3f}" for part in closeness)


_PASSING = {stem(word) for word in PASSING_WORDS}
