"""Best-match average: similarity of two problems from the similarities of their topics.

``BMA(x, y) = (sum_t max_u Lin(t, u) + sum_u max_t Lin(t, u)) / (|T_x| + |T_y|)`` over the topic sets of x and y
(SABER-Math, topic set matching), always in both directions; an empty set has no similarity (NULL, never 0).

Order of summation. A float64 sum depends on its order, so the order is part of the definition: each of the two sums
runs over the topics in ascending order, one addition after another, and then the two sums are added. SQL obtains the
same bits from ``(list_sum(list(best order by topic)) + list_sum(...)) / (n + m)`` when topic numbers ascend with
topic ids, and so both paths decide alike at any threshold.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from udfs.lin import lin_similarity
from udfs.topic_sets import TopicSets

Lists: TypeAlias = "pa.Array | pa.ChunkedArray"
FloatArray = npt.NDArray[np.float64]

COMPARISONS = ("exact", "published")
_CHUNK_MEMBERS = 1 << 20


def qualifying_threshold(threshold: float, comparison: str = "exact") -> float:
    """Smallest float64 similarity that qualifies, so that every comparison becomes ``similarity >= value``.

    ``exact`` compares float64 with float64. ``published`` compares both rounded to float16, as the published
    thresholds were applied; the similarities that round to the threshold's float16 or above begin at the midpoint
    below it.

    Parameters
    ----------
    threshold : float
    comparison : {"exact", "published"}

    Raises
    ------
    ValueError
        For another comparison or a threshold that is not a number.
    """
    if math.isnan(threshold):
        raise ValueError("The similarity threshold is not a number. Set it to a value such as 0.858.")
    if comparison == "exact":
        return float(threshold)
    if comparison != "published":
        raise ValueError(f"Unknown comparison {comparison!r}. Use one of: {', '.join(COMPARISONS)}.")
    rounded = np.float16(threshold)
    midpoint = (float(np.nextafter(rounded, np.float16(-np.inf))) + float(rounded)) / 2.0
    # Ties go to the even neighbour, which may be the one below.
    return midpoint if np.float16(midpoint) >= rounded else math.nextafter(midpoint, math.inf)


def best_match_average(row_maxima: Lists, column_maxima: Lists) -> pa.DoubleArray:
    """Best-match average from the best matches of either side, one pair of problems a row.

    The form is that of a DuckDB Arrow function ``(DOUBLE[], DOUBLE[]) -> DOUBLE``: chunked arguments, no state.

    Parameters
    ----------
    row_maxima, column_maxima : list<double> arrays, length n
        Similarity of each topic of x (of y) to its closest topic of y (of x), in ascending order of the topic.

    Returns
    -------
    DoubleArray, length n
        In [0, 1]; NULL where a list is NULL, empty or holds a NULL.

    Raises
    ------
    ValueError
        When the lengths differ.
    """
    if len(row_maxima) != len(column_maxima):
        raise ValueError(f"{len(row_maxima)} rows of row maxima, {len(column_maxima)} of column maxima. Pass pairs.")
    row_sums, row_counts = _list_sums(row_maxima)
    column_sums, column_counts = _list_sums(column_maxima)
    unknown = (row_counts == 0) | (column_counts == 0)
    average = (row_sums + column_sums) / np.where(unknown, 1, row_counts + column_counts)
    return pa.array(average, mask=unknown | np.isnan(average))


def best_match_average_of_matrix(similarities: Lists, columns: Lists) -> pa.DoubleArray:
    """Best-match average from the whole similarity matrix of two topic sets, one pair of problems a row.

    The form is that of a DuckDB Arrow function ``(DOUBLE[], INTEGER) -> DOUBLE``. It saves SQL the two groupings:
    ``best_match_average_of_matrix(list(similarity order by t, u), count(distinct u))``.

    Parameters
    ----------
    similarities : list<double> array, length n
        Row-major matrix, topics of x down, topics of y across, both ascending.
    columns : integer array, length n
        Number of topics of y.

    Returns
    -------
    DoubleArray, length n
        In [0, 1]; NULL where an argument is NULL, the matrix is empty or holds a NULL.

    Raises
    ------
    ValueError
        When a matrix is not a whole number of rows.
    """
    matrices, widths = _one_array(similarities), _one_array(columns)
    lengths = pc.fill_null(pc.list_value_length(matrices), 0).to_numpy(zero_copy_only=False)
    width = pc.fill_null(widths, 0).to_numpy(zero_copy_only=False)
    known = np.flatnonzero((lengths > 0) & (width > 0))
    if np.any(lengths[known] % width[known]):
        raise ValueError("A similarity matrix is not a whole number of rows. Pass every topic pair exactly once.")
    result = np.full(len(matrices), np.nan)
    for shape in np.unique(np.stack([lengths[known], width[known]], axis=1), axis=0).tolist():
        rows = known[(lengths[known] == shape[0]) & (width[known] == shape[1])]
        values = pc.list_flatten(matrices.take(pa.array(rows))).to_numpy(zero_copy_only=False)
        result[rows] = _average(values.astype(np.float64).reshape(len(rows), -1, shape[1]))
    return pa.array(result, mask=np.isnan(result))


def best_match_averages(
    ancestors: npt.NDArray[np.int32],
    information_content: FloatArray,
    sets: TopicSets,
    x: npt.NDArray[np.integer],
    y: npt.NDArray[np.integer],
) -> FloatArray:
    """Exact float64 best-match average of pairs of topic sets: the value every threshold is held against.

    Parameters
    ----------
    ancestors : int32 array, shape (n_topics, max_depth + 1)
        Root paths, -1 padded.
    information_content : float64 array, shape (n_topics,)
    sets : TopicSets
    x, y : integer arrays, shape (n_pairs,)
        Set numbers.

    Returns
    -------
    float64 array, shape (n_pairs,)
        In [0, 1]. Symmetric, and independent of what else is in the batch, to the bit.
    """
    sizes = sets.sizes
    result = np.empty(len(x))
    shapes, group = np.unique(np.stack([sizes[x], sizes[y]], axis=1), axis=0, return_inverse=True)
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(len(shapes) + 1))
    for (size_x, size_y), start, stop in zip(shapes.tolist(), bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        step = max(1, _CHUNK_MEMBERS // (size_x * size_y))
        for chunk in range(start, stop, step):
            pairs = order[chunk : min(chunk + step, stop)]
            t, u = sets.of_size(x[pairs], size_x), sets.of_size(y[pairs], size_y)
            result[pairs] = _average(lin_similarity(ancestors, information_content, t[:, :, None], u[:, None, :]))
    return result


def _average(similarity: FloatArray) -> FloatArray:
    """Best-match averages of a stack of similarity matrices, shape (n, rows, columns) -> (n,)."""
    _, rows, columns = similarity.shape
    row_sum = _sum_in_order(similarity.max(axis=2))
    column_sum = _sum_in_order(similarity.max(axis=1))
    return np.asarray((row_sum + column_sum) / (rows + columns))


def _sum_in_order(values: FloatArray) -> FloatArray:
    """Row sums of a matrix by one addition after another (numpy's own sum adds in pairs)."""
    total = np.zeros(len(values))
    for column in values.T:
        total += column
    return total


def _list_sums(lists: Lists) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Sum of every list in order (NaN where it holds a NULL) and its length (0 where it is NULL)."""
    array = _one_array(lists)
    counts = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    values = pc.list_flatten(array).cast(pa.float64()).to_numpy(zero_copy_only=False)
    starts = np.cumsum(counts) - counts
    sums = np.zeros(len(counts))
    for place in range(int(counts.max(initial=0))):
        rows = np.flatnonzero(counts > place)
        sums[rows] += values[starts[rows] + place]
    return sums, counts


def _one_array(column: Lists) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
