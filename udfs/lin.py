"""Lin similarity of two ontology topics: how informative their lowest common ancestor is.

``Lin(t, u) = 2 IC(LCA(t, u)) / (IC(t) + IC(u) + 1e-12)`` (Lin 1998; SABER-Math, topic similarity over ontologies),
clipped to [0, 1], and exactly 1 for a topic with itself. That holds for the root too, where the formula alone
would give 0: a topic matches itself perfectly however common it is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

EPSILON = 1e-12
"""Keeps the denominator positive when both topics are as common as the root."""

GRID = 2.0**-20
"""Step of the float32 similarities. Their sums, up to 16 of them, carry no rounding error at all."""


def lin_similarity(
    ancestors: npt.NDArray[np.int32],
    information_content: npt.NDArray[np.float64],
    t: npt.NDArray[np.integer],
    u: npt.NDArray[np.integer],
) -> npt.NDArray[np.float64]:
    """Lin similarity of topics t and u, element by element.

    Parameters
    ----------
    ancestors : int32 array, shape (n_topics, max_depth + 1)
        Root paths, -1 padded.
    information_content : float64 array, shape (n_topics,)
        In nats; NaN for topics nobody uses.
    t, u : integer arrays
        Topics, of shapes that broadcast.

    Returns
    -------
    float64 array of the broadcast shape
        In [0, 1]; NaN where a topic has no information content (and t != u). The value is symmetric to the bit.
    """
    t, u = np.broadcast_arrays(t, u)
    lowest_common_ancestor = np.full(t.shape, -1, dtype=np.int32)
    for level in ancestors.T:
        ancestor = level[t]
        # Root paths agree down to the lowest common ancestor and never again, so the last agreement wins.
        np.copyto(lowest_common_ancestor, ancestor, where=(ancestor == level[u]) & (ancestor >= 0))
    # -1, for topics of different trees, reads the appended 0.
    shared_information = np.append(information_content, 0.0)[lowest_common_ancestor]
    similarity = 2.0 * shared_information / (information_content[t] + information_content[u] + EPSILON)
    return np.where(t == u, 1.0, np.clip(similarity, 0.0, 1.0))


class TopicSimilarities:
    """Rows of the Lin matrix of the topics in use, as float32 on a grid of 2^-20.

    The topics are put into depth-first order, where every subtree is an interval. A row is then one slice
    assignment a level and one division over the topic's branch (its subtree below the root), zero elsewhere: about
    ten microseconds, so the matrix need not be kept when it is too large.

    Parameters
    ----------
    ancestors : int32 array, shape (n_topics, max_depth + 1)
        Root paths, -1 padded.
    information_content : float64 array, shape (n_topics,)
        In nats.
    used : integer array
        The topics in use, in any order.
    memory_budget : int
        Bytes; the (n_used, n_used) float32 matrix is kept only when it takes at most half of them.

    Attributes
    ----------
    topics : int32 array, shape (n_used,)
        Topic at each position of the depth-first order.
    position : int32 array, shape (n_topics,)
        Position of each topic, -1 where it is not in use.
    branch_start, branch_stop : int64 arrays, shape (n_used,)
        The positions outside [start, stop) have similarity 0 to this one.

    Raises
    ------
    ValueError
        When a topic in use has no information content.
    """

    def __init__(
        self,
        ancestors: npt.NDArray[np.int32],
        information_content: npt.NDArray[np.float64],
        used: npt.NDArray[np.integer],
        memory_budget: int = 1 << 30,
    ) -> None:
        used = np.unique(used).astype(np.int32)
        if len(unknown := used[~np.isfinite(information_content[used])]):
            shown = ", ".join(map(str, unknown[:5].tolist()))
            raise ValueError(
                f"{len(unknown)} annotated topics have no information content ({shown}). "
                "Recompute the information content from these annotations."
            )
        paths = ancestors[used]
        order = np.lexsort(paths.T[::-1])
        self.topics = used[order]
        self.position = np.full(len(ancestors), -1, dtype=np.int32)
        self.position[self.topics] = np.arange(len(self.topics), dtype=np.int32)
        self._information = information_content[self.topics]
        self._levels = _subtree_intervals(paths[order], information_content)
        alone = np.arange(len(self.topics), dtype=np.int64)
        self.branch_start, self.branch_stop = alone.copy(), alone + 1
        for row, levels in enumerate(self._levels):
            if levels:
                self.branch_start[row], self.branch_stop[row] = levels[0][:2]
        self._matrix: npt.NDArray[np.float32] | None = None
        self._row_of_position = alone
        if 4 * len(self.topics) ** 2 <= memory_budget // 2:
            self._matrix = self._rows(alone)

    def __len__(self) -> int:
        return len(self.topics)

    def rows(self, positions: npt.NDArray[np.integer]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """Similarities of some topics to all in use.

        Parameters
        ----------
        positions : integer array, shape (k,)
            Positions in depth-first order, distinct.

        Returns
        -------
        rows : float32 array, shape (at least k, n_used)
            Similarities in [0, 1]. Do not write to it: it may be the kept matrix.
        row_of_position : int64 array, shape (n_used,)
            The row of `rows` that holds a position, where it was asked for.
        """
        if self._matrix is not None:
            return self._matrix, self._row_of_position
        row_of_position = np.full(len(self.topics), -1, dtype=np.int64)
        row_of_position[positions] = np.arange(len(positions))
        return self._rows(positions), row_of_position

    def _rows(self, positions: npt.NDArray[np.integer]) -> npt.NDArray[np.float32]:
        rows = np.zeros((len(positions), len(self.topics)), dtype=np.float32)
        for row, position in zip(rows, np.asarray(positions).tolist(), strict=True):
            self._fill(row, position)
        return rows

    def _fill(self, row: npt.NDArray[np.float32], position: int) -> None:
        levels = self._levels[position]
        if levels:
            first, stop = levels[0][:2]
            similarity = np.empty(stop - first)
            for start, end, information in levels:
                similarity[start - first : end - first] = 2.0 / GRID * information
            similarity /= self._information[position] + self._information[first:stop] + EPSILON
            np.minimum(np.rint(similarity, out=similarity), 1.0 / GRID, out=similarity)
            np.multiply(similarity, GRID, out=row[first:stop], casting="same_kind")
        row[position] = 1.0


def _subtree_intervals(
    paths: npt.NDArray[np.int32], information_content: npt.NDArray[np.float64]
) -> list[list[tuple[int, int, float]]]:
    """For each topic and each of its ancestors below the root: the ancestor's interval and information content."""
    intervals: list[list[tuple[int, int, float]]] = [[] for _ in range(len(paths))]
    for ancestor in paths[:, 1:].T:
        starts = np.flatnonzero(np.diff(ancestor, prepend=-2))
        stops = np.append(starts[1:], len(ancestor))
        for start, stop, topic in zip(starts.tolist(), stops.tolist(), ancestor[starts].tolist(), strict=True):
            if topic >= 0:
                interval = (start, stop, float(information_content[topic]))
                for row in range(start, stop):
                    intervals[row].append(interval)
    return intervals
