"""TeX, Markdown and XML documents, and files far away."""

from __future__ import annotations

from pathlib import Path

import pytest

from warehouse.errors import SaberError
from warehouse.readers import DEFAULT_LIMITS, Item, Reading, Row, SkippedFile, open_files
from warehouse.readers.records import Limits
from warehouse.readers.remote import fetched, is_remote
from warehouse.sources import ingest_problems


def read(folder: Path, name: str, text: str) -> list[Item]:
    (folder / name).write_text(text, encoding="utf-8")
    (reading,) = open_files([folder / name])
    assert isinstance(reading, Reading), reading
    return list(reading.items)


def rows(items: list[Item]) -> list[dict[str, object]]:
    return [item.fields for item in items if isinstance(item, Row)]


def kinds(items: list[Item]) -> list[tuple[str, int | None]]:
    return [(item.kind, item.line) for item in items if not isinstance(item, Row)]


def test_markdown_with_solutions_behind_each_problem(tmp_path: Path) -> None:
    text = """# Contest 2024
Intro that belongs to nobody.

## Problem 1 (Algebra)
Find $x$.

### Solution 1
It is 1.

### Solution 2
Also 1.

## Problem 2
Find $y$.

```
## Problem 99
```

**Solution.** It is 2.

**Answer:** 2

## Remarks
None of this counts.
"""
    found = read(tmp_path, "a.md", text)
    assert rows(found) == [
        {"problem": "Find $x$.", "solutions": ["It is 1.", "Also 1."], "number": "1", "title": "Algebra"},
        {
            "problem": "Find $y$.\n\n```\n## Problem 99\n```",
            "solutions": ["It is 2."],
            "answer": "2",
            "number": "2",
        },
    ]
    assert kinds(found) == [("review", None)]  # 2 problems, 3 solutions: a person should look


def test_markdown_with_a_part_of_solutions_pairs_by_number(tmp_path: Path) -> None:
    text = "**Problem 1.** A?\n\n**Problem 2.** B?\n\n**Problem 3.** C?\n\n"
    text += "# Solutions\n\n**Solution 2.** b\n\n**Solution 1.** a\n\n**Solution 7.** z\n"
    found = read(tmp_path, "a.md", text)
    assert [(row["problem"], row["solutions"]) for row in rows(found)] == [("A?", ["a"]), ("B?", ["b"]), ("C?", [])]
    assert kinds(found) == [("no problem", 13), ("review", None)]


def test_markdown_without_numbers_pairs_in_order_only_when_counts_agree(tmp_path: Path) -> None:
    text = "## Problem\nA?\n## Problem\nB?\n## Solution\na\n## Solution\nb\n"
    assert [row["solutions"] for row in rows(read(tmp_path, "a.md", text))] == [["a"], ["b"]]
    found = read(tmp_path, "b.md", text + "## Solution\nc\n")
    assert [row["solutions"] for row in rows(found)] == [[], []]
    assert [kind for kind, _ in kinds(found)] == ["no problem"] * 3 + ["review"]


def test_prose_about_problems_is_no_problem_document(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(
        "# Problem solving\n**Problem solving** is fun.\n\nThe **solution** is ours.\n"
    )
    (skipped,) = open_files([tmp_path])
    assert isinstance(skipped, SkippedFile)
    assert not skipped.refused


def test_tex_environments(tmp_path: Path) -> None:
    text = r"""\documentclass{article}
\newtheorem{aufg}{Problem}
\input{more.tex}
% \begin{problem} a comment \end{problem}
\begin{document}
\begin{problem}[IMO 1] \label{p:1}
Find $x$, which is 50\% of 4. % not text
\begin{enumerate}\item a\end{enumerate}
\begin{solution} It is 2. \begin{align*} x &= 2 \end{align*} \end{solution}
\end{problem}
\begin{aufg} Find $y$. \end{aufg}
\begin{proof} Clear. \end{proof}
\begin{proof} Clearer. \end{proof}
\begin{problem} never closed
\end{document}
"""
    found = read(tmp_path, "a.tex", text)
    first, second = rows(found)
    assert str(first["problem"]).split() == [
        r"Find",
        r"$x$,",
        r"which",
        r"is",
        r"50\%",
        r"of",
        r"4.",
        r"\begin{enumerate}\item",
        r"a\end{enumerate}",
    ]
    assert first["title"] == "IMO 1"
    assert first["solutions"] == [r"It is 2. \begin{align*} x &= 2 \end{align*}"]
    assert second == {"problem": "Find $y$.", "solutions": ["Clear.", "Clearer."]}
    assert ("input", None) in kinds(found)
    assert ("cut", 14) in kinds(found)


def test_documents_are_ingested_with_flags(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(
        r"\begin{problem}A?\end{problem}\begin{sol}a\end{sol}\begin{problem}B?\end{problem}"
    )
    (tmp_path / "b.tex").write_text(r"\begin{solution}orphan\end{solution}\begin{problem}C?\end{problem}")
    result = ingest_problems([tmp_path], "x")
    assert [(row["statement"], row["solution"]) for row in result.rows] == [("A?", "a"), ("B?", None), ("C?", None)]
    assert result.counts["rejected_by_reason"] == {"no problem": 1}
    assert [note.kind for note in result.notes] == ["review", "review"]


def test_xml_records_errors_and_entities(tmp_path: Path) -> None:
    found = read(
        tmp_path, "a.xml", '<posts><row Id="1" Body="x &lt; y"/><row Id="2"><b>t</b>u</row><row Id=3/></posts>'
    )
    assert rows(found) == [{"Id": "1", "Body": "x < y"}, {"Id": "2", "b": "t"}]
    assert [kind for kind, _ in kinds(found)] == ["not XML"]
    found = read(tmp_path, "b.xml", "<t><q>one</q><q>tw")
    assert rows(found) == [{"q": "one"}]
    assert [kind for kind, _ in kinds(found)] == ["cut"]
    bomb = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaa">]><l><q>&a;</q></l>'
    (tmp_path / "c.xml").write_text(bomb)
    (skipped,) = open_files([tmp_path / "c.xml"])
    assert isinstance(skipped, SkippedFile)
    assert skipped.refused
    assert "entities" in skipped.reason


def test_remote_addresses_without_a_network_say_so(tmp_path: Path) -> None:
    assert is_remote("hf://datasets/x/y.parquet")
    assert not is_remote(tmp_path)
    nowhere = {"extension_directory": str(tmp_path), "custom_extension_repository": "http://127.0.0.1:9"}
    with (
        pytest.raises(SaberError, match=r"https://example.org/a.jsonl cannot be read here .*httpfs"),
        fetched("https://example.org/a.jsonl", DEFAULT_LIMITS, nowhere),
    ):
        pass


def test_fetched_files_are_copies_that_vanish(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.jsonl").write_text(f'{{"problem": "{folder}"}}\n')
    with fetched(f"{tmp_path}/*/a.jsonl", DEFAULT_LIMITS) as files:
        assert [path.name for path in files] == ["a.jsonl", "a.jsonl"]
        assert [path.read_text()[13] for path in files] == ["x", "y"]
    assert not files[0].exists()
    with (
        pytest.raises(SaberError, match="over the limit"),
        fetched(f"{tmp_path}/x/a.jsonl", Limits(unpacked_bytes=3)),
    ):
        pass
