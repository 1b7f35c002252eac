"""From links between copies to groups: connected components, one survivor each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


def components(size: int, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Label of the connected component of each of ``size`` nodes."""
    ones = np.ones(len(pairs), np.int8)
    graph = coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    return np.asarray(labels, np.int64)


def source_rank(source: str, priority: Sequence[str]) -> int:
    """Place of a source in the priority: that of the longest entry its name equals or begins with, else the last.

    ``numina`` stands for ``numina`` and ``numina-1.5`` alike, unless ``numina-1.5`` is listed too.
    """
    name = source.casefold()
    fitting = [
        (len(entry), -place)
        for place, entry in enumerate(entry.casefold() for entry in priority)
        if name == entry or (name.startswith(entry) and not name[len(entry)].isalnum())
    ]
    return -max(fitting)[1] if fitting else len(priority)


def preference(record: Mapping[str, Any], priority: Sequence[str]) -> tuple[Any, ...]:
    """Sort key of a copy: best source, then the most complete, then the least id (so the choice is stable)."""
    solution, answer = record.get("solution") or "", record.get("answer") or ""
    complete = (not solution, not answer, -len(solution), -len(record.get("metadata") or ""))
    return (source_rank(record["source"], priority), *complete, record["problem_id"])
