"""Cosine of TF-IDF vectors, weights by scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from annotate.retrieval.base import Context, FloatArray, IntArray, System, Task, Text
from annotate.retrieval.term_counts import Analyser, TermCounts, WeightedTerms


@dataclass(frozen=True)
class TfIdf(System):
    """Cosine of TF-IDF vectors over words.

    In [0, 1]; a vector's entries are tf·idf, idf(t) = ln((1 + n) / (1 + df(t))) + 1, for n documents, df(t) of
    them with term t. Terms of the query that no document has are left out of its vector, which scales all of
    its scores alike. Source: scikit-learn's ``TfidfTransformer`` (smooth idf).

    Attributes
    ----------
    tokeniser
        ``plain`` or ``mathematics``.
    sublinear_tf
        Whether a term counts 1 + ln(tf) instead of tf.
    """

    name: ClassVar[str] = "tfidf"
    uses_statistics: ClassVar[bool] = True
    tokeniser: str = "plain"
    sublinear_tf: bool = False

    def provenance(self, context: Context, setting: str, scope: str) -> dict[str, Any]:
        """Record the library's version."""
        return {"scikit-learn": version("scikit-learn")}

    def index(self, documents: Sequence[Text], queries: Sequence[Text], task: Task) -> _Vectors:
        """Count terms; weights follow when the collection is known."""
        return _Vectors(TermCounts.of(documents, Analyser(self.tokeniser)), self.sublinear_tf)


@dataclass(frozen=True)
class MathematicalTfIdf(TfIdf):
    """Cosine of TF-IDF vectors over words and the commands, numbers, variables and operators of formulas."""

    name: ClassVar[str] = "tfidf-math"
    tokeniser: str = "mathematics"


class _Vectors:
    def __init__(self, counts: TermCounts, sublinear_tf: bool) -> None:
        self._counts = counts
        self._sublinear_tf = sublinear_tf

    def restricted(self, positions: IntArray) -> _Vectors:
        return _Vectors(self._counts.restricted(positions), self._sublinear_tf)

    @cached_property
    def _transformer(self) -> Any:
        from sklearn.feature_extraction.text import TfidfTransformer  # importing it takes a second

        return TfidfTransformer(sublinear_tf=self._sublinear_tf).fit(self._counts.matrix)

    @cached_property
    def _documents(self) -> WeightedTerms:
        return WeightedTerms(sparse.csr_array(self._transformer.transform(self._counts.matrix)))

    def scores(self, query: Text, positions: IntArray) -> FloatArray:
        columns, values, _ = self._counts.query(query)
        if not len(columns):
            return np.zeros(len(positions))
        row = sparse.csr_array(
            (values.astype(np.float64), columns, [0, len(columns)]), shape=(1, self._counts.matrix.shape[1])
        )
        weighted = sparse.csr_array(self._transformer.transform(row))
        return self._documents.products(weighted.indices.astype(np.int64), weighted.data, positions)


SYSTEMS = (TfIdf, MathematicalTfIdf)
