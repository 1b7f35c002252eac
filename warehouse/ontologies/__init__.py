"""Ontologies: read from nested trees and edge lists, checked, and unfolded into topics.

:func:`read_ontology` gives the rows of the landed table ``ontology_edges``; :func:`unfold` is the reference
for the SQL model that makes topics of them.
"""

from __future__ import annotations

import re
from pathlib import Path

from warehouse.errors import SaberError
from warehouse.ontologies import edge_list
from warehouse.ontologies.graph import unfold
from warehouse.ontologies.model import Edge, Ontology, Topic
from warehouse.ontologies.paths import escape, unescape
from warehouse.ontologies.tree import read_tree
from warehouse.readers import Row, SkippedFile, open_files

_LINKS = re.compile(rb'"(?:links|children|subtopics)"\s*:\s*\[')

__all__ = ["Edge", "Ontology", "Topic", "escape", "read_ontology", "unescape", "unfold"]


def read_ontology(
    path: str | Path, name: str, root: str = "Mathematics", nodes: str | Path | None = None
) -> Ontology:
    """Read an ontology from a nested tree, an edge list, or a folder with edges and a table of labels.

    Parameters
    ----------
    path : str or Path
        A JSON tree (title, links), a table with parent and child columns, or a folder that holds one such
        file and at most one table with ids and labels.
    name : str
        What the ontology is to be called.
    root : str
        What to call the common root of an edge list with several.
    nodes : str or Path, optional
        Table of labels (id, label) for an edge list.

    Raises
    ------
    SaberError
        When the ontology breaks a rule of its kind; the message names the nodes.
    """
    tables = []
    for given in [path] if nodes is None else [path, nodes]:
        for reading in open_files([given], names=edge_list.NAMES):
            if isinstance(reading, SkippedFile):
                if reading.refused:
                    raise SaberError(f"{reading}.")
            elif reading.format.startswith("json") and _is_tree(reading.path):
                return read_tree(reading.path, name, reading.name)
            else:
                tables.append((reading.name, *edge_list.table(reading)))
    return _from_tables(path, name, root, tables)


def _is_tree(path: Path) -> bool:
    """Whether a JSON document begins like a nested tree."""
    with path.open("rb") as handle:
        return bool(_LINKS.search(handle.read(1 << 16)))


def _from_tables(path: str | Path, name: str, root: str, tables: list[tuple[str, list[Row], list[str]]]) -> Ontology:
    edges = [table for table in tables if _columns(table[1]) & {"parent", "child", "pair"}]
    if len(edges) != 1:
        found = ", ".join(table[0] for table in (edges or tables)) or "nothing"
        count = "several edge lists" if edges else "no tree or edge list"
        raise SaberError(f"{path} holds {count} ({found}). Name one file with 'title'/'links' or parent,child.")
    file, rows, remarks = edges[0]
    labels = None
    for other, other_rows, _ in tables:
        if other != file and _columns(other_rows) & {"id"}:
            labels = _labels(other, other_rows)
    ontology = edge_list.build(name, file, rows, labels, root)
    ontology.warnings = remarks + ontology.warnings
    return ontology


def _columns(rows: list[Row]) -> set[str]:
    names = {name for row in rows[:1000] for name in row.fields}
    kinds = {"parent": edge_list.PARENTS, "child": edge_list.CHILDREN, "id": edge_list.IDS}
    found = {kind for kind, wanted in kinds.items() if edge_list.column(names, wanted)}
    return found or ({"pair"} if edge_list.is_bare_pair(list(names)) else set())


def _labels(file: str, rows: list[Row]) -> dict[str, str]:
    """Labels by node: the first label column that says something, else the id."""
    names = list(dict.fromkeys(name for row in rows for name in row.fields))
    key = edge_list.column(names, edge_list.IDS) or names[0]
    columns = [c for wanted in edge_list.LABELS if (c := edge_list.column(names, (wanted,)))]
    columns += [name for name in names if name.lower().startswith("label") and name not in columns]
    labels: dict[str, str] = {}
    for row in rows:
        node = str(row.fields.get(key) or "").strip()
        if not node:
            raise SaberError(f"{file} row {row.number}: the id is empty. Fill it in.")
        if node in labels:
            raise SaberError(f"{file} row {row.number}: the id {node!r} stands twice. Remove one row.")
        texts = [" ".join(str(row.fields[name]).split()) for name in columns if row.fields.get(name)]
        labels[node] = next((text for text in texts if text), node)
    return labels
