"""How many pairs will qualify and how long finding them takes, from a sample of the computation's own blocks."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from udfs.bma_blocks import count_blocks, similar_set_pairs
from udfs.bma_space import SetSpace
from udfs.jaccard_blocks import qualifying_pairs
from udfs.jaccard_index import TokenSetIndex

LEAST_BLOCKS = 24
_PRIMES = (2, 3, 5, 7, 11, 17, 29, 53, 97)
"""Steps between sampled blocks: no multiple of the regular order in which blocks of a kind follow each other."""


@dataclass(frozen=True)
class Estimate:
    """What a computation is expected to be.

    Attributes
    ----------
    n_compared : int
        Pairs it compares, known exactly.
    n_pairs : float
        Pairs that qualify.
    cpu_seconds : float
        Processor time on this machine.
    n_blocks, n_sampled : int
        Blocks in all, and how many were computed to know.
    """

    n_compared: int
    n_pairs: float
    cpu_seconds: float
    n_blocks: int
    n_sampled: int


def estimate_topic_pairs(
    space: SetSpace, threshold: float, comparison: str = "exact", *, first_new_set: int = 0, share: float = 0.01
) -> Estimate:
    """Estimate `similar_set_pairs`.

    Parameters
    ----------
    space : SetSpace
    threshold, comparison, first_new_set
        As for :func:`udfs.bma_blocks.similar_set_pairs`.
    share : float
        Share of the blocks to compute, at least 24 of them where there are as many.
    """
    n_sets = len(space.sets)
    n_blocks = count_blocks(n_sets, first_new_set)
    step = _step(n_blocks, share)
    n_compared = (n_sets * n_sets - first_new_set * first_new_set) // 2
    blocks = similar_set_pairs(
        space,
        threshold,
        comparison=comparison,
        first_new_set=first_new_set,
        start_block=step // 2,
        every=step,
        workers=1,
    )
    lengths = (len(block.x) for block in blocks)
    return _scaled(lengths, n_blocks, n_compared)


def estimate_summary_pairs(
    index: TokenSetIndex, threshold: float, comparison: str = "exact", *, first_new_row: int = 0, share: float = 0.01
) -> Estimate:
    """Estimate `qualifying_pairs`; see there and :func:`estimate_topic_pairs`."""
    n_compared = (index.n_rows * index.n_rows - first_new_row * first_new_row) // 2
    first = next(
        qualifying_pairs(index, threshold, comparison, first_new_row=first_new_row, workers=1), None
    )  # says how many there are
    if first is None:
        return Estimate(n_compared, 0.0, 0.0, 0, 0)
    step = _step(first.n_blocks, share)
    blocks = qualifying_pairs(
        index, threshold, comparison, first_new_row=first_new_row, start_block=step // 2, every=step, workers=1
    )
    return _scaled((len(block.i) for block in blocks), first.n_blocks, n_compared)


def _scaled(lengths: Iterable[int], n_blocks: int, n_compared: int) -> Estimate:
    """Compute the sampled blocks; the first one's time holds the preparation, which is not scaled."""
    begun = time.process_time()
    found: list[int] = []
    marks = [begun]
    for length in lengths:
        found.append(length)
        marks.append(time.process_time())
    if not found:
        return Estimate(n_compared, 0.0, 0.0, n_blocks, 0)
    prepared = marks[1] - marks[0]
    each = (marks[-1] - marks[1]) / (len(found) - 1) if len(found) > 1 else prepared
    seconds = max(prepared - each, 0.0) + each * n_blocks
    return Estimate(n_compared, sum(found) / len(found) * n_blocks, seconds, n_blocks, len(found))


def _step(n_blocks: int, share: float) -> int:
    """Distance between sampled blocks."""
    widest = min(1 / share, n_blocks / LEAST_BLOCKS)
    return max((prime for prime in _PRIMES if prime <= widest), default=1)
