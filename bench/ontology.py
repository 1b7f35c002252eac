"""A seeded ontology of about 17,100 topics, the same for every corpus size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from udfs.information_content import root_paths

LEVEL_SIZES = (5, 60, 700, 4_500, 11_835)
"""Topics at depth 1 (domains), 2 (areas), ... 5."""

HEAD_TOPICS = {2: 40, 3: 260, 4: 600, 5: 600}
"""How many popular topics each depth has."""

HEAD_SHARE = 0.95
"""Share of the annotations that falls on popular topics; the rest spreads evenly over all."""


@dataclass(frozen=True)
class Ontology:
    """A tree of topics, numbered so that parents come first, and how popular each topic is.

    Attributes
    ----------
    parent : int64 array, shape (n_topics,)
        -1 for the root, topic 0.
    popularity : float64 array, shape (n_topics,)
        Chance that a problem's main topic is this one; sums to 1.
    """

    parent: npt.NDArray[np.int64]
    popularity: npt.NDArray[np.float64]

    @cached_property
    def ancestors(self) -> npt.NDArray[np.int32]:
        """Root paths, shape (n_topics, 6), -1 padded."""
        return root_paths(self.parent)

    @cached_property
    def domain(self) -> npt.NDArray[np.int32]:
        """Depth-1 ancestor of every topic, -1 for the root."""
        return self.ancestors[:, 1]

    @cached_property
    def area(self) -> npt.NDArray[np.int32]:
        """Depth-2 ancestor of every topic, -1 above that depth."""
        return self.ancestors[:, 2]


def make_ontology(seed: int, popularity_exponent: float = 0.85) -> Ontology:
    """Grow the tree and choose the popular topics.

    Parameters
    ----------
    seed : int
    popularity_exponent : float
        Zipf exponent of the popular topics: the larger, the more problems share their topics.
    """
    rng = np.random.default_rng([seed, 0])
    parents = [np.array([-1])]
    level = np.array([0])
    for size in LEVEL_SIZES:
        # Every topic has a child where there are enough; the others go to a few large families.
        family = 1.0 / np.arange(1, len(level) + 1) ** 0.6
        others = rng.choice(level, size - len(level), p=rng.permutation(family / family.sum()))
        parents.append(np.concatenate([level, others]))
        level = np.arange(size) + sum(map(len, parents[:-1]))
    parent = np.concatenate(parents).astype(np.int64)
    return Ontology(parent, _popularity(parent, rng, popularity_exponent))


def _popularity(parent: npt.NDArray[np.int64], rng: np.random.Generator, exponent: float) -> npt.NDArray[np.float64]:
    first = np.concatenate([[0], np.cumsum((1, *LEVEL_SIZES))])
    head = np.concatenate(
        [
            first[depth] + rng.choice(LEVEL_SIZES[depth - 1], count, replace=False)
            for depth, count in HEAD_TOPICS.items()
        ]
    )
    rng.shuffle(head)
    weight = 1.0 / (np.arange(1, len(head) + 1) + 8.0) ** exponent
    popularity = np.full(len(parent), (1.0 - HEAD_SHARE) / (len(parent) - 1))
    popularity[head] += HEAD_SHARE * weight / weight.sum()
    popularity[0] = 0.0  # nobody is annotated with "mathematics", and seldom with a whole domain
    popularity[first[1] : first[2]] *= 0.2
    return np.asarray(popularity / popularity.sum())
