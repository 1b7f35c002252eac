"""Judgments of many queries as flat arrays, and what their comparison graphs allow to be estimated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

IntArray = npt.NDArray[np.int64]
RealArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Comparisons:
    """Verdicts between items; items of one query stand together and meet only each other.

    Attributes
    ----------
    query_sizes
        Shape (queries,): number of items of each query; item numbers run through the queries in order.
    first, second
        Shape (judgments,): the two items of each judgment, counted over all queries.
    first_share
        Shape (judgments,): share of the win that goes to ``first``: 1, 0, or ½ for a tie.
    weight
        Shape (judgments,), at least 0: how often the judgment counts.

    Raises
    ------
    ValueError
        When the arrays' lengths differ, items are unknown or of different queries, an item is compared
        with itself, or a share or weight is out of range.
    """

    query_sizes: IntArray
    first: IntArray
    second: IntArray
    first_share: RealArray
    weight: RealArray

    def __post_init__(self) -> None:
        lengths = {len(self.first), len(self.second), len(self.first_share), len(self.weight)}
        if len(lengths) > 1:
            raise ValueError(f"Columns of comparisons have different lengths: {sorted(lengths)}.")
        if not len(self.first):
            return
        both = np.concatenate([self.first, self.second])
        if both.min() < 0 or both.max() >= self.n_items:
            raise ValueError(f"Comparisons name items outside 0 … {self.n_items - 1}.")
        if (self.first == self.second).any():
            raise ValueError(f"Item {self.first[self.first == self.second][0]} is compared with itself.")
        if (self.item_query[self.first] != self.item_query[self.second]).any():
            raise ValueError("A comparison joins items of two queries.")
        if not ((self.first_share >= 0) & (self.first_share <= 1)).all():
            raise ValueError("A share of a win lies outside [0, 1].")
        if not ((self.weight >= 0) & np.isfinite(self.weight)).all():
            raise ValueError("A weight is negative or not finite.")

    @property
    def n_items(self) -> int:
        """Number of items over all queries."""
        return int(self.query_sizes.sum())

    @property
    def offsets(self) -> IntArray:
        """Shape (queries + 1,): the first item of each query, and the number of items."""
        return np.concatenate([[0], np.cumsum(self.query_sizes)]).astype(np.int64)

    @property
    def item_query(self) -> IntArray:
        """Shape (items,): the query of each item."""
        return np.repeat(np.arange(len(self.query_sizes)), self.query_sizes)

    def counts(self) -> IntArray:
        """Shape (items,): number of judgments of positive weight each item takes part in."""
        played = self.weight > 0
        return np.bincount(np.concatenate([self.first[played], self.second[played]]), minlength=self.n_items).astype(
            np.int64
        )

    def queries(self, start: int, stop: int) -> Comparisons:
        """Return the queries from `start` to before `stop`, their items counted from 0."""
        offsets = self.offsets
        low, high = offsets[start], offsets[stop]
        inside = (self.first >= low) & (self.first < high)
        return Comparisons(
            self.query_sizes[start:stop],
            self.first[inside] - low,
            self.second[inside] - low,
            self.first_share[inside],
            self.weight[inside],
        )


@dataclass(frozen=True)
class Structure:
    """What a comparison graph determines.

    Attributes
    ----------
    component
        Shape (items,): number of the item's connected component within its query, from 0, larger ones
        first; strengths of different components cannot be compared without the ridge.
    n_components
        Shape (queries,): number of components that hold at least one judged item (unjudged items, each a
        component of its own, are left out).
    separable
        Shape (items,): the item's maximum-likelihood strength relative to its component is infinite. Within
        a component the likelihood has a maximum exactly when every item can be reached from every other
        along "won or tied against" (Ford 1957); flagged are the items outside the largest such set, all
        items when no set of two or more stands alone as the largest.
    block
        Shape (items,): component numbers that are unique over all queries.
    """

    component: IntArray
    n_components: IntArray
    separable: BoolArray
    block: IntArray


def structure(comparisons: Comparisons) -> Structure:
    """Find components and separable items of every query's comparison graph."""
    n = comparisons.n_items
    played = comparisons.weight > 0
    first, second, share = (
        column[played] for column in (comparisons.first, comparisons.second, comparisons.first_share)
    )
    winners = np.concatenate([first[share > 0], second[share < 1]])
    losers = np.concatenate([second[share > 0], first[share < 1]])
    graph = csr_array((np.ones(len(winners), dtype=np.int8), (winners, losers)), shape=(n, n))
    n_blocks, block = connected_components(graph, directed=False)
    n_strong, strong = connected_components(graph, directed=True, connection="strong")
    block, strong = block.astype(np.int64), strong.astype(np.int64)
    return Structure(
        component=_rank_components(comparisons, block, n_blocks),
        n_components=_judged_components(comparisons, block, n_blocks),
        separable=_outside_largest(block, n_blocks, strong, n_strong),
        block=block,
    )


def _rank_components(comparisons: Comparisons, block: IntArray, n_blocks: int) -> IntArray:
    """Number each query's components from 0: larger first, then by first item."""
    first_item = np.full(n_blocks, comparisons.n_items, dtype=np.int64)
    np.minimum.at(first_item, block, np.arange(comparisons.n_items))
    size = np.bincount(block, minlength=n_blocks)
    query = comparisons.item_query[first_item] if n_blocks else first_item
    order = np.lexsort((first_item, -size, query))
    ranked_query = query[order]
    rank = np.empty(n_blocks, dtype=np.int64)
    rank[order] = np.arange(n_blocks) - np.searchsorted(ranked_query, ranked_query)
    return rank[block]


def _judged_components(comparisons: Comparisons, block: IntArray, n_blocks: int) -> IntArray:
    query = np.zeros(n_blocks, dtype=np.int64)
    query[block] = comparisons.item_query
    judged = np.bincount(block, minlength=n_blocks) > 1
    return np.bincount(query[judged], minlength=len(comparisons.query_sizes)).astype(np.int64)


def _outside_largest(block: IntArray, n_blocks: int, strong: IntArray, n_strong: int) -> BoolArray:
    """Flag items outside the only largest strongly connected set of their component."""
    size = np.bincount(strong, minlength=n_strong)
    owner = np.zeros(n_strong, dtype=np.int64)
    owner[strong] = block
    largest = np.zeros(n_blocks, dtype=np.int64)
    np.maximum.at(largest, owner, size)
    is_largest = size == largest[owner]
    alone = np.bincount(owner[is_largest], minlength=n_blocks) == 1
    return np.asarray(~(is_largest[strong] & alone[block]), dtype=np.bool_)
