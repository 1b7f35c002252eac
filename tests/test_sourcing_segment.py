"""``saber source segment``: documents cut by line numbers, against a chat server that misbehaves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.sourcing.segment.assembly import Part, assemble, joined
from annotate.sourcing.segment.reading import Piece, plain_number, similarity
from annotate.sourcing.segment.records import left_out
from annotate.sourcing.segment.windows import windows
from tests.documents import lines_of_text, write_pdf
from tests.servers.chat import Act, ChatServer, Seen
from tests.test_sourcing_steps import asking, home, open_items, reply, saber
from warehouse.documents import Document
from warehouse.landing import Landing

__all__ = ["home"]

_NUMBERED = re.compile(r"^ *(\d+)\| (.*)$", re.MULTILINE)
_STARTS = re.compile(r"(?:\*\*)?(Problem|Solution|Answer) (\w+)\.?(?:\*\*)? ?(.*)")

DOCUMENT = """# Autumn contest

**Problem 1.** Compute $1+1$.

**Solution 1.** It is $2$,
as one counts.

page 7

**Problem 2.** Show that $\\sqrt{2}$
is irrational.

**Solution 2.** Suppose not.
"""


def pieces_of(prompt: str) -> list[dict[str, Any]]:
    """An honest reader of numbered lines: pieces begin at "Problem N." and the like and end at an empty line."""
    first, last = map(int, re.findall(r"Cut lines (\d+) to (\d+);", prompt)[0])
    lines = [(int(number), text) for number, text in _NUMBERED.findall(prompt) if first <= int(number) <= last]
    found: list[dict[str, Any]] = []
    is_open = None  # not known whether a piece goes on from before
    for number, text in lines:
        begins = _STARTS.match(text)
        if begins:
            kind, label, _ = begins.groups()
            words = " ".join(re.findall(r"\w+", text)[:3])
            found.append({"kind": kind.lower(), "number": label, "first": number, "last": number, "begins": words})
            is_open = True
        elif not text.strip():
            is_open = False
        elif is_open:
            found[-1]["last"] = number
        elif is_open is None and number == first and first > 1 and not text.startswith("#"):
            words = " ".join(re.findall(r"\w+", text)[:3])
            found.append({"kind": "continuation", "number": None, "first": number, "last": number, "begins": words})
            is_open = True
    return found


def honest(seen: Seen) -> Act:
    return reply(json.dumps({"pieces": pieces_of(seen.body["messages"][1]["content"])}))


def changing(change: Callable[[list[dict[str, Any]]], None]) -> Callable[[Seen], Act]:
    """A reader who makes one mistake, and makes it again when told."""

    def script(seen: Seen) -> Act:
        pieces = pieces_of(seen.body["messages"][1]["content"])
        change(pieces)
        return reply(json.dumps({"pieces": pieces}))

    return script


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "autumn.md"
    path.write_text(DOCUMENT, encoding="utf-8")
    return path


def segment(capsys: pytest.CaptureFixture[str], path: Path, server: ChatServer, *more: str) -> Any:
    return saber(capsys, "segment", str(path), "--source", "official", *asking(server), *more)


def problems(home: Path) -> dict[str, dict[str, Any]]:
    rows = Landing(home).read("problems").to_pylist()
    return {row["problem_id"]: {**row, "metadata": json.loads(row["metadata"])} for row in rows}


def test_a_document_is_cut_line_by_line_and_never_typed_again(
    home: Path, document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ChatServer(honest) as server:
        code, result, _ = segment(capsys, document, server, "--licence", "CC-BY-4.0", "--language", "en")
        assert (code, result["documents"], result["problems"], result["for_review"]) == (0, 1, 2, 0)
        assert (result["lines"], result["lines_left_out"]) == (8, 2)
        assert f" 3| {DOCUMENT.splitlines()[2]}" in server.prompts[-1]
        asked = len(server.prompts)
        code, result, _ = segment(capsys, document, server, "--licence", "CC-BY-4.0", "--language", "en")
        assert (code, result["documents"], result["problems"], len(server.prompts)) == (0, 1, 0, asked)
    found = problems(home)
    assert set(found) == {"official/autumn:1", "official/autumn:2"}
    one = found["official/autumn:1"]
    assert (one["statement"], one["licence"], one["language"]) == ("Compute $1+1$.", "CC-BY-4.0", "en")
    lines = DOCUMENT.splitlines()
    for row in found.values():  # what was landed before cleaning is a cut of the document, sign by sign
        places = row["metadata"]["lines"]
        raw = {**{name: row[name] for name in ("statement", "solution")}, **row["metadata"].get("original", {})}
        assert raw["statement"] == "\n".join("\n".join(lines[a - 1 : b]) for a, b in places["problem"])
        assert raw["solution"] == "\n".join("\n".join(lines[a - 1 : b]) for a, b in places["solutions"][0])
    assert one["metadata"]["lines"] == {"problem": [[3, 3]], "solutions": [[[5, 6]]], "answers": []}
    assert one["metadata"]["steps"][0]["step"] == "segment"
    left = [row for row in Landing(home).read("source_rows").to_pylist() if row["step"] == "segment: left out"]
    assert [row["row_number"] for row in left] == [1, 8]


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        (lambda p: p[0].update(last=99), "lines_out_of_range", "lines 1 to 13"),
        (lambda p: p[0].update(last=5), "lines_overlap", "before piece 1 ends, at line 5"),
        (lambda p: p.reverse(), "lines_overlap", "begins before"),
        (lambda p: p[0].update(first=2, last=2), "empty_piece", "holds no text"),
        (lambda p: p[2].update(first=8, last=8), "lines_differ", "line 8 reads 'page 7'"),
        (lambda p: p[0].update(kind="continuation"), "continuation_misplaced", "does not begin"),
    ],
)
def test_lines_that_cannot_be_are_named_once_and_then_left_for_review(
    home: Path,
    document: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[list[dict[str, Any]]], None],
    kind: str,
    said: str,
) -> None:
    with ChatServer(changing(change)) as server:
        code, result, err = segment(capsys, document, server)
        assert (code, result["failed"], result["documents"]) == (1, 1, 0)
        assert result["violations"] == {kind: 1}
        assert said in server.seen[-1].body["messages"][-1]["content"]
        assert "--retry-quarantined" in err
        assert problems(home) == {}
        assert open_items(home) == [("autumn.md", "segment", kind)]
        server.script = honest
        code, result, _ = segment(capsys, document, server, "--retry-quarantined")
        assert (code, result["mended"], result["problems"]) == (0, 1, 2)
    assert open_items(home) == []  # settled by the run that found nothing


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[]", "invalid_json"),
        ('{"pieces": {}}', "wrong_keys"),
        ('{"pieces": [{"kind": "problem", "first": 3, "last": 3}]}', "wrong_keys"),
        ('{"pieces": [{"kind": "remark", "number": null, "first": 3, "last": 3, "begins": "x"}]}', "wrong_choice"),
        ('{"pieces": [{"kind": "problem", "number": null, "first": "3", "last": 3, "begins": "x"}]}', "wrong_keys"),
        ('{"pieces": [{"kind": "problem", "number": null, "first": true, "last": 3, "begins": "x"}]}', "wrong_keys"),
    ],
)
def test_replies_of_wrong_form_are_failures(
    home: Path, document: Path, capsys: pytest.CaptureFixture[str], text: str, kind: str
) -> None:
    with ChatServer(lambda _: reply(text)) as server:
        code, result, _ = segment(capsys, document, server)
    assert (code, result["failures"], problems(home)) == (1, {kind: 1}, {})


def test_a_document_whose_counts_differ_goes_to_the_review_list(
    home: Path, document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document.write_text(DOCUMENT.replace("**Solution 2.** Suppose not.", ""), encoding="utf-8")
    with ChatServer(honest) as server:
        code, result, err = segment(capsys, document, server)
        assert (code, result["for_review"], result["problems"]) == (1, 1, 0)
        assert "saber source review" in err
        (item,) = saber(capsys, "review")[1]
        assert (item["document"], item["reason"], item["first_line"]) == ("autumn.md", "counts differ", 10)
        assert item["detail"] == "2 problems, 1 solutions; without a solution: 2"
        assert problems(home) == {}
        code, result, _ = segment(capsys, document, server, "--keep-matched")
        assert (code, result["problems"], set(problems(home))) == (1, 1, {"official/autumn:1"})
        document.write_text(DOCUMENT, encoding="utf-8")
        assert segment(capsys, document, server)[0] == 0
    assert saber(capsys, "review")[1] == []


def test_problems_alone_land_only_when_that_is_said(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sheet.txt"
    path.write_text("Problem 1. Add.\n\nProblem 2. Subtract.\n")
    with ChatServer(honest) as server:
        assert segment(capsys, path, server)[0] == 1
        code, result, _ = segment(capsys, path, server, "--problems-only")
    assert (code, result["problems"], result["without_solution"]) == (0, 2, 2)


def test_long_documents_are_asked_about_in_windows(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Problems first, solutions after them, one solution over a window's end: numbers bring them together."""
    statements = [f"Problem {n}. Find the number of ways for {n}.\n" for n in range(1, 13)]
    solutions = [f"Solution {n}. First this.\nThen that.\nAt last {n}.\n" for n in range(1, 13)]
    path = tmp_path / "long.md"
    path.write_text("\n".join([*statements, "# Solutions\n", *solutions]))
    with ChatServer(honest) as server:
        code, result, _ = segment(capsys, path, server, "--lines", "14")
        asked = len(server.prompts)
    assert (code, result["problems"], result["for_review"]) == (0, 12, 0)
    assert asked == result["calls"]["sent"] > 4
    found = problems(home)
    assert found["official/long:7"]["solution"].endswith("At last 7.")
    assert all(len(row["metadata"]["steps"][0]["calls"]) == asked for row in found.values())


def test_a_pdf_is_cut_with_the_pages_of_its_problems(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pypdfium2")
    pages = [lines_of_text(["Problem 1. Add."]), "", lines_of_text(["Solution 1. Done."])]
    path = write_pdf(tmp_path / "contest.pdf", pages)
    with ChatServer(honest) as server:
        code, result, err = segment(capsys, path, server)
    assert (code, result["problems"]) == (0, 1)
    assert "no text on page 2" in err
    row = problems(home)["official/contest:1"]
    assert (row["statement"], row["solution"], row["metadata"]["page"]) == ("Add.", "Solution 1. Done.", 1)
    assert open_items(home) == [("contest.pdf", "segment", "page without text")]


def part(kind: str, number: str | None, line: int) -> Part:
    return Part(kind, number, [(line, line)])


@pytest.mark.parametrize(
    ("layout", "pairs"),
    [
        ("P1 S1 P2 S2", {1: [2], 3: [4]}),
        ("P1 P2 S2 S1", {1: [4], 2: [3]}),
        ("P1 S1 S1 P2 S2", {1: [2, 3], 4: [5]}),  # a second solution that bears the number
        ("P S P S", {1: [2], 3: [4]}),
        ("P P S S", {1: [3], 2: [4]}),
        ("P1 P1 S1 S1", {1: [3], 2: [4]}),  # numbers begin anew on the second day
    ],
)
def test_solutions_find_their_problems(layout: str, pairs: dict[int, list[int]]) -> None:
    kinds = {"P": "problem", "S": "solution", "A": "answer"}
    parts = [part(kinds[sign[0]], sign[1:] or None, line) for line, sign in enumerate(layout.split(), 1)]
    found = assemble(parts)
    assert found.faults == []
    assert {pair.problem.first: [s.first for s in pair.solutions] for pair in found.pairs} == pairs


@pytest.mark.parametrize(
    ("layout", "reason"),
    [
        ("P S S P S", "counts differ"),
        ("P P S", "counts differ"),
        ("P1 S1 P2", "counts differ"),
        ("P1 S1 S2", "solution without a problem"),
        ("P S P P S S", "order not clear"),
        ("P1 S P2 S1", "numbers differ"),
        ("S1", "no problem"),
        ("", "no problem"),
        ("P1 A2 S1", "answer without a problem"),
    ],
)
def test_what_would_be_a_guess_is_a_fault(layout: str, reason: str) -> None:
    kinds = {"P": "problem", "S": "solution", "A": "answer"}
    parts = [part(kinds[sign[0]], sign[1:] or None, line) for line, sign in enumerate(layout.split(), 1)]
    assert reason in [fault.reason for fault in assemble(parts).faults]


def test_a_continuation_needs_a_piece_that_reaches_the_end_of_the_window_before() -> None:
    document = Document("a.md", "a", "markdown", ("P", "p", "", "p", "S"))
    first, second = windows(document, max_lines=3)
    assert (first.first, first.last, second.first) == (1, 3, 4)
    rest = [Piece("continuation", None, 4, 4), Piece("solution", "1", 5, 5)]
    parts, faults = joined([(first, [Piece("problem", "1", 1, 2)]), (second, rest)])
    assert faults == []
    assert parts[0].lines == [(1, 2), (4, 4)]
    parts, faults = joined([(first, [Piece("problem", "1", 1, 1)]), (second, rest)])
    assert [fault.reason for fault in faults] == ["continuation without a beginning"]
    assert left_out(document, parts) == ([(2, 4, 2)], 4)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(["", "text", "# heading", "x" * 50]), min_size=1, max_size=60),
    st.integers(1, 20),
    st.integers(1, 120),
)
def test_windows_cover_every_line_once(lines: list[str], max_lines: int, max_characters: int) -> None:
    document = Document("a.md", "a", "markdown", tuple(lines))
    found = windows(document, max_lines, max_characters, context=2)
    covered = [line for window in found for line in range(window.first, window.last + 1)]
    assert covered == list(range(1, len(lines) + 1))
    for window in found:
        held = lines[window.first - 1 : window.last]
        assert len(held) <= max_lines
        assert len(held) == 1 or sum(map(len, held)) + len(held) - 1 <= max_characters
        assert max(1, window.first - 2) == window.shown
        assert [int(number) for number, _ in _NUMBERED.findall(window.numbered + "\n")] == list(
            range(window.shown, window.last + 1)
        )


@pytest.mark.parametrize(
    ("begins", "text", "alike"),
    [
        ("Let ABC be", "Let $ABC$ be a triangle", True),
        ("Let ABC be", "3. Let $\\triangle ABC$ be a triangle", True),
        ("Let abc", "Let $ABC$", True),
        ("设实数", "2．设实数 $a$ 满足", True),
        ("", "![](figure.png)", False),
        ("", "---\n", True),
        ("Let ABC be", "Prove that the sum of all", False),
        ("Let m be", "Let $n$ be a number such that", False),
    ],
)
def test_first_words_are_held_to_the_line(begins: str, text: str, alike: bool) -> None:
    assert (similarity(begins, text) >= 0.9) is alike


def test_numbers_lose_the_words_around_them() -> None:
    assert [plain_number(text) for text in ("Problem 3.", "A1", "2.4)", " ", None)] == ["3", "A1", "2.4", None, None]
