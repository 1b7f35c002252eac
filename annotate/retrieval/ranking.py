"""The order of a run's documents, and what makes a run unfit to land."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from annotate.retrieval.base import FloatArray, IntArray
from warehouse.errors import SaberError

_SHOWN = 5


def best(scores: FloatArray, top: int) -> IntArray:
    """Return the indices of the `top` largest scores, best first; of equal scores the lower index comes first.

    Documents are in ascending order of their ids, so this is "score desc, document_id asc".

    Parameters
    ----------
    scores : shape (n,), finite

    Returns
    -------
    shape (min(n, top),)
    """
    n = len(scores)
    if top < n:
        # Sorting 283,000 scores a query would cost more than scoring them: cut first, ties at the cut by index.
        cut = np.partition(scores, n - top)[n - top]
        above = np.flatnonzero(scores > cut)
        at_cut = np.flatnonzero(scores == cut)[: top - len(above)]
        chosen = np.sort(np.concatenate([above, at_cut]))
    else:
        chosen = np.arange(n)
    # A stable sort keeps ascending indices among equal scores.
    return chosen[np.argsort(-scores[chosen], kind="stable")].astype(np.int64)


def check_run(
    run: str,
    query_ids: Sequence[str],
    document_ids: Sequence[str],
    scores: FloatArray,
    allowed: Mapping[str, Collection[str]],
) -> None:
    """Refuse a run that cannot be evaluated.

    Parameters
    ----------
    run
        Name of the run or file, for the message.
    query_ids, document_ids, scores
        Parallel: one entry a row of the run.
    allowed
        The documents that may be ranked for each query (its candidates, or the eligible corpus).

    Raises
    ------
    SaberError
        For non-finite scores, a document twice for a query, an unknown query or document, or the query
        itself among its documents; the message names them.
    """
    if not len(query_ids) == len(document_ids) == len(scores):
        raise ValueError("query_ids, document_ids and scores must have one entry a row")
    pairs = list(zip(query_ids, document_ids, strict=True))
    _refuse(run, "scores that are no finite number", [pairs[i] for i in np.flatnonzero(~np.isfinite(scores))])
    seen: set[tuple[str, str]] = set()
    repeated = [pair for pair in pairs if pair in seen or seen.add(pair)]  # type: ignore[func-returns-value]
    _refuse(run, "documents ranked twice", repeated)
    _refuse(run, "unknown queries", sorted({(query,) for query in query_ids if query not in allowed}))
    _refuse(run, "queries ranked for themselves", [pair for pair in pairs if pair[0] == pair[1]])
    _refuse(run, "documents that may not be ranked", [pair for pair in pairs if pair[1] not in allowed[pair[0]]])


def _refuse(run: str, what: str, rows: Sequence[tuple[str, ...]]) -> None:
    if not rows:
        return
    shown = "; ".join(" ".join(row) for row in rows[:_SHOWN])
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    raise SaberError(
        f"Run {run} has {what} (query document): {shown}{more}. "
        "None of these rows has landed: mend the system or file."
    )
