"""What TeX and Markdown documents share: pieces of text in order, joined into problems with their solutions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from warehouse.readers.records import Item, Note, Rejection, Row

Kind = Literal["problem", "solution", "answer"]


@dataclass(frozen=True)
class Piece:
    """A stretch of a document that is a problem, a solution or an answer; ``key`` is its number or name."""

    kind: Kind
    text: str
    line: int
    key: str | None = None
    title: str | None = None


@dataclass
class _Problem:
    piece: Piece
    solutions: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)


def pair(file: str, pieces: Iterable[Piece]) -> Iterator[Item]:
    """Join pieces into rows.

    Where solutions stand between problems, each belongs to the problem before it ("Solution 2" is that
    problem's second one). Where all problems come first, solutions belong to the problem of their number; in
    such a part, one without a number or with an unknown one is rejected, never guessed. A document whose
    counts of problems and solutions differ is noted for review.
    """
    ordered = list(pieces)
    problems = [_Problem(piece) for piece in ordered if piece.kind == "problem"]
    owners = _by_number(ordered, problems) if _is_parted(ordered) else _by_place(ordered, problems)
    for piece, owner in owners:
        if owner is None:
            detail = f"a {piece.kind} that no problem before it or of its number claims"
            yield Rejection(file, None, "no problem", detail, piece.line)
            continue
        (owner.solutions if piece.kind == "solution" else owner.answers).append(piece.text)
    for number, problem in enumerate(problems, start=1):
        yield Row(file, number, _fields(problem), problem.piece.line)
    unsolved = sum(not problem.solutions for problem in problems)
    solutions = sum(piece.kind == "solution" for piece in ordered)
    if solutions and (solutions != len(problems) or unsolved):
        detail = f"{len(problems)} problems and {solutions} solutions, {unsolved} problems without one"
        yield Note(file, None, "review", detail)


def _is_parted(ordered: list[Piece]) -> bool:
    """Whether several problems stand in a row before the first solution and none after it."""
    kinds = [piece.kind == "problem" for piece in ordered]
    count = sum(kinds)
    return count > 1 and len(kinds) > count and all(kinds[:count])


def _by_place(ordered: list[Piece], problems: list[_Problem]) -> Iterator[tuple[Piece, _Problem | None]]:
    seen = 0
    for piece in ordered:
        if piece.kind == "problem":
            seen += 1
        else:
            yield piece, problems[seen - 1] if seen else None


def _by_number(ordered: list[Piece], problems: list[_Problem]) -> Iterator[tuple[Piece, _Problem | None]]:
    others = [piece for piece in ordered if piece.kind != "problem"]
    keys = [problem.piece.key for problem in problems]
    if not any(piece.key for piece in ordered) and len(others) == len(problems):
        yield from zip(others, problems, strict=True)
        return
    for piece in others:
        place = keys.index(piece.key) if piece.key and keys.count(piece.key) == 1 else None
        yield piece, None if place is None else problems[place]


def _fields(problem: _Problem) -> dict[str, Any]:
    fields: dict[str, Any] = {"problem": problem.piece.text.strip(), "solutions": problem.solutions}
    if problem.answers:
        fields["answer"] = problem.answers[0]
    if problem.piece.key:
        fields["number"] = problem.piece.key
    if problem.piece.title:
        fields["title"] = problem.piece.title
    return fields
