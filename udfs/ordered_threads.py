"""Run blocks on threads and hand their results over in order, without running far ahead of the consumer."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Results of ``work(item)`` in the order of the items, `workers` at a time.

    At most ``workers + 1`` results exist at once, so a slow consumer bounds the memory. When the consumer stops
    early, items not yet begun are dropped.

    Parameters
    ----------
    work : callable
        Should release the interpreter lock, as NumPy and SciPy do.
    items : iterable
    workers : int
        Threads, at least 1.
    """
    rest = iter(items)
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            waiting.extend(pool.submit(work, item) for item in itertools.islice(rest, workers + 1))
            while waiting:
                result = waiting.popleft().result()
                yield result
                waiting.extend(pool.submit(work, item) for item in itertools.islice(rest, 1))
        finally:
            for future in waiting:
                future.cancel()
