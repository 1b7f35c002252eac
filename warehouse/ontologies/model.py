"""An ontology as landed: edges with labels, and what the reader had to say about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Edge(NamedTuple):
    """One edge; the root has an edge without a parent. ``label`` is the child's.

    In a nested tree ``parent`` and ``child`` are topic ids (root paths), in an edge list the nodes' own
    names; in both a topic's id is the path of the labels.
    """

    parent: str | None
    child: str
    label: str


class Topic(NamedTuple):
    """One topic of the unfolded tree; the root has depth 0 and no parent."""

    topic_id: str
    parent_id: str | None
    label: str
    depth: int
    node: str


@dataclass
class Ontology:
    """An ontology that passed its checks.

    Attributes
    ----------
    name : str
        What the ontology is called.
    edges : list of Edge
        Rows of the landed table, the root's first.
    warnings : list of str
        What a reader should look at (near-equal labels, merged siblings, repeated edges).
    counts : dict of str to int
        nodes_in (as given), nodes (after merging), edges, roots, multi_parent_nodes.
    """

    name: str
    edges: list[Edge]
    warnings: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def rows(self) -> list[dict[str, str | None]]:
        """Rows of the landed table ``ontology_edges``."""
        return [
            {"ontology": self.name, "parent": edge.parent, "child": edge.child, "label": edge.label}
            for edge in self.edges
        ]


def listed(names: list[str], limit: int = 10) -> str:
    """Names for a message: the first few, then how many more."""
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")
