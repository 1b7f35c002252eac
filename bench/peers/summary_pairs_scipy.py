"""Summary pairs by a sparse matrix product in SciPy."""

import numpy as np
import scipy.sparse as sp

from bench.stage import Outcome, Stage, Workbench
from bench.tables import THRESHOLDS, connect

ROWS_AT_ONCE = 512


def run(workbench: Workbench) -> Outcome:
    """Multiply the set matrix by its transpose, some rows at a time."""
    connection = connect(workbench.database, read_only=True)
    lists = connection.table("summary_tokens").project("tokens").to_arrow_table()["tokens"].combine_chunks()
    flat = lists.flatten().dictionary_encode()
    starts = np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy())])
    shape = (len(lists), len(flat.dictionary))
    sets = sp.csr_array((np.ones(len(flat), np.int16), flat.indices.to_numpy(), starts), shape=shape)
    return Outcome(_count(sets, np.diff(starts)))


def _count(sets: sp.csr_array, sizes: np.ndarray) -> int:
    transposed = sets.T.tocsr()
    pairs = 0
    for first in range(0, len(sizes), ROWS_AT_ONCE):
        common = (sets[first : first + ROWS_AT_ONCE] @ transposed).tocoo()
        row, column = common.coords
        row = row + first
        union = sizes[row] + sizes[column] - common.data
        pairs += int(np.count_nonzero((common.data / union >= THRESHOLDS["summary"]) & (row < column)))
    return pairs


STAGE = Stage("summary_pairs: SciPy product", 40, run, peer_of="summary_pairs", largest=20_000, unit="pairs")
