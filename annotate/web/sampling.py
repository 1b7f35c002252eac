"""Which pairs an annotator judges, and in which order: pure functions of a pool, a seed and a name."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable

from annotate.web.pool import UNRATED, Pair, Pool
from warehouse.identity import coin, uniform


def shared_pairs(pool: Pool, overlap: int, seed: int) -> list[Pair]:
    """Return the pairs that every annotator judges: uniform over all candidate pairs.

    They do not depend on the ratings. Otherwise an annotator who begins after a new fit of the ratings would
    get others, and the share on which annotators agree would rest on nothing.
    """
    everything = (pair for pairs in pool.bands.values() for pair in pairs)
    return heapq.nsmallest(overlap, everything, key=lambda pair: (_draw(seed, pair), pair))


def choose_pairs(
    pool: Pool, tasks: int, overlap: int, seed: int, annotator: str, judged: Collection[Pair] = ()
) -> list[Pair]:
    """Return the task list of an annotator in the order of presentation.

    Parameters
    ----------
    pool
        The pairs to draw from.
    tasks
        Length of the list. It is longer where the shared and the judged pairs alone are more, and shorter
        where the pool is too small.
    overlap
        How many pairs are shared with all other annotators.
    seed
        Seed of every draw.
    annotator
        The annotator's name; capitals do not count.
    judged
        Pairs the annotator has judged: they stay in the list and count towards its balance, whatever ratings
        have come since.

    Returns
    -------
    list of Pair
        Every band of rank difference stands in the list equally often, as far as the pool, the shared and the
        judged pairs allow; unrated pairs come in only when the rated ones are used up.
    """
    person = annotator.casefold()
    chosen = {*shared_pairs(pool, overlap, seed), *judged}
    counts = {band: sum(pair in chosen for pair in pairs) for band, pairs in pool.bands.items() if band != UNRATED}
    waiting = {
        band: _shuffled((pair for pair in pairs if pair not in chosen), seed, person)
        for band, pairs in pool.bands.items()
    }
    while len(chosen) < tasks:
        open_bands = [band for band in counts if waiting[band]]
        if open_bands:
            band = min(open_bands, key=lambda number: (counts[number], number))
            counts[band] += 1
        elif waiting.get(UNRATED):
            band = UNRATED
        else:
            break
        chosen.add(waiting[band].pop())
    return sorted(chosen, key=lambda pair: (_draw(seed, pair, "order", person), pair))


def in_order_of_showing(pair: Pair, seed: int, annotator: str) -> tuple[str, str]:
    """Return (first, second): each annotator's own coin decides, so that agreement owes nothing to position."""
    if coin(seed, "first shown", annotator.casefold(), pair.query_id, pair.lower_id, pair.higher_id):
        return pair.lower_id, pair.higher_id
    return pair.higher_id, pair.lower_id


def _draw(seed: int, pair: Pair, *purpose: str) -> float:
    return uniform(seed, *purpose, pair.query_id, pair.lower_id, pair.higher_id)


def _shuffled(pairs: Iterable[Pair], seed: int, person: str) -> list[Pair]:
    """Order pairs for one person, the next to take last."""
    return sorted(pairs, key=lambda pair: (_draw(seed, pair, "own", person), pair), reverse=True)
