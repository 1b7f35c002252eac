"""The reader for any table with a statement column: roles by column name or by ``--map``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.sources.columns import Columns, answers_are_solutions, assign
from warehouse.sources.draft import Draft, text_of, texts_of


class Generic:
    """Turns the rows of one file into drafts by the roles of its columns.

    A list of solutions gives its first as the solution; all of them stay in the metadata. When the file
    has no solution column and its answers are worked out, the answer is the solution (GSM8K).
    """

    name = "generic"

    def __init__(
        self, names: Sequence[str], answers: Sequence[Any] = (), mapping: Mapping[str, str] | None = None
    ) -> None:
        self.columns: Columns = assign(names, mapping)
        self._answer_is_solution = self.columns.solution is None and answers_are_solutions(answers)

    def matches(self, columns: frozenset[str]) -> bool:
        """Whether there is a statement column."""
        return self.columns.statement is not None

    def convert(self, fields: dict[str, Any]) -> Draft:
        """Turn one row into a draft; the statement may be missing."""
        columns = self.columns
        metadata = {key: value for key, value in fields.items() if key not in columns.used()}
        solutions = texts_of(_cell(fields, columns.solution))
        solutions += [text for name in columns.further_solutions for text in texts_of(fields.get(name))]
        answer = _joined(_cell(fields, columns.answer))
        if self._answer_is_solution:
            solutions, answer = texts_of(_cell(fields, columns.answer)), None
        if len(solutions) > 1:
            metadata["solutions"] = solutions
            for name in columns.further_solutions:
                metadata.pop(name, None)
        return Draft(
            statement=text_of(_cell(fields, columns.statement)),
            solution=solutions[0] if solutions else None,
            answer=answer,
            language=text_of(_cell(fields, columns.language)),
            licence=text_of(_cell(fields, columns.licence)),
            metadata=metadata,
        )


def _cell(fields: dict[str, Any], name: str | None) -> Any:
    return fields.get(name) if name else None


def _joined(value: Any) -> str | None:
    """An answer as one text; a list of answers is one answer with several values."""
    return ", ".join(texts_of(value)) or None
