"""Jaccard similarity of the sets of terms of query and document, stop words left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from annotate.retrieval.base import FloatArray, IntArray, System, Task, Text
from annotate.retrieval.term_counts import Analyser, TermCounts, WeightedTerms


@dataclass(frozen=True)
class Jaccard(System):
    """Overlap of the sets of words.

    |Q ∩ D| / |Q ∪ D| in [0, 1]; 0 when both sets are empty, since a score must be a number.

    Attributes
    ----------
    tokeniser
        ``plain`` or ``mathematics``.
    """

    name: ClassVar[str] = "jaccard"
    tokeniser: str = "plain"

    def index(self, documents: Sequence[Text], queries: Sequence[Text], task: Task) -> _Sets:
        """Make the set of every document."""
        return _Sets(TermCounts.of(documents, Analyser(self.tokeniser, without_stop_words=True)))


@dataclass(frozen=True)
class MathematicalJaccard(Jaccard):
    """Overlap of the sets of words and of the commands, numbers, variables and operators of formulas."""

    name: ClassVar[str] = "jaccard-math"
    tokeniser: str = "mathematics"


class _Sets:
    def __init__(self, counts: TermCounts) -> None:
        self._counts = counts
        matrix = counts.matrix
        members = sparse.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
        self._sizes = np.diff(matrix.indptr)
        self._members = WeightedTerms(members)

    def scores(self, query: Text, positions: IntArray) -> FloatArray:
        columns, _, size = self._counts.query(query)
        common = self._members.products(columns, np.ones(len(columns)), positions)
        union = self._sizes[positions] + size - common
        return np.asarray(np.divide(common, union, out=np.zeros(len(positions)), where=union > 0))


SYSTEMS = (Jaccard, MathematicalJaccard)
