"""Jaccard similarity of token sets, and the integer overlap at which a pair qualifies.

``J(a, b) = |a ∩ b| / |a ∪ b|`` (Jaccard 1912), in [0, 1]; two empty sets have no similarity (NULL).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

Lists: TypeAlias = "pa.Array | pa.ChunkedArray"

COMPARISONS = ("exact", "published")
"""How a similarity is held against a threshold.

``exact``      float64 similarity >= float64 threshold.
``published``  both rounded to float16 first. The published thresholds were taken from similarities
               stored as float16: 0.21057128906295475 rounds to the float16 0.2105712890625, and so
               does 4/19 = 0.210526..., which therefore qualifies although it is smaller.
"""


def jaccard(a: Lists, b: Lists) -> pa.DoubleArray:
    """Row-wise Jaccard similarity of two columns of token lists.

    The form is that of a DuckDB Arrow function ``(VARCHAR[], VARCHAR[]) -> DOUBLE``: chunked
    arguments, no state.

    Parameters
    ----------
    a, b : Array or ChunkedArray of list<T>, length n
        Read as sets: repeats and NULL elements do not count. Slices and differing chunks are fine.

    Returns
    -------
    DoubleArray, length n
        In [0, 1]; NULL where a list is NULL or both sets are empty.

    Raises
    ------
    ValueError
        When the lengths differ.
    """
    if len(a) != len(b):
        raise ValueError(f"Jaccard needs columns of one length, got {len(a)} and {len(b)} rows.")
    left, right = _one_array(a), _one_array(b)
    tokens = pa.concat_arrays([pc.list_flatten(left), pc.list_flatten(right)]).dictionary_encode()
    vocabulary = max(len(tokens.dictionary), 1)
    # A NULL token has no code; -1 marks it so that it is dropped below.
    codes = pc.fill_null(tokens.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    n_left = len(pc.list_flatten(left))
    keys_left = _row_token_keys(left, codes[:n_left], vocabulary)
    keys_right = _row_token_keys(right, codes[n_left:], vocabulary)
    common_keys = np.intersect1d(keys_left, keys_right, assume_unique=True)

    n = len(left)
    common = np.bincount(common_keys // vocabulary, minlength=n)
    union = np.bincount(keys_left // vocabulary, minlength=n) - common
    union += np.bincount(keys_right // vocabulary, minlength=n)
    unknown = union == 0
    for column in (left, right):
        if column.null_count:
            unknown |= column.is_null().to_numpy(zero_copy_only=False)
    return pa.array(common / np.maximum(union, 1), mask=unknown)


def qualifies(similarity: ArrayLike, threshold: float, comparison: str) -> NDArray[np.bool_]:
    """Whether similarities reach a threshold; NaN (no similarity) never does.

    Parameters
    ----------
    similarity : float64, any shape
    threshold : float
    comparison : {"exact", "published"}
        See `COMPARISONS`.

    Raises
    ------
    ValueError
        For another comparison, or a threshold that is no number.
    """
    _check_threshold(threshold, comparison)
    values = np.asarray(similarity, dtype=np.float64)
    if comparison == "published":
        return np.asarray(values.astype(np.float16) >= np.float16(threshold))
    return np.asarray(values >= threshold)


def minimum_overlap(
    size_a: ArrayLike, size_b: ArrayLike, threshold: float, comparison: str = "exact"
) -> NDArray[np.int64]:
    """Smallest number of common tokens at which two sets of given sizes qualify.

    Parameters
    ----------
    size_a, size_b : integers >= 0, broadcast against each other
    threshold : float
        Any number; above 1 nothing qualifies, at 0 or below everything but two empty sets does.
    comparison : {"exact", "published"}

    Returns
    -------
    int64, the broadcast shape
        ``min(size_a, size_b) + 1``, which no pair reaches, where no overlap is enough.

    Raises
    ------
    ValueError
        For a negative size, another comparison, or a threshold that is no number.

    Notes
    -----
    The similarity ``o / (a + b - o)`` rises with o and rounding keeps the order, so bisection finds
    the smallest qualifying o; it uses the very division and comparison of `qualifies`, so that an
    integer test on overlaps and a test on similarities never differ.
    """
    _check_threshold(threshold, comparison)
    a, b = np.broadcast_arrays(np.asarray(size_a, dtype=np.int64), np.asarray(size_b, dtype=np.int64))
    if a.size and min(a.min(), b.min()) < 0:
        raise ValueError("A set size is negative. Sizes count tokens and start at 0.")
    low = np.zeros(a.shape, dtype=np.int64)
    high = np.minimum(a, b) + 1
    while np.any(low < high):
        middle = (low + high) // 2
        union = a + b - middle
        value = np.divide(middle, union, out=np.full(a.shape, np.nan), where=union > 0)
        enough = qualifies(value, threshold, comparison)
        searching = low < high
        high = np.where(searching & enough, middle, high)
        low = np.where(searching & ~enough, middle + 1, low)
    return low


def _one_array(lists: Lists) -> pa.Array:
    return lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists


def _row_token_keys(lists: pa.Array, codes: NDArray[np.int64], vocabulary: int) -> NDArray[np.int64]:
    """Sorted distinct ``row * vocabulary + code`` of the tokens of a list column."""
    rows: NDArray[Any] = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    keys = rows.astype(np.int64) * vocabulary + codes
    return np.unique(keys[codes >= 0])


def _check_threshold(threshold: float, comparison: str) -> None:
    if comparison not in COMPARISONS:
        raise ValueError(f"Unknown comparison {comparison!r}. Use one of: {', '.join(COMPARISONS)}.")
    if np.isnan(threshold):
        raise ValueError("The similarity threshold is not a number. Set it to a value such as 0.211.")
