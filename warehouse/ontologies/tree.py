"""Nested trees (MathWorld's tree.json: title and links), read by path and never by title.

A node may bear its parent's title, and one title may stand in many places: each place is a topic of its own.
Siblings of one title have the same path, so they are merged and reported.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from warehouse.errors import SaberError
from warehouse.ontologies.model import Edge, Ontology, listed
from warehouse.ontologies.paths import child_id, root_id
from warehouse.readers.text import decode

_TITLES = ("title", "label", "name")
_CHILDREN = ("links", "children", "subtopics")


def read_tree(path: Path, name: str, shown: str) -> Ontology:
    """Read a nested tree; ``shown`` is what messages call the file.

    Raises
    ------
    SaberError
        When the file is no JSON object with a title, or a node has no title; the message gives the path.
    """
    text, _ = decode(path.read_bytes())
    try:
        top = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise SaberError(f"{shown} is no readable JSON tree: {error}. Repair the file.") from error
    if isinstance(top, list):
        top = {"title": "Mathematics", "links": top}
    if not isinstance(top, dict):
        raise SaberError(f"{shown} holds no tree: expected an object with 'title' and 'links'.")
    return _flatten(top, shown, name)


def _flatten(top: dict[str, Any], file: str, name: str) -> Ontology:
    title = _title(top, file, "the root")
    first = _children(top, file, title)
    root = root_id(title, (_title(child, file, f"a child of {title}") for child in first))
    edges = [Edge(None, root, title)]
    nodes_in, merged, differing = 1, [], []
    # Depth first with an explicit stack: a tree may be deeper than Python's own stack.
    stack: list[tuple[str, bool, list[dict[str, Any]]]] = [(root, True, first)]
    while stack:
        parent, is_root, children = stack.pop()
        groups: dict[str, list[dict[str, Any]]] = {}
        for child in children:
            nodes_in += 1
            groups.setdefault(_title(child, file, f"a child of {parent}"), []).append(child)
        for label, same in groups.items():
            child_path = child_id(parent, label, is_root)
            edges.append(Edge(parent, child_path, label))
            below = _children(same[0], file, child_path)
            if len(same) > 1:
                merged.append(child_path)
                if any(_children(other, file, child_path) != below for other in same[1:]):
                    differing.append(child_path)
                    below = [node for other in same for node in _children(other, file, child_path)]
                else:
                    # Identical copies hold the same nodes: count them, read them once.
                    nodes_in += (len(same) - 1) * sum(_size(node, file) for node in below)
            stack.append((child_path, False, below))
    warnings = []
    if merged:
        warnings.append(f"{len(merged)} topics stand more than once below one parent, merged: {listed(merged)}")
    if differing:
        warnings.append(f"merged topics whose children differed, now united: {listed(differing)}")
    counts = {"nodes_in": nodes_in, "nodes": len(edges), "edges": len(edges) - 1, "roots": 1, "multi_parent_nodes": 0}
    return Ontology(name, edges, warnings, counts)


def _size(node: dict[str, Any], file: str) -> int:
    total, stack = 0, [node]
    while stack:
        total += 1
        stack.extend(_children(stack.pop(), file, ""))
    return total


def _title(node: Any, file: str, where: str) -> str:
    if isinstance(node, dict):
        for key in _TITLES:
            value = node.get(key)
            if isinstance(value, str) and value.strip():
                return " ".join(value.split())
    raise SaberError(f"{file}: {where} has no title. Give every node a non-empty 'title'.")


def _children(node: dict[str, Any], file: str, where: str) -> list[dict[str, Any]]:
    for key in _CHILDREN:
        value = node.get(key)
        if isinstance(value, list):
            return value
        if value is not None:
            raise SaberError(f"{file}: {key!r} of {where} is no list. Give every node a list of child nodes.")
    return []
