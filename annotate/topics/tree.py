"""The ontology as a tree of topics in arrays, as the traversal and the lexical scorer need it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.ontologies import Edge, Topic, unfold
from warehouse.settings import Settings
from warehouse.variants import OntologyInUse

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class TopicTree:
    """Topics in depth-first order, so that a subtree is a run of positions; position 0 is the root.

    Attributes
    ----------
    topic_ids, labels
        Root path and label of each topic, length T.
    parent
        Position of the parent, -1 at the root, shape (T,).
    depth
        Edges from the root, shape (T,).
    children
        Positions of the children of each topic, in the order of their ids.
    version
        Hash of the topic ids: two trees of one version ask the same questions.
    """

    topic_ids: tuple[str, ...]
    labels: tuple[str, ...]
    parent: IntArray
    depth: IntArray
    children: tuple[tuple[int, ...], ...]
    version: str = field(default="")

    def __len__(self) -> int:
        return len(self.topic_ids)

    def path(self, topic: int) -> str:
        """Labels from the root down, for people and prompts: ``Mathematics > Geometry > Surfaces``."""
        steps = []
        while topic >= 0:
            steps.append(self.labels[topic])
            topic = int(self.parent[topic])
        return " > ".join(reversed(steps))

    def start(self) -> int:
        """Where a traversal starts: the root, or below it the first topic with a choice of children.

        The root is no candidate, so an only child of it would stand in its call alone, score nothing
        (all candidates equal) and end every traversal. Below such a root there is nothing to decide.
        """
        topic = 0
        while len(self.children[topic]) == 1:
            topic = self.children[topic][0]
        return topic


def build_tree(topics: Iterable[Topic], excluded_branches: Sequence[str] = ()) -> TopicTree:
    """Arrange unfolded topics; the branches (children of the root) with an excluded label are left out.

    Raises
    ------
    SaberError
        When nothing is left to assign.
    """
    ordered = sorted(topics, key=lambda topic: (topic.depth > 0, topic.topic_id))
    below: dict[str | None, list[Topic]] = {}
    for topic in ordered:
        if topic.depth != 1 or topic.label not in excluded_branches:
            below.setdefault(topic.parent_id, []).append(topic)
    roots = below.get(None, [])
    if len(roots) != 1 or roots[0].topic_id not in below:
        raise SaberError(
            "The ontology has no topic to assign (one root with branches is needed, and excluded_branches in "
            "saber.toml must leave some). Land one: saber ingest ontology PATH --name NAME"
        )
    placed: list[Topic] = []
    parents: list[int] = []
    stack = [(roots[0], -1)]
    while stack:
        topic, parent = stack.pop()
        position = len(placed)
        placed.append(topic)
        parents.append(parent)
        stack.extend((child, position) for child in reversed(below.get(topic.topic_id, [])))
    children: list[list[int]] = [[] for _ in placed]
    for position, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(position)
    digest = hashlib.sha256("\n".join(topic.topic_id for topic in placed).encode()).hexdigest()[:12]
    return TopicTree(
        tuple(topic.topic_id for topic in placed),
        tuple(topic.label for topic in placed),
        np.array(parents, dtype=np.int64),
        np.array([topic.depth for topic in placed], dtype=np.int64),
        tuple(tuple(positions) for positions in children),
        digest,
    )


def load_tree(landing: Landing, settings: Settings, ontology: OntologyInUse) -> TopicTree:
    """Read the ontology in use from the landing, unfold it and leave the excluded branches out.

    The landed edges are read, not the mart ``ontology.topics`` (same ids, by the same rules), so that the
    tree is never older than the variant hash that is stamped on the rows.
    """
    if not ontology.name:
        raise SaberError("No ontology has landed yet. Land one: saber ingest ontology PATH --name NAME")
    landed = landing.read("ontology_edges").select(["ontology", "parent", "child", "label"]).to_pylist()
    edges = [
        Edge(row["parent"], row["child"], row["label"] or row["child"])
        for row in landed
        if row["ontology"] == ontology.name
    ]
    topics = unfold(edges, settings.ontology.max_topics)
    return build_tree(topics, settings.ontology.excluded_branches)
