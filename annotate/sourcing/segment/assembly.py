"""From pieces to problems with their solutions, or to what a person has to look at: nothing is guessed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from annotate.sourcing.segment.reading import Piece
from annotate.sourcing.segment.windows import Window

Lines = tuple[int, int]


@dataclass
class Part:
    """A problem, solution or answer: its lines, in several stretches where a window ended inside it."""

    kind: str
    number: str | None
    lines: list[Lines]

    @property
    def first(self) -> int:
        """Its first line."""
        return self.lines[0][0]


@dataclass
class Pair:
    """A problem with what belongs to it."""

    problem: Part
    solutions: list[Part] = field(default_factory=list)
    answers: list[Part] = field(default_factory=list)


@dataclass(frozen=True)
class Fault:
    """Why a document has to be looked at."""

    reason: str
    detail: str
    lines: Lines | None = None


@dataclass
class Assembly:
    """What a document holds: pairs, and what speaks against trusting them."""

    pairs: list[Pair] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def joined(found: Sequence[tuple[Window, Sequence[Piece]]]) -> tuple[list[Part], list[Fault]]:
    """Put the pieces of all windows in a row, continuations behind the piece that they continue."""
    parts: list[Part] = []
    faults: list[Fault] = []
    open_end = False
    for window, pieces in found:
        for piece in pieces:
            if piece.kind != "continuation":
                parts.append(Part(piece.kind, piece.number, [(piece.first, piece.last)]))
            elif parts and open_end:
                parts[-1].lines.append((piece.first, piece.last))
            else:
                detail = f"lines {piece.first} to {piece.last} continue a piece that does not reach so far"
                faults.append(Fault("continuation without a beginning", detail, (piece.first, piece.last)))
        text_ends = next(
            (line for line in range(window.last, window.first - 1, -1) if window.document.lines[line - 1].strip()),
            window.first - 1,
        )
        if text_ends >= window.first:
            open_end = bool(pieces) and pieces[-1].last >= text_ends
    return parts, faults


def assemble(parts: Sequence[Part], problems_only: bool = False) -> Assembly:
    """Give every solution and answer to its problem.

    By number, where every piece has one and no two problems share it. Otherwise by order, where there are as many
    solutions as problems and they alternate or follow all problems, no number speaking against it. Everything else
    is a fault.

    Parameters
    ----------
    problems_only
        Whether a document without any solution is as it should be.
    """
    problems = [Pair(part) for part in parts if part.kind == "problem"]
    assembly = Assembly(problems)
    if not problems:
        assembly.faults.append(Fault("no problem", f"no problem among {len(parts)} pieces"))
        return assembly
    numbers = Counter(pair.problem.number for pair in problems)
    if all(part.number for part in parts) and max(numbers.values()) == 1:
        _by_number(parts, assembly)
    else:
        for kind in ("solution", "answer"):
            _by_order(parts, kind, assembly)
    unsolved = [pair.problem for pair in problems if not pair.solutions]
    solutions = sum(part.kind == "solution" for part in parts)
    if unsolved and not (problems_only and not solutions):
        named = ", ".join(part.number or f"line {part.first}" for part in unsolved[:20])
        detail = f"{len(problems)} problems, {solutions} solutions; without a solution: {named}"
        assembly.faults.append(Fault("counts differ", detail, unsolved[0].lines[0]))
    return assembly


def _by_number(parts: Sequence[Part], assembly: Assembly) -> None:
    owners = {pair.problem.number: pair for pair in assembly.pairs}
    for part in parts:
        if part.kind == "problem":
            continue
        owner = owners.get(part.number)
        if owner is None:
            detail = f"the {part.kind} of problem {part.number}, which is not among the problems"
            assembly.faults.append(Fault(f"{part.kind} without a problem", detail, part.lines[0]))
        else:
            (owner.solutions if part.kind == "solution" else owner.answers).append(part)


def _by_order(parts: Sequence[Part], kind: str, assembly: Assembly) -> None:
    given = [part for part in parts if part.kind == kind]
    if not given:
        return
    order = [part.kind for part in parts if part.kind in ("problem", kind)]
    count = len(assembly.pairs)
    regular = order in (["problem", kind] * count, ["problem"] * count + [kind] * count)
    if not regular:
        if len(given) != count:
            detail = f"{count} problems and {len(given)} {kind}s, and their numbers do not tell which belong together"
        else:
            detail = f"{count} problems and {kind}s neither alternate nor follow each other"
        reason = "counts differ" if len(given) != count else "order not clear"
        assembly.faults.append(Fault(reason, detail, given[0].lines[0]))
        return
    for pair, part in zip(assembly.pairs, given, strict=True):
        if part.number and pair.problem.number and part.number != pair.problem.number:
            detail = f"the {kind} at its place bears number {part.number}, the problem {pair.problem.number}"
            assembly.faults.append(Fault("numbers differ", detail, part.lines[0]))
        (pair.solutions if kind == "solution" else pair.answers).append(part)
