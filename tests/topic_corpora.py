"""Random annotated ontologies and brute-force definitions, shared by the tests of the topic signal."""

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from udfs.information_content import information_content, root_paths
from udfs.topic_sets import TopicSets, distinct_topic_sets


@dataclass(frozen=True)
class Corpus:
    """An ontology and the topics of every problem (at least one each)."""

    parent: list[int]
    topics: list[list[int]]

    @property
    def ancestors(self) -> np.ndarray:
        return root_paths(np.array(self.parent))

    @property
    def annotations(self) -> tuple[np.ndarray, np.ndarray]:
        problem = np.repeat(np.arange(len(self.topics)), [len(t) for t in self.topics])
        return problem, np.array([t for topics in self.topics for t in topics], dtype=np.int64)

    @property
    def information_content(self) -> np.ndarray:
        counts = np.bincount(self.annotations[1], minlength=len(self.parent))
        return information_content(self.ancestors, counts)

    @property
    def sets(self) -> TopicSets:
        return distinct_topic_sets(*self.annotations, len(self.topics))[0]


@st.composite
def corpora(draw: st.DrawFn, problems: int = 25, topics: int = 30, most: int = 5) -> Corpus:
    """Small corpora: random trees, uneven popularity, sets of 1 to `most` topics."""
    n_topics = draw(st.integers(1, topics))
    parent = [-1] + [draw(st.integers(0, i - 1)) for i in range(1, n_topics)]
    choice = st.lists(st.integers(0, n_topics - 1), min_size=1, max_size=most, unique=True).map(sorted)
    return Corpus(parent, draw(st.lists(choice, min_size=1, max_size=problems)))


def brute_lin(corpus: Corpus) -> dict[tuple[int, int], float]:
    """Lin by walking parents, IC by walking annotations: no array of the code under test is used."""
    parent = corpus.parent

    def path(topic: int) -> list[int]:
        return [topic] if parent[topic] < 0 else [topic, *path(parent[topic])]

    counts = [0] * len(parent)
    total = 0
    for topics in corpus.topics:
        for topic in topics:
            total += 1
            for ancestor in path(topic):
                counts[ancestor] += 1
    ic = [-math.log(count / total) if count else math.nan for count in counts]
    used = {topic for topics in corpus.topics for topic in topics}
    lin = {}
    for t in used:
        for u in used:
            lca = next(a for a in path(t) if a in path(u))
            lin[t, u] = 1.0 if t == u else min(max(2 * ic[lca] / (ic[t] + ic[u] + 1e-12), 0.0), 1.0)
    return lin


def brute_bma(lin: dict[tuple[int, int], float], x: list[int], y: list[int]) -> float:
    """The definition, summed in ascending order of the topics."""
    rows = columns = 0.0
    for t in x:
        rows += max(lin[t, u] for u in y)
    for u in y:
        columns += max(lin[t, u] for t in x)
    return (rows + columns) / (len(x) + len(y))


def set_lists(sets: TopicSets) -> list[list[int]]:
    return [sets.topics[a:b].tolist() for a, b in zip(sets.starts[:-1], sets.starts[1:], strict=True)]
