"""The penalised likelihood of blocks of queries padded to one number of items, and its derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from annotate.ratings.comparisons import BoolArray, Comparisons, IntArray, RealArray, Structure

_BLOCK_BYTES = 24 * 2**20  # one block's Hessians: small enough to stay near the cache


@dataclass(frozen=True)
class Block:
    """Queries of similar size padded to one number of items."""

    queries: IntArray  # (queries,) which queries
    items: IntArray  # (queries, items) item numbers, -1 for padding
    first: IntArray  # (judgments,) position in the flattened (queries, items)
    second: IntArray
    judgments: IntArray  # (judgments,) rows of the comparisons
    share: RealArray
    weight: RealArray
    component: IntArray  # (queries, items) unique block number of the item's component, -1 for padding

    @property
    def shape(self) -> tuple[int, int]:
        return self.items.shape[0], self.items.shape[1]


def blocks(comparisons: Comparisons, graph: Structure) -> Iterator[Block]:
    """Cut the queries into blocks, similar sizes together so that little is padding."""
    order = np.argsort(comparisons.query_sizes, kind="stable")
    order = order[comparisons.query_sizes[order] > 0]
    sizes, offsets = comparisons.query_sizes, comparisons.offsets
    judgment_query = comparisons.item_query[comparisons.first]
    by_query = np.argsort(judgment_query, kind="stable")
    starts = np.searchsorted(judgment_query[by_query], np.arange(len(sizes) + 1))
    position = 0
    while position < len(order):
        # Sizes ascend, so the number that fits is judged by the largest of the next queries.
        count = len(order) - position
        while count > 1 and count * sizes[order[position + count - 1]] ** 2 * 8 > _BLOCK_BYTES:
            count = (count + 1) // 2
        chosen = order[position : position + count]
        position += count
        width = int(sizes[chosen[-1]])
        column = np.arange(width)
        items = np.where(column < sizes[chosen, None], offsets[chosen, None] + column, -1)
        rows = np.concatenate([by_query[starts[q] : starts[q + 1]] for q in chosen])
        shift = np.zeros(len(sizes), dtype=np.int64)
        shift[chosen] = np.arange(count) * width - offsets[chosen]
        row_shift = shift[judgment_query[rows]]
        yield Block(
            queries=chosen,
            items=items,
            first=comparisons.first[rows] + row_shift,
            second=comparisons.second[rows] + row_shift,
            judgments=rows,
            share=comparisons.first_share[rows],
            weight=comparisons.weight[rows],
            component=np.where(items >= 0, graph.block[items], -1),
        )


def information(block: Block, theta: RealArray, weight: RealArray) -> RealArray:
    """Second derivative of each judgment's loss in its margin."""
    flat = theta.ravel()
    probability = _logistic(flat[block.first] - flat[block.second])
    return weight * probability * (1.0 - probability)


def objective(block: Block, theta: RealArray, ridge: float, weight: RealArray) -> RealArray:
    """−log L + (λ/2) Σθ² of each query, shape (queries,)."""
    flat = theta.ravel()
    margin = flat[block.first] - flat[block.second]
    loss = weight * (np.logaddexp(0.0, margin) - block.share * margin)
    total = np.bincount(block.first // block.shape[1], loss, minlength=block.shape[0])
    penalty = 0.5 * ridge * (theta**2).sum(axis=1)
    return np.asarray(total + penalty, dtype=np.float64)


def gradient(block: Block, theta: RealArray, ridge: float, weight: RealArray) -> RealArray:
    """Gradient of the objective, shape (queries, items)."""
    flat = theta.ravel()
    residual = weight * (_logistic(flat[block.first] - flat[block.second]) - block.share)
    slope = np.bincount(block.first, residual, flat.size) - np.bincount(block.second, residual, flat.size)
    return slope.reshape(block.shape) + ridge * theta


def curvature(block: Block, theta: RealArray, ridge: float, weight: RealArray | None = None) -> RealArray:
    """H + λI of each query, shape (queries, items, items), invertible in every case.

    For λ = 0 the flat direction of each component gets the projector 1·1ᵀ/size: it changes neither the
    Newton step (the gradient sums to 0 over a component) nor, once taken off again, the pseudo-inverse.
    """
    weight = block.weight if weight is None else weight
    n_queries, width = block.shape
    bending = information(block, theta, weight)
    cell = block.first * width + block.second % width
    upper = np.bincount(cell, bending, n_queries * width * width).reshape(n_queries, width, width)
    matrix: RealArray = -np.asarray(upper + upper.transpose(0, 2, 1), dtype=np.float64)
    diagonal = np.arange(width)
    # Padding gets an equation of its own that adds nothing to the determinant.
    matrix[:, diagonal, diagonal] = np.where(block.items < 0, 1.0, ridge - matrix.sum(axis=2))
    if ridge == 0:
        matrix += _projector(block)
    return matrix


def _projector(block: Block) -> RealArray:
    same = (block.component[:, :, None] == block.component[:, None, :]) & (block.component >= 0)[:, :, None]
    return np.asarray(same / np.maximum(same.sum(axis=2, keepdims=True), 1), dtype=np.float64)


def flat_part(block: Block, ridge: float) -> RealArray:
    """Variance that the projector of :func:`curvature` adds to each item at λ = 0."""
    if ridge > 0:
        return np.zeros(block.shape)
    return np.ascontiguousarray(np.diagonal(_projector(block), axis1=1, axis2=2))


def without(block: Block, dropped: BoolArray) -> Block:
    """Give the judgments of some queries of a block no weight, their items being components of their own."""
    if not dropped.any():
        return block
    kept = ~dropped[block.first // block.shape[1]]
    alone = np.where(block.items >= 0, np.arange(block.shape[1]), -1)
    component = np.where(dropped[:, None], alone, block.component)
    return replace(block, weight=block.weight * kept, component=component)


def _logistic(x: RealArray) -> RealArray:
    half = 0.5 * (1.0 + np.tanh(0.5 * x))
    return np.asarray(half, dtype=np.float64)
