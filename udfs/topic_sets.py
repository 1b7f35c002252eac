"""Distinct topic sets: problems that carry the same topics have the same similarity to everything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer]


@dataclass(frozen=True)
class TopicSets:
    """Distinct sets of topics in compressed rows: set s is ``topics[starts[s]:starts[s + 1]]``.

    Attributes
    ----------
    starts : int64 array, shape (n_sets + 1,)
    topics : int32 array, shape (n_members,)
        Strictly ascending within a set. The order matters: similarities are summed in it.
    multiplicity : int64 array, shape (n_sets,)
        How many problems have the set.
    """

    starts: npt.NDArray[np.int64]
    topics: npt.NDArray[np.int32]
    multiplicity: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        """Refuse empty sets and sets out of order, by their numbers."""
        sizes = np.diff(self.starts)
        if len(self.starts) != len(self.multiplicity) + 1 or self.starts[0] or self.starts[-1] != len(self.topics):
            raise ValueError("starts, topics and multiplicity of the topic sets do not fit together.")
        if len(empty := np.flatnonzero(sizes < 1)):
            raise ValueError(f"topic set {empty[0]} is empty. Leave problems without topics out.")
        falling = np.flatnonzero(np.diff(self.topics) <= 0) + 1
        if len(falling := np.setdiff1d(falling, self.starts)):
            number = np.searchsorted(self.starts, falling[0], side="right") - 1
            raise ValueError(f"topic set {number} is not strictly ascending. Sort its topics and drop repeats.")

    def __len__(self) -> int:
        return len(self.multiplicity)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Number of topics of every set, int64, shape (n_sets,)."""
        return np.diff(self.starts)

    def of_size(self, sets: IntArray, size: int) -> npt.NDArray[np.int32]:
        """Topics of sets that all have `size` topics, int32, shape (len(sets), size)."""
        return np.asarray(self.topics[self.starts[sets][:, None] + np.arange(size)])


def distinct_topic_sets(
    problem: IntArray, topic: IntArray, n_problems: int, known: TopicSets | None = None
) -> tuple[TopicSets, npt.NDArray[np.int32]]:
    """Group problems by their topic set.

    Sets are numbered in the order of the first problem that has them, after the `known` ones; so adding problems
    at the end never renumbers a set, and an incremental build only meets new numbers.

    Parameters
    ----------
    problem, topic : integer arrays, shape (n_annotations,)
        Annotations in any order; repeats count once. Problems are numbered 0..n_problems - 1.
    n_problems : int
    known : TopicSets, optional
        Sets of an earlier build. Pass only the problems that came since: multiplicities are added up.

    Returns
    -------
    sets : TopicSets
    set_of_problem : int32 array, shape (n_problems,)
        -1 for a problem without topics.

    Raises
    ------
    ValueError
        When a problem number is out of range or a topic is negative.
    """
    n_known = 0 if known is None else len(known)
    if len(problem) and (min(problem.min(), topic.min()) < 0 or problem.max() >= n_problems):
        raise ValueError(f"annotations name problems outside 0..{n_problems - 1} or negative topics.")
    owner, member = _sorted_pairs(np.asarray(problem, dtype=np.int64) + n_known, np.asarray(topic, dtype=np.int32))
    if known is not None:
        # Known sets stand in front as if they were problems: their numbers follow from the order of appearance.
        owner = np.concatenate([np.repeat(np.arange(n_known), known.sizes), owner])
        member = np.concatenate([known.topics, member])
    first_owner, set_of_owner = _group(owner, member, n_known + n_problems)
    multiplicity = np.bincount(set_of_owner[n_known:][set_of_owner[n_known:] >= 0], minlength=len(first_owner))
    if known is not None:
        multiplicity[:n_known] += known.multiplicity
    bounds = np.searchsorted(owner, np.stack([first_owner, first_owner + 1]))
    sizes = bounds[1] - bounds[0]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    topics = member[np.repeat(bounds[0] - starts[:-1], sizes) + np.arange(starts[-1])]
    return TopicSets(starts, topics, multiplicity.astype(np.int64)), set_of_owner[n_known:]


def _sorted_pairs(
    owner: npt.NDArray[np.int64], member: npt.NDArray[np.int32]
) -> tuple[IntArray, npt.NDArray[np.int32]]:
    order = np.lexsort((member, owner))
    owner, member = owner[order], member[order]
    new = np.ones(len(owner), dtype=bool)
    new[1:] = (owner[1:] != owner[:-1]) | (member[1:] != member[:-1])
    return owner[new], member[new]


def _group(owner: IntArray, member: npt.NDArray[np.int32], n_owners: int) -> tuple[IntArray, npt.NDArray[np.int32]]:
    """First owner of every distinct set in order of appearance, and the set of every owner."""
    sizes = np.bincount(owner, minlength=n_owners)
    starts = np.cumsum(sizes) - sizes
    first_owner = np.full(n_owners, -1, dtype=np.int64)
    for size in np.unique(sizes[sizes > 0]).tolist():
        owners = np.flatnonzero(sizes == size)
        rows = member[starts[owners][:, None] + np.arange(size)]
        order = np.lexsort(rows.T[::-1])  # stable: owners of equal sets stay in order, the first leads its run
        new = np.ones(len(order), dtype=bool)
        new[1:] = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
        first_owner[owners[order]] = owners[order[new]][np.cumsum(new) - 1]
    leaders = np.flatnonzero(first_owner == np.arange(n_owners))
    set_of_owner = np.full(n_owners, -1, dtype=np.int32)
    has_topics = first_owner >= 0
    set_of_owner[has_topics] = np.searchsorted(leaders, first_owner[has_topics])
    return leaders, set_of_owner
