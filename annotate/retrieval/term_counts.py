"""Texts as counts of terms: the one matrix from which every lexical system computes its scores."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from annotate.retrieval.base import FloatArray, IntArray, Text
from annotate.retrieval.tokenisers import tokeniser_named
from udfs.stop_words import stop_words


@dataclass(frozen=True)
class Analyser:
    """How texts become terms: a tokeniser, with or without stop words."""

    tokeniser: str
    without_stop_words: bool = False

    def count(self, text: str) -> Counter[str]:
        """Count the terms of a text."""
        terms = tokeniser_named(self.tokeniser)(text)
        if self.without_stop_words:
            ignored = stop_words()
            terms = [term for term in terms if term not in ignored]
        return Counter(terms)


@dataclass(frozen=True)
class TermCounts:
    """Term counts of a collection of documents.

    Attributes
    ----------
    analyser
        How documents and queries are cut into terms.
    vocabulary
        {term: number}; numbers in code point order of the terms, so that sums over terms run in the same
        order on every machine.
    terms
        Numbers of the terms that the columns stand for, ascending.
    matrix
        CSR, shape (documents, len(terms)), column indices sorted in every row.
    """

    analyser: Analyser
    vocabulary: Mapping[str, int]
    terms: IntArray
    matrix: sparse.csr_array

    @classmethod
    def of(cls, texts: Sequence[Text], analyser: Analyser) -> TermCounts:
        """Count the terms of `texts`; an unknown tokeniser is an error."""
        first_seen: dict[str, int] = {}
        columns, values, ends = array("i"), array("i"), array("q", [0])
        for text in texts:
            counts = analyser.count(text.text)
            columns.extend(first_seen.setdefault(term, len(first_seen)) for term in counts)
            values.extend(counts.values())
            ends.append(len(columns))
        ordered = sorted(first_seen)
        renumbered = np.empty(len(ordered), np.int32)
        renumbered[[first_seen[term] for term in ordered]] = np.arange(len(ordered), dtype=np.int32)
        matrix = sparse.csr_array(
            (
                np.frombuffer(values, np.int32),
                renumbered[np.frombuffer(columns, np.int32)],
                np.frombuffer(ends, np.int64),
            ),
            shape=(len(texts), len(ordered)),
        )
        matrix.sort_indices()
        vocabulary = {term: number for number, term in enumerate(ordered)}
        return cls(analyser, vocabulary, np.arange(len(ordered), dtype=np.int64), matrix)

    def restricted(self, positions: IntArray) -> TermCounts:
        """Return the collection of the documents at `positions` alone, without the terms that none of them has."""
        rows = self.matrix[positions]
        used = np.unique(rows.indices)
        local = np.searchsorted(used, rows.indices).astype(np.int32)
        matrix = sparse.csr_array((rows.data, local, rows.indptr), shape=(len(positions), len(used)))
        return TermCounts(self.analyser, self.vocabulary, self.terms[used], matrix)

    def query(self, text: Text) -> tuple[IntArray, IntArray, int]:
        """Return a query's terms.

        Returns
        -------
        columns
            Of the terms that the documents have, ascending.
        counts
            How often the query has each of them.
        n_distinct
            Number of distinct terms of the query, the others included.
        """
        counts = self.analyser.count(text.text)
        numbers = {self.vocabulary[term]: n for term, n in counts.items() if term in self.vocabulary}
        wanted = np.array(sorted(numbers), dtype=np.int64)
        found = np.searchsorted(self.terms, wanted)
        present = found < len(self.terms)
        present[present] = self.terms[found[present]] == wanted[present]
        values = np.array([numbers[number] for number in wanted[present].tolist()], dtype=np.int64)
        return found[present].astype(np.int64), values, len(counts)


class WeightedTerms:
    """Documents as weights of terms; a query's score for a document is the sum of products of weights.

    Parameters
    ----------
    weights
        Shape (documents, terms).
    """

    def __init__(self, weights: sparse.csr_array) -> None:
        self._by_document = weights

    @cached_property
    def _by_term(self) -> sparse.csc_array:
        return self._by_document.tocsc()

    def products(self, columns: IntArray, values: FloatArray, positions: IntArray) -> FloatArray:
        """Return the scores of the documents at `positions` for query weights `values` of `columns`."""
        n_documents, n_terms = self._by_document.shape
        if 4 * len(positions) > n_documents:
            # Most of the collection: walk the postings of the query's few terms instead of all documents.
            return np.asarray(self._by_term[:, columns] @ values)[positions]
        spread = np.zeros(n_terms)
        spread[columns] = values
        return np.asarray(self._by_document[positions] @ spread)
