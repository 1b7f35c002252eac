"""Information content of ontology topics, estimated from the annotations of a corpus.

An ontology is a tree here (a DAG is unfolded into one before it gets this far). It is given as its root paths:
row t of ``ancestors`` holds root, ..., t and is padded with -1 on the right.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer]


def root_paths(parent: IntArray) -> npt.NDArray[np.int32]:
    """Root path of every topic of a forest.

    Parameters
    ----------
    parent : integer array, shape (n_topics,)
        Number of the parent topic, -1 for a root.

    Returns
    -------
    int32 array, shape (n_topics, max_depth + 1)
        Row t is root, ..., parent of t, t, then -1.

    Raises
    ------
    ValueError
        When a parent does not exist or the topics named form or hang under a cycle.
    """
    parent = np.asarray(parent)
    n_topics = len(parent)
    unknown = np.flatnonzero((parent < -1) | (parent >= n_topics))
    if len(unknown):
        raise ValueError(
            f"topics {_some(unknown)} have a parent that does not exist. Number parents 0..{n_topics - 1}."
        )
    children = np.argsort(parent, kind="stable")
    first_child = np.searchsorted(parent[children], np.arange(n_topics + 1))
    level = np.flatnonzero(parent == -1)
    levels = []
    while len(level):
        levels.append(level)
        counts = first_child[level + 1] - first_child[level]
        starts = np.repeat(first_child[level] - np.cumsum(counts) + counts, counts)
        level = children[starts + np.arange(counts.sum())]
    paths = np.full((n_topics, max(len(levels), 1)), -1, dtype=np.int32)
    for depth, level in enumerate(levels):
        if depth:
            paths[level] = paths[parent[level]]
        paths[level, depth] = level
    if n_topics and (lost := np.flatnonzero(paths[:, 0] < 0)).size:
        raise ValueError(f"topics {_some(lost)} are on or under a cycle. Break it before computing root paths.")
    return paths


def subtree_annotations(ancestors: npt.NDArray[np.int32], annotations: IntArray) -> npt.NDArray[np.int64]:
    """c(t): annotations of a topic or any of its descendants (SABER-Math, topic similarity over ontologies).

    Parameters
    ----------
    ancestors : int32 array, shape (n_topics, max_depth + 1)
        Root paths, -1 padded.
    annotations : integer array, shape (n_topics,)
        How many problems carry exactly this topic.

    Returns
    -------
    int64 array, shape (n_topics,)
    """
    counts = np.zeros(len(ancestors), dtype=np.int64)
    annotated = np.flatnonzero(annotations)
    weights = np.asarray(annotations, dtype=np.int64)[annotated]
    for ancestor in ancestors[annotated].T:
        present = ancestor >= 0
        np.add.at(counts, ancestor[present], weights[present])
    return counts


def information_content(ancestors: npt.NDArray[np.int32], annotations: IntArray) -> npt.NDArray[np.float64]:
    """IC(t) = -ln(c(t) / N), N being all annotations (SABER-Math, topic similarity over ontologies).

    No smoothing: IC(root) = 0, and a topic without annotations at or below it has none (NaN, NULL in SQL).

    Parameters
    ----------
    ancestors : int32 array, shape (n_topics, max_depth + 1)
        Root paths, -1 padded.
    annotations : integer array, shape (n_topics,)
        How many problems carry exactly this topic.

    Returns
    -------
    float64 array, shape (n_topics,)
        In nats, >= 0, NaN where c(t) = 0.

    Raises
    ------
    ValueError
        When a count is negative or the two arrays differ in length.
    """
    annotations = np.asarray(annotations)
    if len(annotations) != len(ancestors):
        raise ValueError(f"{len(annotations)} annotation counts for {len(ancestors)} topics. Pass one count a topic.")
    if len(negative := np.flatnonzero(annotations < 0)):
        raise ValueError(f"topics {_some(negative)} have a negative number of annotations. Pass counts >= 0.")
    total = int(annotations.sum())
    counts, topic_count = np.unique(subtree_annotations(ancestors, annotations), return_inverse=True)
    # math.log, not numpy's: the C library's logarithm is the one SQL engines call, so both paths agree to the bit.
    # Adding 0.0 turns the root's -0.0 into 0.0.
    values = [-math.log(count / total) + 0.0 if count else math.nan for count in counts.tolist()]
    return np.array(values, dtype=np.float64)[topic_count]


def _some(topics: npt.NDArray[np.intp]) -> str:
    shown = ", ".join(map(str, topics[:5].tolist()))
    return f"{shown}, ... ({len(topics)} in all)" if len(topics) > 5 else shown
