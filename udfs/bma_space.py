"""Topic sets laid out for the pair kernels: members as positions in depth-first order, best matches as rows."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from udfs.bma import best_match_averages
from udfs.lin import TopicSimilarities
from udfs.topic_sets import TopicSets

IntArray = npt.NDArray[np.int64]


class SetSpace:
    """Topic sets and the similarities of their topics, prepared once for every kernel.

    Parameters
    ----------
    ancestors : int32 array, shape (n_topics, max_depth + 1)
        Root paths, -1 padded.
    information_content : float64 array, shape (n_topics,)
        In nats, for every topic in use.
    sets : TopicSets
    memory_budget : int
        Bytes. The similarity matrix (4 bytes for each pair of topics in use) is kept when it takes at most half;
        otherwise its rows are computed when they are needed, at about 10 microseconds a row.

    Raises
    ------
    ValueError
        When a topic in use has no information content.
    """

    def __init__(
        self,
        ancestors: npt.NDArray[np.int32],
        information_content: npt.NDArray[np.float64],
        sets: TopicSets,
        memory_budget: int = 1 << 30,
    ) -> None:
        self.sets = sets
        self.sizes = sets.sizes
        self.memory_budget = memory_budget
        self.prepared: dict[Any, Any] = {}
        """What kernels keep for their next call, by their own keys."""
        self.similarities = TopicSimilarities(ancestors, information_content, sets.topics, memory_budget)
        self._ancestors = ancestors
        self._information_content = information_content
        self._branch_starts = np.unique(self.similarities.branch_start)
        self._positions = self.similarities.position[sets.topics].astype(np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the sets and of their topics' paths and information content: equal ones have equal pairs."""
        digest = hashlib.sha256()
        used = self.similarities.topics
        for part in (self.sets.starts, self.sets.topics, self._ancestors[used], self._information_content):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()[:16]

    def members(self, sets: npt.NDArray[np.integer]) -> tuple[IntArray, IntArray]:
        """Topics of some sets as (starts, positions): those of the i-th are positions[starts[i]:starts[i + 1]]."""
        sizes = self.sizes[sets]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        place = np.repeat(self.sets.starts[sets] - starts[:-1], sizes) + np.arange(starts[-1])
        return starts, self._positions[place]

    def membership(self, sets: npt.NDArray[np.integer], dtype: type[np.generic] = np.bool_) -> sp.csr_array:
        """CSR array, shape (len(sets), n_used): ones where a set holds the topic at a position."""
        starts, positions = self.members(sets)
        shape = (len(sets), len(self.similarities))
        return sp.csr_array((np.ones(len(positions), dtype=dtype), positions, starts), shape=shape)

    def branches(self, sets: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """Which branches of the ontology (subtrees below the root) some sets touch, shape (n_branches,)."""
        touched = np.zeros(len(self._branch_starts), dtype=bool)
        touched[np.searchsorted(self._branch_starts, self.similarities.branch_start[self.members(sets)[1]])] = True
        return touched

    def exact(self, x: npt.NDArray[np.integer], y: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
        """Float64 best-match averages of pairs of sets, the definition."""
        return best_match_averages(self._ancestors, self._information_content, self.sets, x, y)

    def by_neighbourhood(self, sets: IntArray) -> IntArray:
        """The sets in an order where neighbours hold neighbouring topics, so that they share similarity rows."""
        return sets[np.argsort(self._positions[self.sets.starts[sets]], kind="stable")]


class BestMatches:
    """Best match of every topic in each set of a block, in one buffer that is used again and again.

    Fresh memory for every block would cost more than the work: the rows are wide and mostly zero.
    """

    def __init__(self, space: SetSpace, n_sets: int) -> None:
        self._space = space
        self._buffer = np.zeros((n_sets, len(space.similarities)), dtype=np.float32)
        self._written: list[tuple[int, int, int]] = []

    def fill(
        self, starts: IntArray, positions: IntArray, rows: npt.NDArray[np.float32], row_of_position: IntArray
    ) -> npt.NDArray[np.float32]:
        """Row i, column t: ``max_u Lin(t, u)`` over the topics u of the i-th set.

        Parameters
        ----------
        starts, positions
            From :meth:`SetSpace.members`.
        rows, row_of_position
            Similarity rows of (at least) these positions, from :meth:`TopicSimilarities.rows`.

        Returns
        -------
        float32 array, shape (len(starts) - 1, n_used)
            Valid until the next call.
        """
        for row, start, stop in self._written:
            self._buffer[row, start:stop] = 0.0
        self._written = []
        first = self._space.similarities.branch_start[positions].tolist()
        last = self._space.similarities.branch_stop[positions].tolist()
        source = row_of_position[positions].tolist()
        bounds = starts.tolist()
        for row in range(len(bounds) - 1):
            for member in range(bounds[row], bounds[row + 1]):
                start, stop = first[member], last[member]
                best = self._buffer[row, start:stop]
                np.maximum(best, rows[source[member], start:stop], out=best)
                self._written.append((row, start, stop))
        return self._buffer[: len(bounds) - 1]
