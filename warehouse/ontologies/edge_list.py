"""Edge lists: parent,child (and label) in CSV, TSV, JSON or Parquet, with a table of labels if there is one."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warehouse.errors import SaberError
from warehouse.ontologies.graph import children_of, find_cycle
from warehouse.ontologies.model import Edge, Ontology, listed
from warehouse.readers import Note, Reading, RefusedError, Rejection, Row
from warehouse.readers.delimited import plain
from warehouse.sources.columns import HEADER_NAMES

PARENTS = ("parent", "parent_id", "broader", "superclass", "source", "from")
CHILDREN = ("child", "child_id", "narrower", "subclass", "target", "to")
IDS = ("id", "node", "topic_id", "code")
LABELS = ("label", "label_en", "title", "name", "labels")
NAMES = frozenset((*PARENTS[:4], *CHILDREN[:4], *IDS, *LABELS))


def table(reading: Reading) -> tuple[list[Row], list[str]]:
    """All rows of a file and its remarks.

    Raises
    ------
    SaberError
        For the first row that cannot be read: an ontology with holes is no ontology.
    """
    rows, remarks = [], []
    try:
        for item in reading.items:
            if isinstance(item, Rejection):
                raise SaberError(f"{item}. Repair the row; an ontology is read as a whole or not at all.")
            if isinstance(item, Note):
                remarks.append(str(item))
            else:
                rows.append(item)
    except RefusedError as error:
        raise SaberError(f"{reading.name}: {error}.") from error
    return rows, remarks


def column(names: Iterable[str], wanted: Sequence[str]) -> str | None:
    """The first of the wanted columns that is there, in any case."""
    by_plain = {plain(name): name for name in names}
    return next((by_plain[name] for name in wanted if name in by_plain), None)


def build(
    name: str,
    file: str,
    rows: Sequence[Row],
    labels: Mapping[str, str] | None = None,
    root: str = "Mathematics",
) -> Ontology:
    """Check an edge list and give it one root.

    Parameters
    ----------
    rows : sequence of Row
        With a parent and a child column; a row without a parent declares a root.
    labels : mapping of str to str, optional
        Every node's label, from a table of nodes.
    root : str
        What to call the common root when there are several; another name is taken if a node bears it.

    Raises
    ------
    SaberError
        For an empty child, a self loop, a cycle, nodes without edges (orphans) or without an entry in the
        table of labels; the message names the rows or nodes.
    """
    pairs, own_labels = _pairs(file, rows)
    unique = list(dict.fromkeys((parent, child) for parent, child in pairs if parent is not None))
    children = children_of(unique)
    nodes = list(dict.fromkeys(node for pair in pairs for node in pair if node is not None))
    cycle = find_cycle(children)
    if cycle:
        raise SaberError(f"{file} has a cycle: {' -> '.join(cycle)}. Remove one of its edges.")
    if labels is not None:
        _match(file, nodes, labels)
    warnings = []
    repeated = len([pair for pair in pairs if pair[0] is not None]) - len(unique)
    if repeated:
        warnings.append(f"{repeated} edges stand more than once, merged")
    named, ambiguous = _distinct(nodes, labels or own_labels)
    if ambiguous:
        warnings.append(f"{len(ambiguous)} labels belong to several nodes, whose ids were added: {listed(ambiguous)}")
    warnings += _near_equal(named)
    has_parent = Counter(child for _, child in unique)
    roots = [node for node in nodes if not has_parent[node]]
    edges = [Edge(parent, child, named[child]) for parent, child in unique]
    top = roots[0]
    if len(roots) > 1:
        top = _free_name(root, set(nodes) | set(named.values()))
        named[top] = top
        edges = [Edge(top, node, named[node]) for node in roots] + edges
        warnings.append(f"{len(roots)} roots ({listed(roots)}) were put below one root {top!r}")
    counts = {
        "nodes_in": len(nodes),
        "nodes": len(named),
        "edges": len(edges),
        "roots": len(roots),
        "multi_parent_nodes": sum(count > 1 for count in has_parent.values()),
    }
    return Ontology(name, [Edge(None, top, named[top]), *edges], warnings, counts)


def _pairs(file: str, rows: Sequence[Row]) -> tuple[list[tuple[str | None, str]], dict[str, str]]:
    names = list(dict.fromkeys(name for row in rows for name in row.fields))
    parent, child, label = column(names, PARENTS), column(names, CHILDREN), column(names, LABELS)
    pairs: list[tuple[str | None, str]] = []
    if (parent is None or child is None) and is_bare_pair(names):
        parent, child = names
        if names[0] != "column_1":
            pairs.append((_clean(parent), _clean(child)))  # a first edge that looked like a header
    if parent is None or child is None:
        raise SaberError(f"{file} has no parent and child columns among {listed(names)}. Name them parent,child.")
    labels: dict[str, str] = {}
    for row in rows:
        above, below = _clean(row.fields.get(parent)), _clean(row.fields.get(child))
        if not below:
            raise SaberError(f"{file} row {row.number}: the child is empty (parent {above!r}). Fill it in.")
        if above == below:
            raise SaberError(f"{file} row {row.number}: {below!r} is its own parent. Remove the row.")
        pairs.append((above or None, below))
        text = _clean(row.fields.get(label)) if label else ""
        if text and labels.setdefault(below, text) != text:
            raise SaberError(
                f"{file} row {row.number}: {below!r} is called {labels[below]!r} and {text!r}. Choose one."
            )
    if not pairs:
        raise SaberError(f"{file} holds no edges. Check the file.")
    return pairs, labels


def is_bare_pair(names: Sequence[str]) -> bool:
    """Whether two columns without telling names may be the edges of a list without a header."""
    known = NAMES | HEADER_NAMES
    return len(names) == 2 and not any(plain(name) in known for name in names)


def _clean(value: Any) -> str:
    return " ".join(unicodedata.normalize("NFC", str(value)).split()) if value is not None else ""


def _match(file: str, nodes: Sequence[str], labels: Mapping[str, str]) -> None:
    unknown = sorted(set(nodes) - set(labels))
    if unknown:
        raise SaberError(
            f"{file} names nodes the table of labels lacks: {listed(unknown)}. Add them or drop the edges."
        )
    orphans = sorted(set(labels) - set(nodes))
    if orphans:
        raise SaberError(f"{file} has no edge for {listed(orphans)}. Give these nodes a parent or remove them.")


def _distinct(nodes: Sequence[str], labels: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """A label for every node, made distinct by the node's id where several nodes share one."""
    named = {node: labels.get(node) or node for node in nodes}
    uses = Counter(named.values())
    ambiguous = sorted(label for label, count in uses.items() if count > 1)
    return {n: f"{label} ({n})" if uses[label] > 1 else label for n, label in named.items()}, ambiguous


def _near_equal(named: Mapping[str, str]) -> list[str]:
    """Warn of labels that differ in case, accents, punctuation or a plural s alone."""
    groups: dict[str, list[str]] = {}
    for label in sorted(set(named.values())):
        groups.setdefault(_folded(label), []).append(label)
    return [f"near-equal labels: {listed(group)}" for key, group in groups.items() if key and len(group) > 1]


def _folded(label: str) -> str:
    text = "".join(c for c in unicodedata.normalize("NFKD", label).casefold() if not unicodedata.combining(c))
    return re.sub("[\\s_.,'’`\\-\u2010-\u2015]+", "", text).removesuffix("s")


def _free_name(wanted: str, used: set[str]) -> str:
    candidates = [wanted, "Topics", "All topics", *(f"{wanted} ({number})" for number in range(2, 1000))]
    return next(name for name in candidates if name not in used)
