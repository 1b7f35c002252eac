"""Topic pairs by the definition, walking the ontology in Python."""

import math
from collections import Counter
from functools import cache
from itertools import combinations

from bench.stage import Outcome, Stage, Workbench
from bench.tables import THRESHOLDS, connect


def run(workbench: Workbench) -> Outcome:
    """Compare every pair of problems."""
    connection = connect(workbench.database, read_only=True)
    parent = dict(connection.execute("select topic_id, parent_id from topics").fetchall())
    sets = [
        topics
        for (topics,) in connection.execute(
            "select list(topic_id) from problem_topics group by problem_id"
        ).fetchall()
    ]

    @cache
    def path(topic: str) -> list[str]:
        return [topic] if parent[topic] is None else [topic, *path(parent[topic])]

    counts = Counter(ancestor for topics in sets for topic in topics for ancestor in path(topic))
    total = sum(map(len, sets))
    information = {topic: -math.log(count / total) for topic, count in counts.items()}

    @cache
    def lin(t: str, u: str) -> float:
        if t == u:
            return 1.0
        shared = next(ancestor for ancestor in path(t) if ancestor in path(u))
        return 2 * information[shared] / (information[t] + information[u] + 1e-12)

    def reaches(x: list[str], y: list[str]) -> bool:
        best = sum(max(lin(t, u) for u in y) for t in x) + sum(max(lin(t, u) for t in x) for u in y)
        return best / (len(x) + len(y)) >= THRESHOLDS["topic"]

    return Outcome(sum(reaches(x, y) for x, y in combinations(sets, 2)))


STAGE = Stage("topic_pairs: brute force", 30, run, peer_of="topic_pairs", largest=1_000, unit="pairs")
