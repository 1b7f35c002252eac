"""Where too many pairs qualify to be stored: counts by class from streams, and the partners of a few problems.

Counting needs the qualifying pairs of topic sets at hand, 8 bytes each. They are taken a slice of the sets at a time,
as large as memory allows; one slice of all sets does half the work of many, since each pair then comes once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.bma_blocks import count_blocks, partners_of_sets, similar_set_pairs
from udfs.bma_space import SetSpace
from udfs.class_counts import ClassCounts, Pairs, class_counts
from udfs.jaccard_blocks import PairBlock, qualifying_pairs, qualifying_partners
from udfs.jaccard_index import TokenSetIndex
from udfs.progress import counting, progress

COUNTS = pa.schema(
    [
        ("problem_index", pa.int32()),
        ("n_topic_only", pa.int64()),
        ("n_summary_only", pa.int64()),
        ("n_both", pa.int64()),
    ]
)
PARTNERS = pa.schema([("query_index", pa.int32()), ("document_index", pa.int32()), ("class", pa.string())])
CLASSES = ("topic_only", "summary_only", "both")

_BYTES_PER_PAIR = 32
"""A pair's key, its sorted copy and what is made beside them."""


@dataclass(frozen=True)
class Streams:
    """Both signals and their thresholds; None where nothing qualifies."""

    space: SetSpace
    index: TokenSetIndex
    topic_threshold: float | None
    summary_threshold: float | None
    comparison: str = "exact"
    workers: int = 2

    @property
    def fingerprint(self) -> str:
        """Text of everything the pairs depend on."""
        thresholds = (self.topic_threshold, self.summary_threshold, self.comparison)
        return f"{self.space.fingerprint} {self.index.fingerprint} {thresholds}"

    def topic_pairs(self) -> Iterator[Pairs]:
        """Every qualifying pair of sets x <= y."""
        if self.topic_threshold is None or not len(self.space.sets):
            return
        n_sets = len(self.space.sets)
        blocks = similar_set_pairs(self.space, self.topic_threshold, comparison=self.comparison, workers=self.workers)
        for block in progress(blocks, "topic pairs", count_blocks(n_sets), n_sets * n_sets // 2):
            yield block.x, block.y

    def topic_partners(self, sets: npt.NDArray[Any]) -> Iterator[Pairs]:
        """Every qualifying pair (x, y) with x among `sets`, x itself included."""
        if self.topic_threshold is None or not len(sets):
            return
        blocks = partners_of_sets(
            self.space, sets, self.topic_threshold, comparison=self.comparison, workers=self.workers
        )
        for block in blocks:
            yield block.x, block.y

    def summary_pairs(self) -> Iterator[PairBlock]:
        """Every qualifying pair of problems i < j."""
        if self.summary_threshold is not None:
            blocks = qualifying_pairs(self.index, self.summary_threshold, self.comparison, workers=self.workers)
            yield from progress(blocks, "summary pairs")

    def summary_partners(self, rows: npt.NDArray[Any]) -> Iterator[PairBlock]:
        """Every qualifying pair (i, j) with i among `rows`."""
        if self.summary_threshold is not None and len(rows):
            yield from qualifying_partners(
                self.index, rows, self.summary_threshold, self.comparison, workers=self.workers
            )


def sets_at_once(n_sets: int, share: float, memory: int) -> int:
    """How many sets' pairs fit into memory.

    Parameters
    ----------
    n_sets : int
    share : float
        Share of the pairs of sets that qualify, as sampled.
    memory : int
        Bytes.

    Returns
    -------
    int
        All of them when every unordered pair fits; at least 256.
    """
    fitting = memory / _BYTES_PER_PAIR
    if share * n_sets * n_sets / 2 <= fitting:
        return n_sets
    return min(n_sets, max(256, int(fitting / (share * n_sets))))


def count_by_slices(
    streams: Streams,
    set_of_problem: npt.NDArray[np.int32],
    text_of_problem: npt.NDArray[np.int64],
    at_once: int,
    start_block: int = 0,
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Count the partners of every problem by class, a slice of the topic sets at a time.

    Parameters
    ----------
    streams : Streams
    set_of_problem : int32 array, shape (n_numbers,)
        -1 for a number that no problem bears; it is nobody's partner.
    text_of_problem : int64 array, shape (n_numbers,)
    at_once : int
        Sets a slice, see :func:`sets_at_once`.
    start_block : int
        First slice to count.

    Yields
    ------
    (slice, batch of the schema COUNTS)
    """
    set_of_problem, text_of_problem = _with_holes(streams, set_of_problem, text_of_problem)
    n_sets = len(streams.space.sets)
    slices = range(0, n_sets, max(at_once, 1))
    alive = set_of_problem >= 0
    show = counting("counts by slices")
    for number in range(start_block, len(slices)):
        stop = min(slices[number] + at_once, n_sets)
        rows = np.flatnonzero((set_of_problem >= slices[number]) & (set_of_problem < stop))
        if len(slices) == 1:
            topic, summary = streams.topic_pairs(), streams.summary_pairs()
        else:
            topic = streams.topic_partners(np.arange(slices[number], stop))
            summary = streams.summary_partners(rows)
        counts = class_counts(
            set_of_problem,
            n_sets,
            topic,
            _among(summary, alive),
            text_of_problem=text_of_problem,
            both_ends=len(slices) == 1,
        )
        show(number + 1, len(slices))
        yield number, _counts_of(counts, rows)


def partners(
    streams: Streams, set_of_problem: npt.NDArray[np.int32], queries: npt.NDArray[Any]
) -> Iterator[pa.RecordBatch]:
    """Every partner of some problems with its class.

    Parameters
    ----------
    streams : Streams
    set_of_problem : int32 array, shape (n_numbers,)
        -1 for a number that no problem bears.
    queries : int array
        Numbers of problems that have a topic set.

    Yields
    ------
    RecordBatch of the schema PARTNERS
        Problems with equal texts are still among them.
    """
    set_of_problem, _ = _with_holes(streams, set_of_problem)
    n = len(set_of_problem)
    x, y = _joined(streams.topic_partners(np.unique(set_of_problem[queries])))
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    by_set = np.argsort(set_of_problem, kind="stable")
    first_of_set = np.searchsorted(set_of_problem[by_set], np.arange(len(streams.space.sets) + 1))
    alive = set_of_problem >= 0
    i, j = _joined(_among(streams.summary_partners(queries), alive))
    summary_keys = np.sort(i * n + j)
    for query in np.sort(queries).tolist():
        low, high = np.searchsorted(x, [set_of_problem[query], set_of_problem[query] + 1])
        runs = [by_set[first_of_set[s] : first_of_set[s + 1]] for s in y[low:high].tolist()]
        topic = np.sort(np.concatenate(runs)) if runs else np.zeros(0, dtype=np.int64)
        topic = topic[topic != query]
        low, high = np.searchsorted(summary_keys, [query * n, (query + 1) * n])
        summary = summary_keys[low:high] - query * n
        documents = np.union1d(topic, summary)
        kind = np.isin(documents, summary) + np.isin(documents, topic) * 2
        names = pa.array(CLASSES).take(pa.array(np.array([0, 1, 0, 2])[kind]))
        columns = [np.full(len(documents), query, dtype=np.int32), documents.astype(np.int32), names]
        yield pa.record_batch([pa.array(column) for column in columns], schema=PARTNERS)


def _with_holes(
    streams: Streams, set_of_problem: npt.NDArray[np.int32], text_of_problem: npt.NDArray[np.int64] | None = None
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Lengthen both to every number that has a token set: the last of them may be of problems that left."""
    n_known = len(set_of_problem)
    n_holes = max(streams.index.n_rows - n_known, 0)
    sets = np.concatenate([set_of_problem, np.full(n_holes, -1, dtype=np.int32)])
    texts = np.zeros(n_known, dtype=np.int64) if text_of_problem is None else text_of_problem
    return sets, np.concatenate([texts, -1 - np.arange(n_known, n_known + n_holes)])


def _among(blocks: Iterator[PairBlock], alive: npt.NDArray[np.bool_]) -> Iterator[Pairs]:
    whole = bool(alive.all())
    for block in blocks:
        if whole:
            yield block.i, block.j
        else:
            keep = alive[block.i] & alive[block.j]
            yield block.i[keep], block.j[keep]


def _joined(pairs: Iterator[Pairs]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    parts = [(np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64)) for a, b in pairs]
    empty = np.zeros(0, dtype=np.int64)
    return np.concatenate([empty, *(a for a, _ in parts)]), np.concatenate([empty, *(b for _, b in parts)])


def _counts_of(counts: ClassCounts, rows: npt.NDArray[np.int64]) -> pa.RecordBatch:
    columns = [rows.astype(np.int32), counts.topic_only[rows], counts.summary_only[rows], counts.both[rows]]
    return pa.record_batch([pa.array(column) for column in columns], schema=COUNTS)
