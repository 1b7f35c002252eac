"""Which column is the statement, which the solution: by name, in any case, with spaces or underscores."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.errors import SaberError
from warehouse.readers.delimited import plain
from warehouse.sources.draft import text_of

ROLES = ("statement", "solution", "answer", "id", "language", "licence")

# Best name first. "prompt" comes last: it often holds instructions beside the problem.
NAMES: dict[str, tuple[str, ...]] = {
    "statement": (
        "statement",
        "problem",
        "question",
        "problem_statement",
        "problem_text",
        "question_text",
        "informal_statement",
        "problem_markdown",
        "q",
        "prompt",
    ),
    "solution": (
        "solution",
        "solutions",
        "worked_solution",
        "full_solution",
        "informal_solution",
        "official_solution",
        "solution_text",
        "solutions_markdown",
        "solution_1",
        "proof",
        "reasoning",
        "analysis",
        "explanation",
        "rationale",
        "a",
    ),
    "answer": ("answer", "final_answer", "short_answer", "expected_answer", "answers", "target", "label_answer"),
    "id": (
        "problem_id",
        "id",
        "uid",
        "unique_id",
        "uuid",
        "question_id",
        "idx",
        "index",
        "problem_name",
        "qid",
        "_key",
    ),
    "language": ("language", "lang"),
    "licence": ("licence", "license"),
}

HEADER_NAMES = frozenset(name for names in NAMES.values() for name in names) - {"a", "q"} | {
    "parent",
    "child",
    "label",
    "level",
    "subject",
    "source",
}

_NUMBERED = re.compile(r"solution_\d+\Z")
_WORDS_OF_A_SOLUTION = 5


@dataclass(frozen=True)
class Columns:
    """Names of the columns that play each role, as they stand in the file; None where there is none."""

    statement: str | None
    solution: str | None
    answer: str | None
    id: tuple[str, ...]
    language: str | None
    licence: str | None
    further_solutions: tuple[str, ...] = ()

    def used(self) -> frozenset[str]:
        """Columns that need no place in the metadata."""
        single = (self.statement, self.solution, self.answer, self.language, self.licence)
        return frozenset(name for name in single if name)


def parse_mapping(text: str | None) -> dict[str, str]:
    """Read ``statement=COL,solution=COL`` as given on the command line.

    Raises
    ------
    SaberError
        For a role that does not exist or a part without "=".
    """
    mapping: dict[str, str] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        role, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or role not in ROLES or not column:
            known = ", ".join(ROLES)
            raise SaberError(f"--map {part!r} is not ROLE=COLUMN with a role of {known}. Correct the mapping.")
        mapping[role] = column
    return mapping


def assign(names: Sequence[str], mapping: Mapping[str, str] | None = None) -> Columns:
    """Give the columns of a file their roles.

    Parameters
    ----------
    names : sequence of str
        Columns of the file.
    mapping : mapping of str to str, optional
        Role to column; wins over names. A mapped column the file lacks leaves the role empty.
    """
    by_plain = {plain(name): name for name in reversed(names)}
    chosen: dict[str, str | None] = {}
    taken: set[str] = set()
    for role in ("statement", "solution", "answer", "language", "licence"):
        wanted = (mapping or {}).get(role)
        if wanted == "":  # the layout has no such column, whatever names say
            chosen[role] = None
            continue
        candidates = (wanted, plain(wanted)) if wanted else NAMES[role]
        found = next((by_plain[name] for name in candidates if name in by_plain), None)
        found = wanted if wanted in names else found
        chosen[role] = found if wanted or found not in taken else None
        taken.add(found or "")
    ids = [(mapping or {})["id"]] if "id" in (mapping or {}) else NAMES["id"]
    return Columns(
        statement=chosen["statement"],
        solution=chosen["solution"],
        answer=chosen["answer"],
        id=tuple(by_plain[plain(name)] for name in ids if plain(name) in by_plain),
        language=chosen["language"],
        licence=chosen["licence"],
        further_solutions=()
        if (mapping or {}).get("solution") == ""
        else tuple(n for n in names if _NUMBERED.match(plain(n)) and n != chosen["solution"]),
    )


def answers_are_solutions(values: Sequence[Any]) -> bool:
    """Whether an answer column holds worked solutions (GSM8K) rather than bare answers ("18").

    True when at least half of the answers present have five words or more.
    """
    texts = [text for value in values if (text := text_of(value))]
    worked = sum(len(text.split()) >= _WORDS_OF_A_SOLUTION for text in texts)
    return bool(texts) and 2 * worked >= len(texts)
