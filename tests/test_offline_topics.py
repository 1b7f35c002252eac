"""The lexical topic scorer: formula against a plain second path, and what it is for."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.providers import offline_topics as scorer_module
from annotate.providers.offline_cues import BRANCH_CUES, PASSING_WORDS, TOPIC_CUES
from annotate.providers.offline_text import LabelSplitter, features, notation_words, stem, text_words
from annotate.providers.offline_topics import LexicalScorer
from annotate.topics.tree import TopicTree, build_tree
from warehouse.ontologies import Edge, unfold

PATHS = [
    "Geometry/PlaneGeometry/Triangles/RightTriangle",
    "Geometry/PlaneGeometry/Circles/TangentLine",
    "NumberTheory/Congruences/ChineseRemainderTheorem",
    "NumberTheory/PrimeNumbers/TwinPrimes",
    "DiscreteMathematics/Combinatorics/BinomialCoefficients",
    "CalculusandAnalysis/Integrals/DefiniteIntegral",
    "Algebra/Polynomials/VietasFormulas",
]


def tree_of(paths: list[str]) -> TopicTree:
    nodes = sorted({"/".join(path.split("/")[:n]) for path in paths for n in range(1, path.count("/") + 2)})
    edges = [Edge(None, "Mathematics", "Mathematics")]
    edges += [Edge(node.rpartition("/")[0] or "Mathematics", node, node.rpartition("/")[2]) for node in nodes]
    return build_tree(unfold(edges))


TREE = tree_of(PATHS)


def second_path(tree: TopicTree, statement: str, solution: str) -> dict[str, tuple[float, float]]:
    """The module's formulas once more, topic by topic with dictionaries: {topic id: (seen, own)}."""
    splitter = LabelSplitter(tree.labels)
    labels = [list(dict.fromkeys(features(splitter.words(label)))) for label in tree.labels]
    frequency = Counter(word for words in labels for word in words)
    passing = {stem(word) for word in PASSING_WORDS}

    def rarity(word: str) -> float:
        kind = 0.8 if "_" in word else 0.3 if word in passing else 1.0
        return kind * math.log((len(tree) + 1) / frequency[word]) / math.log(len(tree) + 1)

    counts: dict[str, float] = defaultdict(float)
    for text, weight in ((statement, 1.0), (solution, 0.5)):
        for word in features(text_words(text)):
            counts[word] += weight
        for phrase in notation_words(text):
            for word in features(phrase):
                counts[word] += 0.3 * weight

    def heard(tables: list[dict[str, str]]) -> dict[str, float]:
        total = dict(counts)
        for table in tables:
            for phrase, wording in table.items():
                for cue in wording.split():
                    key = "_".join(stem(word) for word in cue.split("_"))
                    for word in features(text_words(phrase)):
                        total[word] = total.get(word, 0.0) + 0.35 * counts.get(key, 0.0)
        return {word: count / (1 + count) for word, count in total.items()}

    direct, cued = heard([TOPIC_CUES]), heard([TOPIC_CUES, BRANCH_CUES])

    def own(topic: int, words: dict[str, float]) -> float:
        total = sum(rarity(word) for word in labels[topic])
        said = sum(words.get(word, 0.0) * rarity(word) for word in labels[topic])
        return said * (said / total) ** 1.5 if total else 0.0

    def seen(topic: int) -> float:
        children = tree.children[topic]
        if not children:
            return own(topic, direct)
        return own(topic, cued) + 0.7 * max(seen(child) for child in children)

    if max(seen(branch) for branch in tree.children[tree.start()]) < 0.03:
        return dict.fromkeys(tree.topic_ids, (0.0, 0.0))
    return {tree.topic_ids[t]: (seen(t), own(t, direct)) for t in range(len(tree))}


_TEXT = """triangle right circle tangent line prime twin number theory remainder chinese congruence binomial
coefficient integral definite polynomial root Vieta's formulas the of way probability $\\binom{n}{k}$ $x^2$
$\\triangle ABC$ . find value divisible geometry"""
WORDS = _TEXT.split()


@given(st.lists(st.sampled_from(WORDS), max_size=25), st.lists(st.sampled_from(WORDS), max_size=25))
@settings(max_examples=40, deadline=None)
def test_matrices_equal_the_plain_formula(statement: list[str], solution: list[str]) -> None:
    texts = " ".join(statement), " ".join(solution)
    scorer = LexicalScorer(TREE)
    seen, stop = scorer.score([texts, ("A circle.", "")])
    expected = second_path(TREE, *texts)
    assert seen[0] == pytest.approx([expected[topic][0] for topic in TREE.topic_ids], rel=1e-4, abs=1e-6)
    if seen[0].any():
        inner = [max(0.1, expected[TREE.topic_ids[topic]][1]) for topic in scorer.inner]
        assert stop[0] == pytest.approx(inner, rel=1e-4, abs=1e-6)


def test_a_score_does_not_depend_on_its_batch() -> None:
    scorer = LexicalScorer(TREE)
    texts = [("Two tangent lines of a circle.", "Use the right triangle."), ("Twin primes", ""), ("", "Integrals.")]
    together = scorer.score(texts)[0]
    for row, text in enumerate(texts):
        assert np.array_equal(scorer.score([text])[0][0], together[row])


@pytest.mark.parametrize(
    ("statement", "topic"),
    [
        ("Find the hypotenuse of a right triangle with legs 3 and 4.", PATHS[0]),
        ("A tangent line touches a circle of radius 2.", PATHS[1]),
        ("By the Chinese remainder theorem, find the smallest such integer.", PATHS[2]),
        ("Compute $\\binom{10}{3}$.", PATHS[4]),
        ("What is the sum of the roots? Apply Vieta's formulas.", PATHS[6]),
    ],
)
def test_every_step_leads_to_the_topic_that_is_named(statement: str, topic: str) -> None:
    seen, _ = LexicalScorer(TREE).score([(statement, "")])
    node = TREE.start()
    while TREE.children[node]:
        node = max(TREE.children[node], key=lambda child: seen[0, child])
    assert TREE.topic_ids[node] == topic


def test_a_text_that_says_nothing_scores_nothing() -> None:
    assert not LexicalScorer(TREE).score([("Evaluate $24-(2x-y)$ if $x=4$.", "It is $19$.")])[0].any()


def test_labels_of_small_words_only_are_no_division_by_zero() -> None:
    tree = tree_of(["Of/The", "And/In", "Geometry/Circle"])
    seen, _ = LexicalScorer(tree).score([("Of the circle and in it", "")])
    assert np.isfinite(seen).all()
    assert scorer_module.NO_EVIDENCE > 0
