"""Figures for print: pure functions, a table in and a matplotlib figure out; nothing here reads a warehouse.

Tables are polars data frames, or whatever polars reads (Arrow). matplotlib comes with the extra ``notebooks``.
"""

from warehouse.figures.ablation import cumulative_ranks
from warehouse.figures.bars import shares, stacked_counts
from warehouse.figures.curves import curves
from warehouse.figures.distributions import distributions, pair_shares
from warehouse.figures.intervals import intervals, with_wilson
from warehouse.figures.matrix import matrix
from warehouse.figures.scatter import scatter
from warehouse.figures.style import plain

__all__ = [
    "cumulative_ranks",
    "curves",
    "distributions",
    "intervals",
    "matrix",
    "pair_shares",
    "plain",
    "scatter",
    "shares",
    "stacked_counts",
    "with_wilson",
]
