"""The offline judge: labels where there are some, texts otherwise, and no favour for the place on the page."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.providers.offline_judge import OfflineJudge, judge_name, technique_labels


def problem(name: str, techniques: list[str] | None = None, solution: str = "", **more: Any) -> dict[str, Any]:
    metadata = None if techniques is None else json.dumps({"techniques": techniques})
    return {
        "problem_id": name, "content_hash": f"hash of {name} {solution}", "statement": "", "solution": solution,
        "metadata": metadata, **more,
    }  # fmt: skip


def winner(query: dict[str, Any], first: dict[str, Any], second: dict[str, Any], **facts: Any) -> int:
    text = OfflineJudge().compare({"query": query, "first": first, "second": second, **facts})
    assert re.search(r"\\boxed\{[12]\}$", text)
    return int(text[-2])


QUERY = problem("q", ["vieta", "parity"], "Use the circle.")


def test_shared_labels_decide_whatever_the_texts_say() -> None:
    close, far = problem("c", ["parity", "vieta"], "Integrate."), problem("f", ["induction"], "Use the circle.")
    assert winner(QUERY, close, far) == 1
    assert winner(QUERY, far, close) == 2


def test_the_main_label_counts_more() -> None:
    # Both share one label of three in the union; only the first shares the query's main one.
    assert winner(QUERY, problem("a", ["vieta", "bounding"]), problem("b", ["bounding", "parity"])) == 1


def test_texts_break_ties_of_labels() -> None:
    same, other = problem("a", ["vieta"], "Use the circle."), problem("b", ["vieta"], "Integrate by parts.")
    assert winner(QUERY, same, other) == 1
    assert winner(QUERY, other, same) == 2


def test_one_problem_without_labels_and_texts_decide() -> None:
    labelled, bare = problem("a", ["vieta", "parity"], "Integrate."), problem("b", None, "Use the circle.")
    assert judge_name(QUERY, labelled, bare) == "offline-similarity"
    assert winner(QUERY, labelled, bare) == 2
    assert judge_name(QUERY, labelled) == "offline-techniques"


def test_the_similarity_judge_never_looks_at_labels() -> None:
    labelled, other = problem("a", ["vieta", "parity"], "Integrate."), problem("b", ["induction"], "Use the circle.")
    assert winner(QUERY, labelled, other, judge="offline-similarity") == 2


def test_topics_count_where_the_records_bring_them() -> None:
    query = problem("q", None, "Words.", topics=["Geometry/Circles"])
    near, far = (
        problem("a", None, "Other.", topics=["Geometry/Circles"]),
        problem("b", None, "Else.", topics=["Algebra"]),
    )
    assert winner(query, far, near) == 2


def test_grades_run_from_0_to_100_in_the_order_of_closeness() -> None:
    def grade(document: dict[str, Any]) -> int:
        text = OfflineJudge().grade({"query": QUERY, "document": document})
        return int(re.search(r"\\boxed\{(\d+)\}$", text)[1])  # type: ignore[index]

    grades = [
        grade(QUERY),
        grade(problem("a", ["vieta"])),
        grade(problem("b", ["parity"])),
        grade(problem("c", ["x"])),
    ]
    assert grades == sorted(grades, reverse=True)
    assert grades[0] == 100
    assert grades[-1] == 0


def test_odd_metadata_holds_no_labels() -> None:
    for metadata in (
        None,
        "",
        "[1]",
        "{broken",
        '{"techniques": 3}',
        '{"techniques": [1, ""]}',
        "null",
        '{"techniques": null}',
    ):
        assert technique_labels({"metadata": metadata}) == ()
    assert technique_labels({"metadata": '{"techniques": "Vieta, parity"}'}) == ("vieta", "parity")


words = st.lists(st.sampled_from(["circle", "integral", "prime", "modulo", "$x^2$"]), max_size=4).map(" ".join)
labels = st.none() | st.lists(st.sampled_from(["a", "b", "c"]), max_size=3)


@given(labels, labels, labels, words, words, words)
@settings(max_examples=80)
def test_the_order_shown_never_changes_the_winner(
    l0: list[str] | None, l1: list[str] | None, l2: list[str] | None, w0: str, w1: str, w2: str
) -> None:
    query, one, two = problem("q", l0, w0), problem("one", l1, w1), problem("two", l2, w2)
    assert winner(query, one, two) != winner(query, two, one)
