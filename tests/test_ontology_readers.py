"""Ontologies: trees by path, edge lists by label; every broken graph names its nodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.errors import SaberError
from warehouse.ontologies import Edge, Ontology, escape, read_ontology, unescape, unfold
from warehouse.ontologies.graph import count_paths, find_cycle


def node(title: str, *links: dict[str, object]) -> dict[str, object]:
    return {"url": f"https://example.org/{title}", "title": title, "links": list(links)}


def tree(folder: Path, top: object) -> Ontology:
    path = folder / "tree.json"
    path.write_text(json.dumps(top), encoding="utf-8")
    return read_ontology(path, "t")


def edges(folder: Path, text: str | bytes, name: str = "edges.csv", **options: str) -> Ontology:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_ontology(path, "e", **options)


def ids(ontology: Ontology) -> list[str]:
    return [topic.topic_id for topic in unfold(ontology.edges)]


# ---------------------------------------------------------------- nested trees


def test_tree_rows_are_paths_with_titles(tmp_path: Path) -> None:
    ontology = tree(tmp_path, node("Mathematics", node("Geometry", node("Surfaces")), node("Algebra")))
    assert ontology.rows()[0] == {"ontology": "t", "parent": None, "child": "Mathematics", "label": "Mathematics"}
    assert {(edge.parent, edge.child, edge.label) for edge in ontology.edges[1:]} == {
        ("Mathematics", "Geometry", "Geometry"),
        ("Geometry", "Geometry/Surfaces", "Surfaces"),
        ("Mathematics", "Algebra", "Algebra"),
    }


def test_node_may_bear_its_parents_title_and_titles_may_repeat(tmp_path: Path) -> None:
    surfaces = node("Surfaces", node("Surfaces"))
    ontology = tree(tmp_path, node("M", node("Geometry", surfaces), node("Topology", surfaces)))
    assert ids(ontology)[1:] == [
        "Geometry",
        "Geometry/Surfaces",
        "Geometry/Surfaces/Surfaces",
        "Topology",
        "Topology/Surfaces",
        "Topology/Surfaces/Surfaces",
    ]


def test_branch_that_bears_the_roots_title_does_not_clash_with_it(tmp_path: Path) -> None:
    ontology = tree(tmp_path, node("M", node("M", node("M"))))
    assert ids(ontology) == ["/M", "M", "M/M"]


def test_identical_siblings_are_merged_and_counted(tmp_path: Path) -> None:
    twice = node("Curves", node("Cubic"), node("Quartic"))
    ontology = tree(tmp_path, node("M", node("Geometry", twice, node("Lines"), twice)))
    assert ontology.counts["nodes_in"] == 9
    assert ontology.counts["nodes"] == 6
    assert ontology.warnings == ["1 topics stand more than once below one parent, merged: 'Geometry/Curves'"]


def test_siblings_of_one_title_with_other_children_are_united(tmp_path: Path) -> None:
    ontology = tree(tmp_path, node("M", node("A", node("x")), node("A", node("y"), node("x"))))
    assert ids(ontology) == ["M", "A", "A/x", "A/y"]
    assert any("united" in warning for warning in ontology.warnings)


def test_titles_with_slashes_are_escaped(tmp_path: Path) -> None:
    ontology = tree(tmp_path, node("M", node("A/B", node("50%")), node("A", node("B"))))
    assert ids(ontology) == ["M", "A", "A%2FB", "A%2FB/50%25", "A/B"]


@given(st.text())
def test_escape_is_undone_and_leaves_no_slash(label: str) -> None:
    assert "/" not in escape(label)
    assert unescape(escape(label)) == label


@pytest.mark.parametrize("bad", [node("M", node(" ")), node("M", {"links": []}), {"title": "M", "links": {"a": 1}}])
def test_tree_without_titles_or_lists_is_an_error(tmp_path: Path, bad: object) -> None:
    with pytest.raises(SaberError, match=r"M|title"):
        tree(tmp_path, bad)


def test_deep_tree_needs_no_recursion(tmp_path: Path) -> None:
    deep: dict[str, object] = node("leaf")
    for level in range(400):
        deep = node(f"n{level}", deep)
    assert len(unfold(tree(tmp_path, deep).edges)) == 401


# ---------------------------------------------------------------- edge lists


def test_edge_list_with_crlf_and_byte_order_mark(tmp_path: Path) -> None:
    ontology = edges(
        tmp_path, "\ufeffparent,child\r\nMathematics,Algebra\r\nAlgebra,Groups\r\nMathematics,Geometry\r\n"
    )
    assert ids(ontology) == ["Mathematics", "Algebra", "Algebra/Groups", "Geometry"]
    assert ontology.warnings == []


def test_headerless_pairs_and_tabs(tmp_path: Path) -> None:
    assert ids(edges(tmp_path, "Mathematics\tFields of 2\nMathematics\tRings, etc.\n", "edges.tsv")) == [
        "Mathematics",
        "Fields of 2",
        "Rings, etc.",
    ]


def test_topic_with_three_paths_is_three_topics(tmp_path: Path) -> None:
    ontology = edges(tmp_path, "parent,child\nM,A\nM,B\nA,X\nB,X\nM,X\nX,Y\n")
    topics = unfold(ontology.edges)
    assert [topic.topic_id for topic in topics if topic.node == "X"] == ["A/X", "B/X", "X"]
    assert {(t.topic_id, t.parent_id, t.depth) for t in topics if t.node == "Y"} == {
        ("A/X/Y", "A/X", 3),
        ("B/X/Y", "B/X", 3),
        ("X/Y", "X", 2),
    }
    assert ontology.counts["multi_parent_nodes"] == 1


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("M,A\nA,B\nB,C\nC,A\n", "A -> B -> C -> A"),
        ("M,A\nA,A\n", "'A' is its own parent"),
        ("M,A\nA,\n", "child is empty"),
        ("A,B\nB,A\n", "A -> B -> A"),
    ],
)
def test_broken_edge_lists_name_their_nodes(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(SaberError, match=named):
        edges(tmp_path, "parent,child\n" + text)


def test_row_that_cannot_be_read_stops_the_ontology(tmp_path: Path) -> None:
    with pytest.raises(SaberError, match="row 2"):
        edges(tmp_path, "parent,child\nM,A\nM,B,C\n")


def test_several_roots_get_one_with_a_free_name(tmp_path: Path) -> None:
    ontology = edges(tmp_path, "parent,child\nPure,Algebra\nApplied,Statistics\n")
    assert ids(ontology)[0] == "Mathematics"
    assert ontology.counts["roots"] == 2
    taken = edges(tmp_path, "parent,child\nMathematics,Algebra\nPhysics,Statistics\n")
    assert ids(taken) == ["Topics", "Mathematics", "Mathematics/Algebra", "Physics", "Physics/Statistics"]
    assert "2 roots" in taken.warnings[-1]


def test_declared_root_and_repeated_edges(tmp_path: Path) -> None:
    ontology = edges(tmp_path, "parent,child\n,M\nM,A\nM,A\n")
    assert ids(ontology) == ["M", "A"]
    assert ontology.warnings == ["1 edges stand more than once, merged"]


def test_near_equal_labels_are_a_warning(tmp_path: Path) -> None:
    ontology = edges(
        tmp_path, "parent,child\nM,Prime Numbers\nM,prime-number\nM,Möbius\nM,Mobius\nM,$A^*A$\nM,$AA^*$\n"
    )
    assert ontology.warnings == [
        "near-equal labels: 'Mobius', 'Möbius'",
        "near-equal labels: 'Prime Numbers', 'prime-number'",
    ]


def test_table_of_labels(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(
        "id,label_en,label_ru\n1,Root,\n2,Groups,\n3,,Кольца\n4,Groups,\n", encoding="utf-8"
    )
    (tmp_path / "edges.csv").write_text("parent,child\n1,2\n1,3\n3,4\n")
    (tmp_path / "README.md").write_text("about")
    ontology = read_ontology(tmp_path, "e")
    assert ids(ontology) == ["Root", "Groups (2)", "Кольца", "Кольца/Groups (4)"]
    assert "'Groups'" in ontology.warnings[0]
    beside = read_ontology(tmp_path / "edges.csv", "e", nodes=tmp_path / "nodes.csv")
    assert beside.edges == ontology.edges
    assert ids(read_ontology(tmp_path / "edges.csv", "e")) == ["1", "2", "3", "3/4"]


@pytest.mark.parametrize(
    ("nodes", "named"), [("1\n2\n", "'3'"), ("1\n2\n3\n9\n", "'9'"), ("1\n2\n2\n3\n", "'2' stands twice")]
)
def test_unknown_nodes_and_orphans_are_errors(tmp_path: Path, nodes: str, named: str) -> None:
    (tmp_path / "nodes.csv").write_text("id,label\n" + "".join(f"{n},L{n}\n" for n in nodes.split()))
    (tmp_path / "edges.csv").write_text("parent,child\n1,2\n1,3\n")
    with pytest.raises(SaberError, match=named):
        read_ontology(tmp_path, "e")


def test_folder_without_an_ontology_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("problem,answer\nx,1\n")
    with pytest.raises(SaberError, match="no tree or edge list"):
        read_ontology(tmp_path, "e")


# ---------------------------------------------------------------- unfolding


def diamond(levels: int) -> list[Edge]:
    """A chain of diamonds: level i leads to level i+1 by two ways, so the end has 2^levels paths."""
    made = [Edge(None, "n0", "n0")]
    for i in range(levels):
        for side in "ab":
            made += [Edge(f"n{i}", f"{side}{i}", f"{side}{i}"), Edge(f"{side}{i}", f"n{i + 1}", f"n{i + 1}")]
    return made


def test_diamond_of_18_levels_is_refused_before_it_is_unfolded() -> None:
    # Nodes n_i have 2^i paths, a_i and b_i as many each: 2^18 at the end, 3 * (2^18 - 1) before it.
    with pytest.raises(SaberError, match=f"{2**18 + 3 * (2**18 - 1):,} topics.*n18"):
        unfold(diamond(18))
    assert len(unfold(diamond(5))) == 2**5 + 3 * (2**5 - 1)


def test_unfold_refuses_cycles_islands_and_equal_siblings() -> None:
    with pytest.raises(SaberError, match="x -> y -> x"):
        unfold([Edge(None, "M", "M"), Edge("x", "y", "y"), Edge("y", "x", "x")])
    with pytest.raises(SaberError, match="several roots"):
        unfold([Edge("a", "b", "b"), Edge("c", "d", "d")])
    with pytest.raises(SaberError, match="does not reach 'c', 'd'"):
        unfold([Edge(None, "a", "a"), Edge("a", "b", "b"), Edge("c", "d", "d")])
    with pytest.raises(SaberError, match="children called 'same'"):
        unfold([Edge(None, "a", "a"), Edge("a", "b", "same"), Edge("a", "c", "same")])
    with pytest.raises(SaberError, match="no edges"):
        unfold([])


@settings(max_examples=80, deadline=None)
@given(
    st.integers(2, 8).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(1, n - 1))))
    )
)
def test_unfolding_equals_enumeration_of_all_paths(drawn: tuple[int, set[tuple[int, int]]]) -> None:
    """Second way: walk every path of the graph recursively."""
    size, drawn_pairs = drawn
    pairs = {(low, high) for low, high in drawn_pairs if low < high} | {(0, i) for i in range(1, size)}
    children: dict[str, list[str]] = {}
    for low, high in sorted(pairs):
        children.setdefault(str(low), []).append(str(high))

    def walk(name: str, path: tuple[str, ...]) -> list[tuple[str, ...]]:
        return [path] + [way for child in children.get(name, []) for way in walk(child, (*path, child))]

    expected = sorted("/".join(path) for path in walk("0", ())[1:])
    topics = unfold([Edge(None, "0", "0"), *(Edge(str(a), str(b), str(b)) for a, b in sorted(pairs))])
    assert sorted(topic.topic_id for topic in topics[1:]) == expected
    assert sum(count_paths("0", children).values()) == len(topics)
    assert find_cycle(children) is None
    assert find_cycle({**children, str(size - 1): ["0"]}) is not None
