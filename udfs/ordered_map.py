"""Run a function over tasks on threads, results in task order, only a few in flight."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def ordered_map(function: Callable[[Task], Result], tasks: Iterable[Task], workers: int) -> Iterator[Result]:
    """Yield ``function(task)`` for each task in order, computed by `workers` threads.

    At most ``workers + 1`` results are computed or waiting at a time: unlike ``Executor.map`` this bounds
    memory when the consumer is slower than the workers. One worker runs in the caller's thread. Closing
    the generator early cancels what has not started.

    Raises
    ------
    ValueError
        When `workers` is below 1. Exceptions of `function` are raised at their task's place.
    """
    if workers < 1:
        raise ValueError(f"{workers} workers cannot work. Use at least 1.")
    if workers == 1:
        yield from map(function, tasks)
        return
    remaining = iter(tasks)
    waiting: deque[Future[Result]] = deque()
    executor = ThreadPoolExecutor(workers)
    try:
        for task in remaining:
            waiting.append(executor.submit(function, task))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
