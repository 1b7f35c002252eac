"""Seeded problems over the benchmark's ontology: their topics and the texts of their core ideas.

By default 2.4 topics and 11 distinct content words a problem, both with Zipf popularity: about 0.07 % of the pairs
reach a topic similarity of 0.858 and 0.1 % a summary similarity of 0.211. Problems are made in chunks with a seed
each, so a smaller corpus is the beginning of a larger one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bench.ontology import Ontology
from udfs.stop_words import stop_words

CHUNK = 10_000
TOPICS_A_PROBLEM = (0.25, 0.30, 0.23, 0.13, 0.06, 0.03)
"""Shares of the problems with 1, 2, ... 6 topics, before repeats are dropped."""
MOST_TOPICS = len(TOPICS_A_PROBLEM)
SAME_AREA, SAME_DOMAIN = 0.55, 0.20
"""Shares of the further topics of a problem that lie in its main topic's area or domain; the rest lie anywhere."""
VOCABULARY = 12_000
DRAWS = 22
GENERAL, OF_AREA = 0.50, 0.25
"""Shares of the words drawn from everyone's vocabulary and from an area's; the rest come from a topic's."""
WORDS_OF_AREA, WORDS_OF_TOPIC = 50, 25

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Options:
    """What a corpus looks like; equal options give equal corpora.

    Attributes
    ----------
    seed : int
    topic_exponent, word_exponent : float
        Zipf exponents of topics and of general words: the larger, the more pairs qualify.
        A word exponent of 1.8 lets about 3 % of the summary pairs reach 0.211.
    common_topic : float
        Share of the problems that also carry one and the same topic.
    wide : float
        Share of the problems that carry 60 topics.
    """

    seed: int = 7
    topic_exponent: float = 0.85
    word_exponent: float = 1.25
    common_topic: float = 0.0
    wide: float = 0.0


@dataclass(frozen=True)
class Problems:
    """A run of problems.

    Attributes
    ----------
    topics : int64 arrays (problem, topic)
        Annotations, distinct, ascending.
    core_ideas : string array, one a problem
    """

    problem: IntArray
    topic: IntArray
    core_ideas: pa.StringArray


def make_problems(ontology: Ontology, n_problems: int, options: Options) -> Iterator[Problems]:
    """Yield the problems 0..n_problems - 1 in runs of at most 10,000."""
    language = _Language(ontology, options)
    sampler = _TopicSampler(ontology)
    for chunk in range(-(-n_problems // CHUNK)):
        rng = np.random.default_rng([options.seed, 2, chunk])
        topics, counts = sampler.draw(rng)
        core_ideas = language.core_ideas(rng, topics, counts)
        problem, topic = np.nonzero(np.arange(MOST_TOPICS) < counts[:, None])
        topic = topics[problem, topic]
        problem, topic = _with_extremes(rng, ontology, options, problem, topic)
        size = min(CHUNK, n_problems - chunk * CHUNK)
        pairs = np.unique(np.stack([problem, topic], axis=1)[problem < size], axis=0)
        yield Problems(pairs[:, 0] + chunk * CHUNK, pairs[:, 1], core_ideas[:size])


def words() -> list[str]:
    """The vocabulary: pronounceable, and none of them a stop word."""
    syllables = [consonant + vowel for consonant in "bcdfghjklmnprstvz" for vowel in "aeiou"]
    made = (a + b + c + "l" for a in syllables for b in syllables for c in syllables)
    stop = stop_words()
    return [word for word, _ in zip((w for w in made if w not in stop), range(VOCABULARY), strict=False)]


class _TopicSampler:
    """Draws topics by popularity, anywhere or within a subtree."""

    def __init__(self, ontology: Ontology) -> None:
        self._popularity = np.cumsum(ontology.popularity)
        # Depth-first order makes every area and domain one interval of the cumulated popularity.
        order = np.lexsort(ontology.ancestors.T[::-1])
        self._order = order
        self._cumulated = np.concatenate([[0.0], np.cumsum(ontology.popularity[order])])
        self._intervals = {name: _intervals(getattr(ontology, name), order) for name in ("area", "domain")}

    def draw(self, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """A chunk's topics, shape (CHUNK, 6) with the main one first, and how many of them count."""
        main = self._order[self._pick(rng, np.zeros((CHUNK, 1)), np.ones((CHUNK, 1)))]
        kind = rng.random((CHUNK, MOST_TOPICS - 1))
        low, high = np.zeros(kind.shape), np.ones(kind.shape)
        for name, chosen in (
            ("area", kind < SAME_AREA),
            ("domain", (kind >= SAME_AREA) & (kind < SAME_AREA + SAME_DOMAIN)),
        ):
            start, stop = (bound[main] for bound in self._intervals[name])
            within = chosen & (stop > start)  # a domain itself lies in no area
            low = np.where(within, self._cumulated[start], low)
            high = np.where(within, self._cumulated[stop], high)
        others = self._order[self._pick(rng, low, high)]
        counts = rng.choice(np.arange(1, MOST_TOPICS + 1), CHUNK, p=TOPICS_A_PROBLEM)
        return np.concatenate([main, others], axis=1), counts

    def _pick(
        self, rng: np.random.Generator, low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]
    ) -> IntArray:
        point = low + rng.random(low.shape) * (high - low)
        return np.minimum(np.searchsorted(self._cumulated, point, side="right") - 1, len(self._order) - 1)


def _intervals(group: npt.NDArray[np.int32], order: IntArray) -> tuple[IntArray, IntArray]:
    """Start and stop, in depth-first order, of the group of each topic; empty where it has none."""
    start, stop = np.zeros(len(group), dtype=np.int64), np.zeros(len(group), dtype=np.int64)
    bounds = np.flatnonzero(np.diff(group[order], prepend=-2, append=-2))
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        members = order[first:last]
        if group[members[0]] >= 0:
            start[members], stop[members] = first, last
    return start, stop


class _Language:
    """Draws words: general ones, those of an area and those of a topic, and makes short texts of them."""

    def __init__(self, ontology: Ontology, options: Options) -> None:
        rng = np.random.default_rng([options.seed, 1])
        self._area = np.where(ontology.area < 0, np.arange(len(ontology.parent)), ontology.area)
        self._general = _zipf(VOCABULARY, options.word_exponent, 2.5)
        local = np.cumsum(_zipf(VOCABULARY, 1.0, 15.0))
        self._of_area = np.searchsorted(local, rng.random((len(ontology.parent), WORDS_OF_AREA)))
        self._of_topic = np.searchsorted(local, rng.random((len(ontology.parent), WORDS_OF_TOPIC)))
        # A frequent word is not one with a low number.
        self._words = pa.array(
            [*np.array(words())[rng.permutation(VOCABULARY)].tolist(), "the", "of", "and", "by", "to"]
        )

    def core_ideas(self, rng: np.random.Generator, topics: IntArray, counts: IntArray) -> pa.StringArray:
        """One text a problem: 6 to 15 distinct content words among about half as many stop words."""
        shape = (len(topics), DRAWS)
        source = np.take_along_axis(topics, (rng.random(shape) * counts[:, None]).astype(np.int64), axis=1)
        kind = rng.random(shape)
        general = np.searchsorted(np.cumsum(self._general), rng.random(shape))
        of_area = self._of_area[self._area[source], _ranks(rng, shape, WORDS_OF_AREA)]
        of_topic = self._of_topic[source, _ranks(rng, shape, WORDS_OF_TOPIC)]
        drawn = np.where(kind < GENERAL, general, np.where(kind < GENERAL + OF_AREA, of_area, of_topic))
        wanted = np.clip(np.rint(rng.normal(11.0, 1.7, len(topics))), 6, 15)
        kept = _first_distinct(np.minimum(drawn, VOCABULARY - 1), wanted)
        stop_word = VOCABULARY + rng.integers(0, 5, shape)
        tokens = np.stack([np.minimum(drawn, VOCABULARY - 1), stop_word], axis=2)
        shown = np.stack([kept, kept & (rng.random(shape) < 0.5)], axis=2)
        flat = self._words.take(pa.array(tokens[shown]))
        lengths = shown.sum(axis=(1, 2))
        lists = pa.ListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32()), flat)
        return pc.binary_join(lists, " ")


def _zipf(n: int, exponent: float, offset: float) -> npt.NDArray[np.float64]:
    weight = np.power(np.arange(1, n + 1) + offset, -exponent)
    return np.asarray(weight / weight.sum())


def _ranks(rng: np.random.Generator, shape: tuple[int, int], n: int) -> IntArray:
    return np.minimum(np.searchsorted(np.cumsum(_zipf(n, 1.0, 0.7)), rng.random(shape)), n - 1)


def _first_distinct(drawn: IntArray, wanted: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Mark the first `wanted` distinct words of every row."""
    order = np.argsort(drawn, axis=1, kind="stable")
    ordered = np.take_along_axis(drawn, order, axis=1)
    repeated = np.zeros(drawn.shape, dtype=bool)
    np.put_along_axis(repeated, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    return ~repeated & (np.cumsum(~repeated, axis=1) <= wanted[:, None])


def _with_extremes(
    rng: np.random.Generator, ontology: Ontology, options: Options, problem: IntArray, topic: IntArray
) -> tuple[IntArray, IntArray]:
    """Add the common topic and the problems with 60 topics."""
    carries_common, is_wide = rng.random(CHUNK) < options.common_topic, rng.random(CHUNK) < options.wide
    common, wide = np.flatnonzero(carries_common & ~is_wide), np.flatnonzero(is_wide)
    further = [rng.choice(len(ontology.parent) - 1, 60, replace=False) + 1 for _ in wide]
    keep = ~np.isin(problem, wide)
    popular = int(np.argmax(ontology.popularity))
    return (
        np.concatenate([problem[keep], common, np.repeat(wide, 60)]),
        np.concatenate([topic[keep], np.full(len(common), popular), *further]),
    )
