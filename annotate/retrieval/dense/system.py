"""A dense system: cosine of the vectors of query and document."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotate.retrieval.base import Context, FloatArray, IntArray, Scored, System, Task, Text
from annotate.retrieval.dense.embedding import Embedded, Wanted, embed
from annotate.retrieval.dense.encoder import Encoder
from annotate.retrieval.dense.vectors import VectorStore, text_key


@dataclass(frozen=True)
class DenseSystem(System):
    """Cosine of the vectors of query and document, in [-1, 1].

    A query's latency is the time its own embedding took when it was made plus the time of scoring.

    Attributes
    ----------
    query_prefix, document_prefix
        What stands before every query and every document (every piece of one that is cut).
    """

    query_prefix: str = ""
    document_prefix: str = ""

    @abstractmethod
    def encoder(self, context: Context) -> Encoder:
        """Load the model."""

    def index(self, documents: Sequence[Text], queries: Sequence[Text], task: Task) -> CosineIndex:
        """Embed documents and queries."""
        encoder = self.encoder(task.context)
        store = VectorStore(task.context.settings.home, self.title, encoder.identity)
        wanted = [Wanted(text.problem_id, text.text, self.document_prefix) for text in documents]
        wanted += [Wanted(text.problem_id, text.text, self.query_prefix) for text in queries]
        embedded = embed(wanted, encoder, store, self.title)
        rows = [embedded.row[one.key] for one in wanted[: len(documents)]]
        return CosineIndex(embedded, np.array(rows, dtype=np.int64), self.query_prefix)

    def run(self, task: Task) -> Iterator[Scored]:
        """Score every query, its embedding counted in its time."""
        index = self.index(task.documents, [query.text for query in task.queries], task)
        for scored in self.scored(index, task):
            yield replace(scored, seconds=scored.seconds + index.embedding_seconds(scored.query.text))


class CosineIndex:
    """Unit vectors of documents and queries.

    Parameters
    ----------
    embedded
        Vectors of distinct texts.
    rows
        Row of every document, shape (documents,).
    query_prefix
        Under which queries were embedded.
    """

    def __init__(self, embedded: Embedded, rows: IntArray, query_prefix: str) -> None:
        self._embedded = embedded
        self._rows = rows
        self._prefix = query_prefix

    def embedding_seconds(self, query: Text) -> float:
        """Return the time the query's embedding took."""
        return float(self._embedded.seconds[self._row(query)])

    def scores(self, query: Text, positions: IntArray) -> FloatArray:
        """Return cosines; equal texts have equal ones, to the last bit."""
        vector = self._embedded.matrix[self._row(query)]
        # A product's last bit depends on where a row stands, so each distinct text is multiplied once.
        distinct, inverse = np.unique(self._rows[positions], return_inverse=True)
        if 2 * len(distinct) > len(self._embedded.matrix):
            products = (self._embedded.matrix @ vector)[distinct]
        else:
            products = self._embedded.matrix[distinct] @ vector
        return np.asarray(products[inverse], dtype=np.float64)

    def _row(self, query: Text) -> int:
        return self._embedded.row[text_key(query.text, self._prefix)]
