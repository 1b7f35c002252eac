"""Histograms of both signals by domain, as rows of the model signal_histogram."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.bma_histogram import BIN_WIDTH, pair_histogram
from udfs.bma_space import SetSpace
from udfs.jaccard_histogram import RowClasses, overlap_histogram
from udfs.jaccard_index import TokenSetIndex
from udfs.progress import counting

SCHEMA = pa.schema(
    [("domain", pa.string()), ("signal", pa.string()), ("value", pa.float64()), ("n_pairs", pa.int64())]
)


def histogram_blocks(
    space: SetSpace,
    set_of_problem: npt.NDArray[np.integer],
    index: TokenSetIndex,
    classes: RowClasses,
    membership: npt.NDArray[np.bool_],
    names: list[str],
    *,
    start_block: int = 0,
    workers: int = 2,
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the topic histogram as block 0 and the summary histogram as block 1.

    Parameters
    ----------
    space : SetSpace
    set_of_problem : integer array, shape (n_problems,)
    index : TokenSetIndex
        Of the same problems, built with ``classes=classes.of_row``.
    classes : RowClasses
        Of `membership`.
    membership : bool array, shape (n_problems, n_domains)
    names : list of str
        Domains.
    start_block : int
    workers : int
    """
    if start_block <= 0:
        weights = np.zeros((len(space.sets), len(names)), dtype=np.int64)
        np.add.at(weights, set_of_problem, membership)
        n_sets = len(space.sets)
        show = counting("topic histogram", n_sets * n_sets // 2)
        counts = pair_histogram(space, weights, workers=workers, progress=show)
        group, place = np.nonzero(counts)
        yield 0, _rows("topic", names, group, place * BIN_WIDTH, counts[group, place])
    if start_block <= 1:
        show = counting("summary histogram", index.n_rows * index.n_rows // 2)
        found = overlap_histogram(index, classes, workers=workers, progress=show)
        # 1/2 and 2/4 are one value; equal fractions divide to equal floats.
        keys = np.stack([found.group.astype(np.float64), found.common / found.union])
        distinct, place = np.unique(keys, axis=1, return_inverse=True)
        n_pairs = np.zeros(distinct.shape[1], dtype=np.int64)
        np.add.at(n_pairs, place.ravel(), found.n_pairs)
        yield 1, _rows("summary", names, distinct[0].astype(np.int64), distinct[1], n_pairs)


def _rows(signal: str, names: list[str], group: Any, values: Any, counts: Any) -> pa.RecordBatch:
    domains = pa.array(names, pa.string()).take(pa.array(group))
    columns = [domains, pa.repeat(signal, len(group)), pa.array(values), pa.array(counts)]
    return pa.record_batch(columns, schema=SCHEMA)
