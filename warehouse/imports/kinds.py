"""One class a kind of rows: its columns, how a record becomes rows to land, what must hold over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from warehouse.imports.context import Context
from warehouse.imports.records import Fault, Faulty, Fields, Record

Row = dict[str, Any]
QUERY_NAMES = ("query-id", "qid", "query")
DOCUMENT_NAMES = ("corpus-id", "doc_id", "docid", "docno", "document", "pid")


class Kind:
    """A kind of imported rows.

    Attributes
    ----------
    table
        Landed table.
    aliases
        {our column: other names under which files have it}.
    group
        Columns of what lands and is replaced as a whole; the table's key for rows that stand alone.
    ignored
        Columns that do not make a row new (ids of the job that landed it).
    """

    table: ClassVar[str]
    aliases: ClassVar[dict[str, tuple[str, ...]]] = {}
    group: ClassVar[tuple[str, ...]] = ()
    ignored: ClassVar[tuple[str, ...]] = ()
    key: ClassVar[tuple[str, ...]]

    def __init__(self, context: Context, job_id: str) -> None:
        self.context = context
        self.job_id = job_id
        self.given = {name: value for name, value in vars(context.given).items() if isinstance(value, str)}
        self.unchecked = 0

    def convert(self, record: Record) -> Iterator[Row]:
        """Turn a record into rows.

        Raises
        ------
        Fault
            When something is wrong with it.
        """
        raise NotImplementedError

    def check_all(self, rows: Sequence[tuple[Record, Row]]) -> Iterator[tuple[int, str]]:
        """Yield (position, reason) of rows that do not go together with others; by default repeated keys."""
        first: dict[tuple[Any, ...], str] = {}
        for position, (record, row) in enumerate(rows):
            key = tuple(row.get(column) for column in self.key)
            if key in first:
                yield position, f"the same {', '.join(self.key)} as {first[key]}: {' '.join(map(str, key))}"
            else:
                first[key] = record.place

    def finish(self, rows: list[Row]) -> list[Row]:
        """Complete rows that only all rows together can complete."""
        return rows

    def fields(self, record: Record) -> Fields:
        """Return the record's fields over what the command line gives."""
        return Fields(record.fields, self.given)

    def maker(self, fields: Fields, record: Record) -> Row:
        """Return provider, model and prompt version of a row, which must be known."""
        for name in ("provider", "model"):
            if not fields.has(name):
                raise Fault(f"who made it is not known: the row has no {name} (give --{name})")
        # Without a prompt's name the file is what can be gone back to.
        version = fields.optional_text("prompt_version") or f"import:{record.origin}"
        return {"provider": fields.text("provider"), "model": fields.text("model"), "prompt_version": version}

    def stamp(self, row: Row, selected: str, *names: str) -> str:
        """Return the variant of a row: the one selected, or the hash of its provenance."""
        if self.context.given.as_selected:
            return selected
        return self.context.variant(self.table, row, *names)

    def seen(self, fields: Fields, *hashes: str) -> str:
        """Return the hash of the texts the row is about, counting rows that name none themselves."""
        landed = fields.optional_text("content_hash")
        self.unchecked += landed is None
        return self.context.seen(landed, *hashes)


def check(kind: Kind, records: Iterator[Record | Faulty]) -> tuple[list[Row], list[Faulty]]:
    """Convert all records; return the rows that are good and the faults of the others."""
    converted: list[tuple[Record, Row]] = []
    faults: list[Faulty] = []
    for record in records:
        if isinstance(record, Faulty):
            faults.append(record)
            continue
        try:
            converted += [(record, row) for row in kind.convert(record)]
        except Fault as fault:
            faults.append(Faulty(record.place, str(fault)))
    bad: dict[int, str] = {}
    for position, reason in kind.check_all(converted):
        bad.setdefault(position, reason)
    faults += [Faulty(converted[position][0].place, reason) for position, reason in sorted(bad.items())]
    return kind.finish([row for position, (_, row) in enumerate(converted) if position not in bad]), faults
