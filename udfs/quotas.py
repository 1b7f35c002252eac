"""Draw queries with equal quotas over domains, a query's weight 1 being shared by its domains."""

from __future__ import annotations

from collections.abc import Sequence

_TOLERANCE = 1e-9


def fill_quotas(
    queries: Sequence[str], domains: Sequence[Sequence[str]], names: Sequence[str], wanted: int
) -> list[tuple[str, str]]:
    """Choose up to `wanted` queries so that every domain receives the same total weight where it can.

    Each step serves the domain that has received least (the earliest in `names` on a tie) with its next query in
    the given order; the query's weight, 1, is shared equally by its domains. A domain that has run dry is left
    out, so that its shortfall goes to the others and shows in the totals.

    Parameters
    ----------
    queries
        Distinct query ids in drawing order, length n.
    domains
        For each query the domains it bears (at least one, each in `names`), length n.
    names
        All domains, in order.
    wanted
        Number of queries to choose.

    Returns
    -------
    list of (query, domain)
        The chosen queries in the order of choice, each with the domain whose turn it was; at most `wanted`.

    Raises
    ------
    ValueError
        When a query bears no domain or one that is not in `names`.
    """
    queues: dict[str, list[int]] = {name: [] for name in names}
    for index, borne in enumerate(domains):
        unknown = [domain for domain in borne if domain not in queues]
        if unknown or not borne:
            raise ValueError(f"query {queries[index]!r} bears unknown domains {unknown}")
        for domain in borne:
            queues[domain].append(index)
    received = dict.fromkeys(names, 0.0)
    position = dict.fromkeys(names, 0)
    taken = [False] * len(queries)
    chosen: list[tuple[str, str]] = []
    while len(chosen) < wanted:
        for name in names:
            while position[name] < len(queues[name]) and taken[queues[name][position[name]]]:
                position[name] += 1
        open_names = [name for name in names if position[name] < len(queues[name])]
        if not open_names:
            break
        least = min(received[name] for name in open_names)
        turn = next(name for name in open_names if received[name] <= least + _TOLERANCE)
        index = queues[turn][position[turn]]
        taken[index] = True
        for domain in domains[index]:
            received[domain] += 1.0 / len(domains[index])
        chosen.append((queries[index], turn))
    return chosen
