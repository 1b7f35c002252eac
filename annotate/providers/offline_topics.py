"""Lexical topic scorer of the offline provider: how much of a topic's label a problem's text says.

For problem p and topic t let y_w in [0, 1) be the saturated count of word w in p (statement twice the weight
of the solution, notation less) and u_w the rarity of w among the labels. Then

    M(p, t) = sum of y_w u_w over the words and neighbour pairs w of t's label      (how much is said)
    C(p, t) = M(p, t) / sum of u_w                                                  (how much of the label)
    own(p, t) = M * C^1.5

An inner node also hears the wording that speaks for its branch (:data:`BRANCH_CUES`) and sees the labels of
its subtree, discounted by each level, so that a traversal can find deep topics:

    seen(p, t) = max(own, own + 0.7 * max over children c of seen(p, c))

This is a keyword matcher, not a reader of mathematics; everything it scores lands as provider ``offline``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from annotate.providers.offline_cues import BRANCH_CUES, PASSING_WORDS, TOPIC_CUES
from annotate.providers.offline_text import LabelSplitter, features, notation_words, stem, text_words
from annotate.topics.tree import TopicTree

Scores = NDArray[np.float32]

SOLUTION_WEIGHT = 0.5
NOTATION_WEIGHT = 0.3
CUE_WEIGHT = 0.35
PASSING_WEIGHT = 0.3
PAIR_WEIGHT = 0.8
COVERAGE_POWER = 1.5
LEVEL_DISCOUNT = 0.7
NO_EVIDENCE = 0.03
"""Below this the best top-level branch is no better than chance words, and every score is zero."""

STOP_LEVEL = 0.1
"""A visited node scores at least this: children with weaker evidence are not worth the descent."""


class LexicalScorer:
    """Scores of problems against every topic of one tree."""

    def __init__(self, tree: TopicTree) -> None:
        self.tree = tree
        splitter = LabelSplitter(tree.labels)
        said = [list(dict.fromkeys(features(splitter.words(label)))) for label in tree.labels]
        frequency = Counter(word for words in said for word in words)
        self._column = {word: column for column, word in enumerate(frequency)}
        rarity = _rarity(frequency, len(tree))
        topic = np.repeat(np.arange(len(said)), [len(words) for words in said])
        column = np.array([self._column[word] for words in said for word in words], dtype=np.int64)
        shape = (len(frequency), len(tree))
        self._labels = sp.csr_matrix((rarity[column], (column, topic)), shape=shape, dtype=np.float32)
        total = np.asarray(self._labels.sum(axis=0)).ravel()
        self._label_total = np.where(total > 0, total, np.float32(1.0))
        self.inner = np.flatnonzero([bool(children) for children in tree.children])
        self._inner_labels = self._labels[:, self.inner].tocsr()
        self._branch_cues = self._cues(BRANCH_CUES)
        self._topic_cues = self._cues(TOPIC_CUES)
        self._families = _families(tree)

    def score(self, texts: Sequence[tuple[str, str]]) -> tuple[Scores, Scores]:
        """Score (statement, solution) texts against all topics.

        Returns
        -------
        seen : float32 array of shape (n, T)
            A topic's score as a candidate among its siblings; non-negative, unbounded.
        stop : float32 array of shape (n, topics with children)
            A topic's score in the call that visits it; columns as in ``inner``.
        """
        direct, cued = self._word_matrices(texts)
        seen = self._own(direct, self._labels, self._label_total)
        stop = np.maximum(seen[:, self.inner], np.float32(STOP_LEVEL))
        seen[:, self.inner] = self._own(cued, self._inner_labels, self._label_total[self.inner])
        self._add_subtrees(seen)
        return seen, stop

    def _own(self, words: sp.csr_matrix, labels: sp.csr_matrix, total: Scores) -> Scores:
        said: Scores = (words @ labels).toarray()
        return said * (said / total) ** np.float32(COVERAGE_POWER)

    def _add_subtrees(self, seen: Scores) -> None:
        """Let every topic see its subtree, deepest level first, in place; silence a text that says nothing."""
        for children, first, parents in self._families:
            best = np.maximum.reduceat(seen[:, children], first, axis=1)
            seen[:, parents] += np.float32(LEVEL_DISCOUNT) * best
        branches = list(self.tree.children[self.tree.start()])
        seen[seen[:, branches].max(axis=1) < NO_EVIDENCE] = 0.0

    def _cues(self, table: Mapping[str, str]) -> dict[str, list[int]]:
        """Turn {phrase: wording} into {cue in the text: columns of the phrase's words}."""
        cues: dict[str, list[int]] = defaultdict(list)
        for phrase, wording in table.items():
            targets = [self._column[w] for w in features(text_words(phrase)) if w in self._column]
            for cue in wording.split():
                cues["_".join(stem(word) for word in cue.split("_"))].extend(targets)
        return dict(cues)

    def _word_matrices(self, texts: Sequence[tuple[str, str]]) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """Return saturated word counts (n, V) without and with the cues for branches."""
        direct: list[dict[int, float]] = []
        cued: list[dict[int, float]] = []
        for statement, solution in texts:
            counts = _word_counts(statement, solution)
            words: dict[int, float] = defaultdict(float)
            for word, count in counts.items():
                if (column := self._column.get(word)) is not None:
                    words[column] += count
                for target in self._topic_cues.get(word, ()):
                    words[target] += CUE_WEIGHT * count
            with_cues = defaultdict(float, words)
            for word, count in counts.items():
                for target in self._branch_cues.get(word, ()):
                    with_cues[target] += CUE_WEIGHT * count
            direct.append(words)
            cued.append(with_cues)
        return _saturated(direct, len(self._column)), _saturated(cued, len(self._column))


def _word_counts(statement: str, solution: str) -> dict[str, float]:
    counts: dict[str, float] = defaultdict(float)
    for text, weight in ((statement, 1.0), (solution, SOLUTION_WEIGHT)):
        for word in features(text_words(text)):
            counts[word] += weight
        for phrase in notation_words(text):
            for word in features(phrase):
                counts[word] += weight * NOTATION_WEIGHT
    return counts


def _saturated(rows: Iterable[dict[int, float]], n_words: int) -> sp.csr_matrix:
    """Turn counts into a matrix of x / (1 + x): the tenth mention adds little."""
    listed = list(rows)
    pointer = np.concatenate(([0], np.cumsum([len(row) for row in listed])))
    column = np.fromiter((c for row in listed for c in row), dtype=np.int64, count=int(pointer[-1]))
    count = np.fromiter((x for row in listed for x in row.values()), dtype=np.float32, count=int(pointer[-1]))
    return sp.csr_matrix((count / (1 + count), column, pointer), shape=(len(listed), n_words))


def _rarity(frequency: Counter[str], n_topics: int) -> NDArray[np.float32]:
    """Rarity of each word among the labels, in [0, 1]; passing words and neighbour pairs count for less."""
    passing = {stem(word) for word in PASSING_WORDS}
    rarity = np.empty(len(frequency), dtype=np.float32)
    for column, (word, count) in enumerate(frequency.items()):
        kind = PAIR_WEIGHT if "_" in word else PASSING_WEIGHT if word in passing else 1.0
        rarity[column] = kind * np.log((n_topics + 1) / count) / np.log(n_topics + 1)
    return rarity


def _families(tree: TopicTree) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Group topics by parent, deepest level first: (children, first child of each family, parents)."""
    families = []
    for depth in range(int(tree.depth.max()), 0, -1):
        parents = [int(p) for p in np.flatnonzero(tree.depth == depth - 1) if tree.children[p]]
        sizes = [len(tree.children[p]) for p in parents]
        children = np.array([c for p in parents for c in tree.children[p]], dtype=np.int64)
        first = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
        families.append((children, first, np.array(parents, dtype=np.int64)))
    return families
