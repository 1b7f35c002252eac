"""The topic tree: order, excluded branches, where a traversal starts, agreement with the landed ontology."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.topics.tree import build_tree, load_tree
from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.ontologies import Edge, unfold
from warehouse.settings import Ontology, Settings
from warehouse.variants import ontology_in_use

EDGES = [
    Edge(None, "Mathematics", "Mathematics"),
    Edge("Mathematics", "Geometry", "Geometry"),
    Edge("Mathematics", "Algebra", "Algebra"),
    Edge("Mathematics", "History", "History"),
    Edge("Algebra", "Polynomials", "Polynomials"),
    Edge("Geometry", "Curves", "Curves"),
    Edge("Polynomials", "Curves", "Curves"),  # two root paths: two topics
    Edge("History", "Prizes", "Prizes"),
]


def test_depth_first_with_every_root_path_and_without_the_excluded_branch() -> None:
    tree = build_tree(unfold(EDGES), ["History"])
    assert tree.topic_ids == (
        "Mathematics",
        "Algebra",
        "Algebra/Polynomials",
        "Algebra/Polynomials/Curves",
        "Geometry",
        "Geometry/Curves",
    )
    assert tree.children == ((1, 4), (2,), (3,), (), (5,), ())
    assert tree.parent.tolist() == [-1, 0, 1, 2, 0, 4]
    assert tree.depth.tolist() == [0, 1, 2, 3, 1, 2]
    assert tree.path(3) == "Mathematics > Algebra > Polynomials > Curves"
    assert tree.start() == 0


def test_the_version_names_the_topics_asked_about() -> None:
    whole, without = build_tree(unfold(EDGES)), build_tree(unfold(EDGES), ["History"])
    assert whole.version != without.version
    assert whole.version == build_tree(unfold(list(reversed(EDGES)))).version


def test_a_root_with_one_branch_starts_where_there_is_a_choice() -> None:
    # An only candidate has nothing to be compared with: it would end every traversal with no topic.
    edges = [Edge(None, "R", "R"), Edge("R", "M", "M"), Edge("M", "a", "a"), Edge("M", "b", "b")]
    tree = build_tree(unfold(edges))
    assert tree.topic_ids[tree.start()] == "M"


def test_nothing_left_to_assign_is_an_error() -> None:
    with pytest.raises(SaberError, match="excluded_branches"):
        build_tree(unfold(EDGES), ["History", "Algebra", "Geometry"])


@given(st.lists(st.tuples(st.integers(0, 14), st.integers(1, 15)), min_size=1, max_size=25))
@settings(max_examples=50)
def test_a_subtree_is_a_run_of_positions(pairs: list[tuple[int, int]]) -> None:
    edges = [Edge(None, "n0", "n0")] + [
        Edge(f"n{parent}", f"n{child}", f"n{child}") for parent, child in sorted(set(pairs)) if parent < child
    ]
    reached = {"n0"}
    for edge in sorted(edges, key=lambda edge: int((edge.parent or "n-1")[1:])):
        if edge.parent is None or edge.parent in reached:
            reached.add(edge.child)
    kept = [edge for edge in edges if edge.parent is None or edge.parent in reached]
    if len(kept) == 1:
        return
    tree = build_tree(unfold(kept))
    for topic, topic_id in enumerate(tree.topic_ids[1:], 1):
        below = [t for t, other in enumerate(tree.topic_ids) if other == topic_id or other.startswith(topic_id + "/")]
        assert below == list(range(topic, topic + len(below)))
        assert topic in tree.children[int(tree.parent[topic])]


def test_read_from_the_landing(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    rows = [{"ontology": "mine", "parent": e.parent, "child": e.child, "label": e.label} for e in EDGES]
    landing.append("ontology_edges", rows, "job")
    chosen = Settings(home=tmp_path, ontology=Ontology(excluded_branches=("History",)))
    tree = load_tree(landing, chosen, ontology_in_use(chosen, landing))
    assert tree.topic_ids == build_tree(unfold(EDGES), ["History"]).topic_ids


def test_no_ontology_says_what_to_do(tmp_path: Path) -> None:
    landing, chosen = Landing(tmp_path), Settings(home=tmp_path)
    with pytest.raises(SaberError, match="saber ingest ontology"):
        load_tree(landing, chosen, ontology_in_use(chosen, landing))
