"""Cleaning of problem texts as versioned, idempotent, counted steps; the original text stays in the record.

:func:`clean_problems` takes the records of an ingest and gives cleaned ones with an account of every change.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from warehouse.cleaning import credits, latex
from warehouse.cleaning.steps import ANSWER, EXTRACT_ANSWER, FORGET_NOTHING, SOLUTION, STEPS, TEXTS, cleaning_version
from warehouse.identity import content_hash

__all__ = ["Change", "CleanedProblems", "clean_problems", "clean_record", "clean_text", "cleaning_version"]

_ROUNDS = 10


class Change(NamedTuple):
    """One step that changed one field of one problem."""

    problem_id: str
    field: str
    step: str
    version: int


@dataclass
class CleanedProblems:
    """Cleaned records and what was done to them.

    Attributes
    ----------
    rows : list of dict
        Problem records; a changed one keeps its texts of before in ``metadata.original``, the steps in
        ``metadata.cleaning`` (``field:step@version``), and what was taken out in ``metadata.figures``,
        ``hidden`` and ``credits``.
    changes : list of Change
        One row per problem, field and step.
    """

    rows: list[dict[str, Any]]
    changes: list[Change]

    @property
    def counts(self) -> list[dict[str, Any]]:
        """One row per step and field: how many problems it changed."""
        counted = Counter((change.step, change.version, change.field) for change in self.changes)
        return [
            {"step": step, "version": version, "field": field, "rows": rows}
            for (step, version, field), rows in sorted(counted.items())
        ]


def clean_problems(records: Iterable[dict[str, Any]]) -> CleanedProblems:
    """Clean problem records; cleaning twice changes nothing more."""
    rows, changes = [], []
    for record in records:
        row, made = clean_record(record)
        rows.append(row)
        changes.extend(made)
    return CleanedProblems(rows, changes)


def clean_record(record: dict[str, Any]) -> tuple[dict[str, Any], list[Change]]:
    """Clean one record; the very same object comes back when there is nothing to change."""
    cleaned: dict[str, Any] = {}
    steps: list[tuple[str, str, int]] = []
    kept: dict[str, list[str]] = {}
    for field in (*TEXTS, ANSWER):
        text = record[field]
        if text is None:
            continue
        new: str | None
        new, applied, taken = clean_text(text, field)
        steps += [(field, name, version) for name, version in applied]
        for key, values in taken.items():
            kept.setdefault(key, []).extend(values)
        nothing = (credits.is_no_answer if field == ANSWER else credits.says_nothing)(new)
        # A statement that says nothing is the readers' business: a record without one cannot be.
        if nothing and field != "statement":
            new, steps = None, [*steps, (field, *FORGET_NOTHING)]
        if new != text:
            cleaned[field] = new
    solution = cleaned.get(SOLUTION, record[SOLUTION])
    if cleaned.get(ANSWER, record[ANSWER]) is None and solution and (answer := latex.boxed_answer(solution)):
        cleaned[ANSWER] = answer
        steps.append((ANSWER, *EXTRACT_ANSWER))
    if not cleaned:
        return record, []
    row = {**record, **cleaned}
    row["content_hash"] = content_hash(row["statement"], row["solution"])
    row["metadata"] = _metadata(record, cleaned, steps, kept)
    return row, [Change(record["problem_id"], *step) for step in dict.fromkeys(steps)]


def clean_text(text: str, field: str) -> tuple[str, Sequence[tuple[str, int]], dict[str, list[str]]]:
    """Apply the steps of a field until none of them changes the text any more.

    Returns
    -------
    text, steps, kept
        The clean text, (name, version) of the steps that changed it, and what they took out by key.
    """
    applied: dict[tuple[str, int], None] = {}
    kept: dict[str, list[str]] = {}
    for _ in range(_ROUNDS):
        before = text
        for step in STEPS:
            if field not in step.fields or (changed := step.change(text)) == text:
                continue
            if step.keeps is not None:
                kept.setdefault(step.keeps_as, []).extend(step.keeps(text))
            applied[step.name, step.version] = None
            text = changed
        if text == before:
            break
    return text, list(applied), kept


def _metadata(
    record: dict[str, Any],
    cleaned: dict[str, Any],
    steps: Iterable[tuple[str, str, int]],
    kept: dict[str, list[str]],
) -> str:
    metadata: dict[str, Any] = json.loads(record["metadata"] or "{}")
    # An answer found in the solution had no text before; null says so.
    original = {field: record[field] for field in cleaned}
    metadata["original"] = {**original, **metadata.get("original", {})}
    done = [f"{field}:{name}@{version}" for field, name, version in dict.fromkeys(steps)]
    metadata["cleaning"] = list(dict.fromkeys([*metadata.get("cleaning", []), *done]))
    for key, values in kept.items():
        metadata[key] = [*metadata.get(key, []), *values]
    return json.dumps(metadata, ensure_ascii=False)
