"""Topic ids: a topic is its root path, the labels from the first branch down, joined by "/".

The root itself is left out of the paths below it and is known by its own label: root ``Mathematics``, topics
``Geometry`` and ``Geometry/Surfaces``. A label may hold "/": it is written ``%2F``, and "%" is written ``%25``,
so a path can always be taken apart again. Where a branch bears the root's own label, the root is ``/label``.
"""

from __future__ import annotations

from collections.abc import Iterable


def escape(label: str) -> str:
    """Write a label as one step of a path (SQL: ``replace(replace(label, '%', '%25'), '/', '%2F')``)."""
    return label.replace("%", "%25").replace("/", "%2F")


def unescape(step: str) -> str:
    """Read the label back from one step of a path."""
    return step.replace("%2F", "/").replace("%25", "%")


def root_id(label: str, branches: Iterable[str]) -> str:
    """Topic id of a root, given the labels of its children."""
    return f"/{escape(label)}" if label in set(branches) else escape(label)


def child_id(parent_id: str, label: str, parent_is_root: bool) -> str:
    """Topic id of a child."""
    return escape(label) if parent_is_root else f"{parent_id}/{escape(label)}"
