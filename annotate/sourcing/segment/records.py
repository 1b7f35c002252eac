"""From pairs of line numbers to problem records: the texts are cut out of the document, sign by sign."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotate.sourcing.segment.assembly import Assembly, Pair, Part
from warehouse.cleaning import clean_problems
from warehouse.documents import Document
from warehouse.identity import content_hash


@dataclass(frozen=True)
class SegmentOptions:
    """What the caller asked for.

    Attributes
    ----------
    problems_only
        Whether documents without any solution are as they should be.
    keep_matched
        Whether problems whose solution is certain land also from documents with faults.
    clean
        Whether the texts are cleaned as at ingestion.
    """

    source: str
    language: str | None = None
    licence: str | None = None
    problems_only: bool = False
    keep_matched: bool = False
    clean: bool = True
    lines: int | None = None


@dataclass(frozen=True)
class Origin:
    """Where the problems of a document come from."""

    document: Document
    options: SegmentOptions
    calls: Sequence[str]
    variant: str


def cut(document: Document, part: Part) -> str:
    """The text of a part: its stretches of lines, one below the other."""
    return "\n".join(document.cut(first, last) for first, last in part.lines)


def problem_records(assembly: Assembly, origin: Origin, taken: dict[str, str]) -> list[dict[str, Any]]:
    """Make the problem records of a document.

    Parameters
    ----------
    taken
        Content hash by source id of the problems made before in this run: two documents of one name must not give
        two problems one id. New ones are added.
    """
    numbers = [pair.problem.number for pair in assembly.pairs]
    by_number = all(numbers) and len(set(numbers)) == len(numbers)
    rows = []
    for place, pair in enumerate(assembly.pairs, start=1):
        row = _record(pair, origin, f"{origin.document.stem}:{pair.problem.number if by_number else f'p{place}'}")
        if taken.setdefault(row["source_id"], row["content_hash"]) != row["content_hash"]:
            row["source_id"] = f"{row['source_id']}:{row['content_hash'][:8]}"
            row["problem_id"] = f"{row['source']}/{row['source_id']}"
        rows.append(row)
    return clean_problems(rows).rows if origin.options.clean else rows


def left_out(document: Document, parts: Sequence[Part]) -> tuple[list[tuple[int, int, int]], int]:
    """Tell which lines belong to no part.

    Returns
    -------
    stretches, lines
        (first, last, lines that are not empty) of each stretch, and how many lines of the document are not empty.
    """
    covered = {line for part in parts for first, last in part.lines for line in range(first, last + 1)}
    stretches: list[tuple[int, int, int]] = []
    n_full, begin, last, count = 0, 0, 0, 0
    for number, line in enumerate(document.lines, start=1):
        n_full += bool(line.strip())
        if number in covered:
            if count:
                stretches.append((begin, last, count))
            count = 0
        elif line.strip():
            begin, last, count = begin if count else number, number, count + 1
    if count:
        stretches.append((begin, last, count))
    return stretches, n_full


def _record(pair: Pair, origin: Origin, source_id: str) -> dict[str, Any]:
    document, options = origin.document, origin.options
    statement = cut(document, pair.problem)
    solutions = [cut(document, part) for part in pair.solutions]
    solution = solutions[0] if solutions else None
    metadata: dict[str, Any] = {
        "document": document.name,
        "document_digest": document.digest,
        "lines": {
            "problem": pair.problem.lines,
            "solutions": [part.lines for part in pair.solutions],
            "answers": [part.lines for part in pair.answers],
        },
        "steps": [{"step": "segment", "calls": list(origin.calls), "variant": origin.variant}],
    }
    if document.page_starts:
        metadata["page"] = document.page(pair.problem.first)
    if pair.problem.number:
        metadata["number"] = pair.problem.number
    if len(solutions) > 1:
        metadata["solutions"] = solutions
    return {
        "problem_id": f"{options.source}/{source_id}",
        "source": options.source,
        "source_id": source_id,
        "statement": statement,
        "solution": solution,
        "answer": cut(document, pair.answers[0]) if pair.answers else None,
        "language": options.language,
        "licence": options.licence,
        "metadata": json.dumps(metadata, ensure_ascii=False),
        "content_hash": content_hash(statement, solution),
    }
