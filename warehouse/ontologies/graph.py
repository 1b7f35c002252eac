"""Checks and unfolding of a directed acyclic graph of topics, without recursion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from warehouse.errors import SaberError
from warehouse.ontologies.model import Edge, Topic, listed
from warehouse.ontologies.paths import child_id, root_id


def children_of(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Adjacency lists of (parent, child) pairs, in the order given."""
    found: dict[str, list[str]] = {}
    for parent, child in pairs:
        found.setdefault(parent, []).append(child)
    return found


def find_cycle(children: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Find one cycle and return its nodes, the first repeated at the end; None for an acyclic graph."""
    finished: set[str] = set()
    for start in children:
        if start in finished:
            continue
        path, on_path = [start], {start: 0}
        walks = [iter(children.get(start, ()))]
        while walks:
            following = next(walks[-1], None)
            if following is None:
                walks.pop()
                done = path.pop()
                on_path.pop(done)
                finished.add(done)
            elif following in on_path:
                return [*path[on_path[following] :], following]
            elif following not in finished:
                on_path[following] = len(path)
                path.append(following)
                walks.append(iter(children.get(following, ())))
    return None


def count_paths(root: str, children: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Count the paths from the root to every node it reaches (exact, without walking them).

    Raises
    ------
    SaberError
        When the graph has a cycle; the message names its nodes.
    """
    cycle = find_cycle(children)
    if cycle:
        raise SaberError(f"The ontology has a cycle: {' -> '.join(cycle)}. Remove one of its edges.")
    waiting = Counter(child for below in children.values() for child in below)
    ready = [node for node in children if not waiting[node]]
    paths: Counter[str] = Counter({root: 1})
    while ready:
        node = ready.pop()
        for child in children.get(node, ()):
            paths[child] += paths[node]
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return {node: count for node, count in paths.items() if count}


def unfold(edges: Iterable[Edge], max_topics: int = 200_000) -> list[Topic]:
    """Unfold an ontology into a tree: a node with three root paths gives three topics.

    Parameters
    ----------
    edges : iterable of Edge
        As landed; the root is the edge without a parent, or the only node that is nobody's child.
    max_topics : int
        Most topics allowed. A diamond of n levels has 2^n paths, so the number is counted first.

    Returns
    -------
    list of Topic
        Sorted by topic id, the root first.

    Raises
    ------
    SaberError
        For a cycle, for nodes the root does not reach, for siblings of one label, or for too many topics.
    """
    edges = list(edges)
    labels = {edge.child: edge.label for edge in edges}
    children = children_of((edge.parent, edge.child) for edge in edges if edge.parent is not None)
    root = _root(edges, labels)
    paths = count_paths(root, children)
    unreached = sorted(set(labels) - set(paths))
    if unreached:
        raise SaberError(f"The root {root!r} does not reach {listed(unreached)}. Connect them or remove them.")
    total = sum(paths.values())
    if total > max_topics:
        widest = sorted(paths, key=lambda node: (-paths[node], node))[:3]
        raise SaberError(
            f"The ontology unfolds into {total:,} topics, over the limit of {max_topics:,}; most paths lead to "
            f"{listed(widest)}. Remove parents that say the same twice, or raise max_topics in saber.toml."
        )
    top = root_id(labels[root], (labels[child] for child in children.get(root, ())))
    topics, stack = [], [Topic(top, None, labels[root], 0, root)]
    while stack:
        topic = stack.pop()
        topics.append(topic)
        below = children.get(topic.node, ())
        _refuse_same_labels(topic, below, labels)
        for child in below:
            path = child_id(topic.topic_id, labels[child], topic.depth == 0)
            stack.append(Topic(path, topic.topic_id, labels[child], topic.depth + 1, child))
    return sorted(topics, key=lambda topic: (topic.depth > 0, topic.topic_id))


def _root(edges: Sequence[Edge], labels: dict[str, str]) -> str:
    declared = sorted({edge.child for edge in edges if edge.parent is None})
    parents = {edge.parent for edge in edges if edge.parent is not None}
    found = declared or sorted(parents - {edge.child for edge in edges})
    for node in parents - set(labels):
        labels[node] = node
    if not edges:
        raise SaberError("The ontology has no edges. Check the file.")
    if len(found) != 1:
        what = f"several roots: {listed(found)}" if found else "no root: every node has a parent"
        raise SaberError(f"The ontology has {what}. Land it with `saber ingest ontology`, which gives it one.")
    return found[0]


def _refuse_same_labels(topic: Topic, below: Sequence[str], labels: Mapping[str, str]) -> None:
    seen = Counter(labels[child] for child in below)
    twice = [label for label, count in seen.items() if count > 1]
    if twice:
        raise SaberError(
            f"{topic.topic_id!r} has several children called {listed(twice)}. Give them distinct labels."
        )
