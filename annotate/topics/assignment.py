"""The rules that turn raw relevance scores into assigned topics: pure functions, no model, no files.

At a visited node the node and its children are scored together. Scores are min-max normalised over these
candidates, children above the threshold tau are kept and visited in turn, and in the end kept topics that
have a kept descendant are dropped (SABER-Math, "Automatic topic assignment"; the paper's prompt asks the
model to spread its scores over [0, 1], the normalisation here makes sure of it).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SMALLEST_ANCHOR = 1e-9
"""Below this a node's raw score is too close to zero to divide by; batches are then shifted, not scaled."""


@dataclass(frozen=True)
class Batch:
    """Raw scores of one call.

    ``node`` is the raw score of the visited node, ``None`` at the root, which is no candidate.
    ``children`` holds the raw scores of this batch's children, in the order in which they were asked.
    """

    node: float | None
    children: FloatArray


@dataclass(frozen=True)
class Visit:
    """The outcome at one visited node over all its batches.

    ``node_raw`` is ``None`` at the root. ``raw`` and ``score`` are aligned with the children; ``raw`` is on
    the scale of the first batch, so ``score = (raw - min) / (max - min)`` over node and children holds for
    the landed rows. ``kept`` marks the children above tau. When all candidates are equal, every score is
    ``nan`` (no information) and nothing is kept.
    """

    node_raw: float | None
    node_score: float | None
    raw: FloatArray
    score: FloatArray
    kept: NDArray[np.bool_]


def normalise(raw: FloatArray) -> FloatArray:
    """Return (raw - min) / (max - min), shape (n,), in [0, 1]; all ``nan`` when the scores are all equal.

    Raises
    ------
    ValueError
        When a score is not finite: an invalid reply has to be refused before it comes here.
    """
    raw = np.asarray(raw, dtype=np.float64)
    if not np.isfinite(raw).all():
        raise ValueError(f"raw scores must be finite, got {raw.tolist()}")
    if raw.size == 0:
        return raw
    low, high = float(raw.min()), float(raw.max())
    if low == high:
        return np.full(raw.shape, np.nan)
    if np.isinf(high - low):  # scores near the largest double: halves keep the range finite
        raw, low, high = raw * 0.5, low * 0.5, high * 0.5
    return (raw - low) / (high - low)


def union_of_batches(batches: Sequence[Batch]) -> tuple[float | None, FloatArray]:
    """Bring all batches of one node to the scale of the first; return (node score, children scores).

    The node stands in every batch, so it is the yardstick: a batch in which the node got half the score is
    doubled. Where the node's score is (close to) zero in some batch, no factor exists and all batches are
    shifted instead. Min-max normalisation does not see which batch is the reference. At the root there is
    no yardstick and the scores are taken as they are.

    Raises
    ------
    ValueError
        When there is no batch, or some batches have the node and some do not.
    """
    if not batches:
        raise ValueError("a visited node needs at least one batch of scores")
    anchors = [batch.node for batch in batches if batch.node is not None]
    if anchors and len(anchors) != len(batches):
        raise ValueError("the visited node must stand in each batch or, at the root, in none")
    children = [np.asarray(batch.children, dtype=np.float64) for batch in batches]
    if not anchors:
        return None, np.concatenate(children)
    reference = float(anchors[0])
    if min(anchors) >= SMALLEST_ANCHOR:
        parts = [raw * (reference / anchor) for raw, anchor in zip(children, anchors, strict=True)]
    else:
        parts = [raw + (reference - anchor) for raw, anchor in zip(children, anchors, strict=True)]
    return reference, np.concatenate(parts)


def assess(batches: Sequence[Batch], tau: float) -> Visit:
    """Normalise once over the union of a node's batches and mark the children with score > ``tau``.

    A child is kept even if the node itself scores higher; the comparison is strict.
    """
    node_raw, raw = union_of_batches(batches)
    candidates = raw if node_raw is None else np.concatenate(([node_raw], raw))
    scores = normalise(candidates)
    children = scores if node_raw is None else scores[1:]
    node_score = None if node_raw is None else float(scores[0])
    return Visit(node_raw, node_score, raw, children, children > tau)


def most_specific(kept: Iterable[int], parent: Sequence[int] | Mapping[int, int] | NDArray[np.int64]) -> list[int]:
    """Drop every kept topic that has a kept descendant; return the rest, sorted.

    ``parent[t]`` is the parent of topic ``t``, negative at the root. A topic is a root path, so it has
    exactly one parent and "ancestor" is unambiguous. The kept set need not be closed under parents.
    """
    kept = set(kept)
    covered: set[int] = set()
    for topic in kept:
        ancestor = int(parent[topic])
        while ancestor >= 0 and ancestor not in covered:
            covered.add(ancestor)
            ancestor = int(parent[ancestor])
    return sorted(kept - covered)


def split_into_batches(n_children: int, limit: int) -> list[range]:
    """Split child positions 0..n-1 into the fewest contiguous batches of at most ``limit``, evenly filled.

    Even filling keeps the batches comparable: 101 children at a limit of 100 become 51 + 50, not 100 + 1.
    """
    if limit < 1:
        raise ValueError(f"a batch must hold at least one child, got a limit of {limit}")
    n_batches = -(-n_children // limit)
    bounds = [n_children * k // n_batches for k in range(n_batches + 1)] if n_batches else []
    return [range(start, stop) for start, stop in pairwise(bounds)]


def assign(
    scores_at: Mapping[int, Sequence[Batch]],
    root: int,
    children_of: Mapping[int, Sequence[int]],
    parent: Mapping[int, int],
    tau: float,
) -> list[int]:
    """Assigned topics of one problem when the batches of every node that may be visited are known.

    The reference formulation of the whole traversal, node by node; the job runs the same rules level by
    level over all problems at once and asks only for the nodes it really visits.
    """
    kept: set[int] = set()
    frontier = [root]
    while frontier:
        node = frontier.pop()
        children = children_of.get(node, ())
        if not children:
            continue
        visit = assess(scores_at[node], tau)
        chosen = [child for child, keep in zip(children, visit.kept, strict=True) if keep]
        kept.update(chosen)
        frontier.extend(chosen)
    return most_specific(kept, parent)
