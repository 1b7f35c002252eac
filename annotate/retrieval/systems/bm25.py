"""Okapi BM25, weights by bm25s."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from annotate.retrieval.base import Context, FloatArray, IntArray, System, Task, Text
from annotate.retrieval.term_counts import Analyser, TermCounts, WeightedTerms


@dataclass(frozen=True)
class BM25(System):
    """BM25 over words.

    Score = Σ over the query's terms, repeats included, of idf(t) · tf / (tf + k1·(1 − b + b·|D|/avg|D|)) with
    idf(t) = ln(1 + (n − df + 0.5) / (df + 0.5)): the variant of Lucene, never negative. Source: Robertson and
    Zaragoza, The probabilistic relevance framework (2009), in the form of ``bm25s``.

    Attributes
    ----------
    tokeniser
        ``plain`` or ``mathematics``.
    k1, b
        Saturation of term frequency and strength of length normalisation.
    """

    name: ClassVar[str] = "bm25"
    uses_statistics: ClassVar[bool] = True
    tokeniser: str = "plain"
    k1: float = 1.5
    b: float = 0.75

    def provenance(self, context: Context, setting: str, scope: str) -> dict[str, Any]:
        """Record the library's version and the variant of the formula."""
        return {"bm25s": version("bm25s"), "method": "lucene"}

    def index(self, documents: Sequence[Text], queries: Sequence[Text], task: Task) -> _Index:
        """Count terms; weights follow when the collection is known."""
        return _Index(TermCounts.of(documents, Analyser(self.tokeniser)), self.k1, self.b)


@dataclass(frozen=True)
class MathematicalBM25(BM25):
    """BM25 over words and the commands, numbers, variables and operators of formulas."""

    name: ClassVar[str] = "bm25-math"
    tokeniser: str = "mathematics"


class _Index:
    def __init__(self, counts: TermCounts, k1: float, b: float) -> None:
        self._counts = counts
        self._k1 = k1
        self._b = b

    def restricted(self, positions: IntArray) -> _Index:
        return _Index(self._counts.restricted(positions), self._k1, self._b)

    @cached_property
    def _documents(self) -> WeightedTerms:
        matrix = self._counts.matrix
        if not matrix.nnz:
            return WeightedTerms(sparse.csr_array(matrix.shape, dtype=np.float64))
        import bm25s

        # float32, the default, would make ties of scores that differ.
        model = bm25s.BM25(k1=self._k1, b=self._b, method="lucene", dtype="float64")
        built = model.build_index_from_ids(range(matrix.shape[1]), _Documents(matrix), show_progress=False)
        weights = sparse.csc_array((built["data"], built["indices"], built["indptr"]), shape=matrix.shape)
        return WeightedTerms(weights.tocsr())

    def scores(self, query: Text, positions: IntArray) -> FloatArray:
        columns, values, _ = self._counts.query(query)
        return self._documents.products(columns, values.astype(np.float64), positions)


@dataclass(frozen=True)
class _Documents:
    """Documents as lists of term numbers, made one at a time: all at once would be gigabytes of integers."""

    matrix: sparse.csr_array

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __iter__(self) -> Iterator[list[int]]:
        ends = self.matrix.indptr
        for start, end in pairwise(ends):
            yield np.repeat(self.matrix.indices[start:end], self.matrix.data[start:end]).tolist()


SYSTEMS = (BM25, MathematicalBM25)
