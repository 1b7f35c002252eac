"""The reader for any table with a statement column, and the base of the readers of known layouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from warehouse.readers import Row
from warehouse.readers.delimited import plain
from warehouse.sources.columns import Columns, answers_are_solutions, assign
from warehouse.sources.draft import Draft, Dropped, answer_of, text_of, texts_of


class Generic:
    """Turns the rows of one file into drafts by the roles of its columns.

    A list of solutions gives its first as the solution; all of them stay in the metadata. When the file
    has no solution column and its answers are worked out, the answer is the solution.

    A layout of its own is a subclass: it says by which columns it is recognised, fixes roles, and may drop
    rows or refine drafts. Columns go by their plain names (lower case, underscores).
    """

    name: ClassVar[str] = "generic"
    roles: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        file: str,
        names: Sequence[str],
        rows: Sequence[Row] = (),
        mapping: Mapping[str, str] | None = None,
    ) -> None:
        self.file = file
        self.rows_before = 0  # rows of earlier files of the same layout, set by the ingest
        self._actual = {plain(name): name for name in reversed(names)}
        self.columns: Columns = assign(names, {**self.roles, **(mapping or {})})
        answers = [row.fields.get(self.columns.answer) for row in rows] if self.columns.answer else []
        self._answer_is_solution = (
            self.columns.solution is None and "solution" not in self.roles and answers_are_solutions(answers)
        )

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """Whether a file with these columns and rows is of this layout."""
        return False

    def matches(self) -> bool:
        """Whether the file has a statement at all."""
        return self.columns.statement is not None

    def prepare(self, rows: list[Row]) -> list[Row]:
        """Look at all rows together before they are turned into drafts one by one."""
        return rows

    def drops(self, fields: Mapping[str, Any]) -> Dropped | None:
        """Say why a row is left out by design, or None."""
        return None

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Change a draft in place; ``position`` counts the rows of the ingest from 0."""

    def convert(self, row: Row) -> Draft | Dropped:
        """Turn one row into a draft (whose statement may be missing), or say why it is dropped."""
        reason = self.drops(row.fields)
        if reason is not None:
            return reason
        draft = self._draft(row.fields)
        self.refine(draft, row.fields, self.rows_before + row.number - 1)
        return draft

    def cell(self, fields: Mapping[str, Any], name: str) -> Any:
        """The value of a column by its plain name; None where there is none."""
        return fields.get(self._actual.get(name, name))

    def _draft(self, fields: Mapping[str, Any]) -> Draft:
        columns = self.columns
        used = columns.used()
        # A used cell that is no plain text (a list, a chat) stays whole in the metadata.
        metadata = {k: v for k, v in fields.items() if k not in used or isinstance(v, list | dict)}
        solutions = texts_of(_cell(fields, columns.solution))
        solutions += [text for name in columns.further_solutions for text in texts_of(fields.get(name))]
        answer = answer_of(_cell(fields, columns.answer))
        if self._answer_is_solution:
            solutions, answer = texts_of(_cell(fields, columns.answer)), None
        for name in (columns.solution, *columns.further_solutions):
            metadata.pop(name or "", None)
        if len(solutions) > 1:
            metadata["solutions"] = solutions
        return Draft(
            statement=text_of(_cell(fields, columns.statement)),
            solution=solutions[0] if solutions else None,
            answer=answer,
            language=text_of(_cell(fields, columns.language)),
            licence=text_of(_cell(fields, columns.licence)),
            metadata=metadata,
        )


def _cell(fields: Mapping[str, Any], name: str | None) -> Any:
    return fields.get(name) if name else None
