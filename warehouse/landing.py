"""Append-only Parquet landing: one folder a table, written to a temporary name, synced, renamed.

A file counts only when its footer says that this project wrote it for that table and the footer can be read
whole; anything else is named by :meth:`Landing.inspect` and left out, never half-read.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from warehouse.errors import SaberError
from warehouse.schemas import SCHEMA_VERSION, TABLES, LandedTable

_MARK = b"saber.table"
_VERSION = b"saber.schema_version"
_LAST = b"saber.last_sequence"
_NOTE = b"saber.note"
_ROWS_PER_GROUP = 131_072


@dataclass(frozen=True)
class LandedFile:
    """One file of a landed table; ``error`` is None when it may be read.

    ``note`` is free text from the footer; the table ``problems`` names its sources there, one a line.
    """

    table: str
    path: Path
    rows: int
    last_sequence: int
    schema_version: int
    error: str | None = None
    note: str = ""
    columns: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Appended:
    """What one append landed."""

    rows: int
    path: Path | None
    first_sequence: int


class Landing:
    """The landing folder of one warehouse home.

    Parameters
    ----------
    home
        The folder named by ``SABER_HOME``; the tables live in ``home/landing``.
    """

    def __init__(self, home: Path | str) -> None:
        self.home = Path(home)
        self.root = self.home / "landing"
        self._footers: dict[tuple[str, int, int], LandedFile] = {}

    def folder(self, table: str) -> Path:
        """Return the folder of `table`; an unknown name is an error, so a name never becomes a path."""
        if table not in TABLES:
            raise SaberError(f"No landed table is called {table!r}. Known: {', '.join(sorted(TABLES))}.")
        return self.root / table

    def prepare(self) -> None:
        """Make every folder and its zero-row file, so that an empty warehouse builds."""
        for table in TABLES.values():
            empty = self.folder(table.name) / "empty.parquet"
            if not empty.exists():
                empty.parent.mkdir(parents=True, exist_ok=True)
                _write(table, table.schema.empty_table(), empty, last_sequence=0)

    def append(self, table: str, rows: pa.Table | Iterable[Mapping[str, Any]], job_id: str) -> Appended:
        """Land `rows` atomically; they are durable when this returns.

        Parameters
        ----------
        table
            Name of a landed table.
        rows
            An Arrow table or dicts with the table's columns; absent columns are NULL, unknown ones an error.
        job_id
            The job that wrote them.

        Raises
        ------
        SaberError
            When a column is unknown, a value has the wrong type or a key column is missing.
        """
        spec = TABLES[self.folder(table).name]
        content = _conform(spec, rows)
        if not content.num_rows:
            return Appended(0, None, self._last_sequence(table) + 1)
        with self.lock(table):
            first = self._last_sequence(table) + 1
            last = first + content.num_rows - 1
            full = pa.table(
                [
                    *content.columns,
                    pa.repeat(pa.scalar(job_id, pa.string()), content.num_rows),
                    pa.array(np.arange(first, last + 1, dtype=np.int64)),
                    pa.repeat(pa.scalar(SCHEMA_VERSION, pa.int32()), content.num_rows),
                ],
                schema=spec.schema,
            )
            path = self.folder(table) / f"{first:012d}-{secrets.token_hex(4)}.parquet"
            _write(spec, full, path, last_sequence=last)
        return Appended(content.num_rows, path, first)

    def append_new(self, table: str, rows: Iterable[Mapping[str, Any]], job_id: str, where: str = "true") -> Appended:
        """Land only those `rows` that differ from the latest landed row of their key, so a repeat adds nothing.

        `where` is trusted SQL (never user text): only landed rows that satisfy it are compared with.
        """
        spec = TABLES[self.folder(table).name]
        content = _conform(spec, rows)
        names = ", ".join(f'"{name}"' for name, _ in spec.columns)
        keys = ", ".join(f'"{column}"' for column in spec.key)
        with duckdb.connect() as connection:
            connection.register("offered", content)
            new = connection.sql(
                f"from (select {names} from offered except (select {names} from ({self.scan_sql(table)}) "
                f"where {where} qualify row_number() over (partition by {keys} order by sequence desc) = 1)) "
                f"order by {keys}"
            ).to_arrow_table()
        return self.append(table, new, job_id)

    @contextlib.contextmanager
    def lock(self, table: str) -> Iterator[None]:
        """Hold the one lock of a landed table (released by the kernel when the process dies)."""
        folder = self.folder(table)
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def inspect(self, table: str) -> list[LandedFile]:
        """Verify the footer of every file in the folder of `table`, in name order."""
        folder = self.folder(table)
        if not folder.is_dir():
            return []
        names = sorted(p for p in folder.iterdir() if not p.name.startswith("."))
        return [self._footer(table, path) for path in names]

    def files(self, table: str) -> list[LandedFile]:
        """Return the files of `table` that may be read."""
        return [file for file in self.inspect(table) if file.error is None]

    def scan_sql(self, table: str) -> str:
        """Return the SQL that reads every version of every row of `table` from its verified files."""
        spec = TABLES[self.folder(table).name]
        files = self.files(table)
        paths = [file.path for file in files]
        held = frozenset().union(*(file.columns for file in files))  # a column added since is in none of them
        shown = {name: f'"{name}"' if name in held else "null" for name in spec.schema.names}
        columns = ", ".join(f'cast({shown[f.name]} as {_sql_type(f.type)}) as "{f.name}"' for f in spec.schema)
        if not paths:
            empty = ", ".join(f'cast(null as {_sql_type(f.type)}) as "{f.name}"' for f in spec.schema)
            return f"select {empty} where false"
        listed = ", ".join("'" + str(path.resolve()).replace("'", "''") + "'" for path in paths)
        return f"select {columns} from read_parquet([{listed}], union_by_name = true)"

    def read(self, table: str, latest: bool = True, where: str = "true") -> pa.Table:
        """Read `table` into Arrow; with `latest`, only the row of the largest sequence of each key.

        `where` is trusted SQL (never user text) applied before rows are deduplicated.
        """
        spec = TABLES[self.folder(table).name]
        sql = f"select * from ({self.scan_sql(table)}) where {where}"
        if latest:
            keys = ", ".join(f'"{column}"' for column in spec.key)
            sql += f" qualify row_number() over (partition by {keys} order by sequence desc) = 1"
        with duckdb.connect() as connection:
            return connection.sql(f"{sql} order by sequence").to_arrow_table()

    def compact(self, table: str) -> int:
        """Merge the files of `table` into one, keeping every row and its sequence; return files removed.

        A kill between the rename and the removals leaves rows twice with equal sequence, which reading by
        key and sequence treats as one; the next compaction removes them for good.
        """
        spec = TABLES[self.folder(table).name]
        with self.lock(table):
            old = [file for file in self.files(table) if file.rows]
            if len(old) < 2:
                return 0
            with duckdb.connect() as connection:
                merged = connection.sql(
                    f"select distinct on (sequence) * from ({self.scan_sql(table)}) order by sequence"
                ).to_arrow_table()
            last = max(file.last_sequence for file in old)
            path = self.folder(table) / f"{old[0].path.name[:12]}-{secrets.token_hex(4)}.parquet"
            _write(spec, merged.cast(spec.schema), path, last_sequence=last)
            for file in old:
                file.path.unlink()
            _sync_folder(path.parent)
        return len(old)

    def _last_sequence(self, table: str) -> int:
        return max((file.last_sequence for file in self.files(table)), default=0)

    def _footer(self, table: str, path: Path) -> LandedFile:
        if not path.is_file():
            return LandedFile(table, path, 0, 0, 0, "not a file of this table: move it out of landing/")
        stat = path.stat()
        cache_key = (str(path), stat.st_size, stat.st_mtime_ns)
        if cache_key not in self._footers:
            self._footers[cache_key] = _read_footer(table, path)
        return self._footers[cache_key]


def _read_footer(table: str, path: Path) -> LandedFile:
    try:
        metadata = pq.read_metadata(path)
        described = metadata.metadata or {}
        if described.get(_MARK) != table.encode():
            raise ValueError("not written by this project for this table: move it out of landing/")
        version = int(described[_VERSION])
        if version > SCHEMA_VERSION:
            raise ValueError(f"schema version {version} is newer than this program: upgrade saber-warehouse")
        note = described.get(_NOTE, b"").decode()
        columns = frozenset(metadata.schema.to_arrow_schema().names)
        return LandedFile(table, path, metadata.num_rows, int(described[_LAST]), version, None, note, columns)
    except Exception as error:
        kind = str(error).splitlines()[0] if str(error) else type(error).__name__
        return LandedFile(table, path, 0, 0, 0, f"unreadable or foreign file left out: {kind}")


def _conform(spec: LandedTable, rows: pa.Table | Iterable[Mapping[str, Any]]) -> pa.Table:
    wanted = pa.schema([pa.field(name, kind) for name, kind in spec.columns])
    names = set(wanted.names)
    try:
        if isinstance(rows, pa.Table):
            unknown = set(rows.column_names) - names
            columns = {
                f.name: rows[f.name].cast(f.type) if f.name in rows.column_names else pa.nulls(rows.num_rows, f.type)
                for f in wanted
            }
            content = pa.table(columns, schema=wanted)
        else:
            listed = list(rows)
            unknown = set().union(*(row.keys() for row in listed)) - names if listed else set()
            content = pa.Table.from_pylist([dict(row) for row in listed], schema=wanted)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise SaberError(f"Rows for {spec.name} do not fit its schema: {error}.") from error
    if unknown:
        raise SaberError(f"Rows for {spec.name} have unknown columns: {', '.join(sorted(unknown))}.")
    return content


def _write(spec: LandedTable, rows: pa.Table, path: Path, last_sequence: int) -> None:
    marks = {
        _MARK: spec.name.encode(),
        _VERSION: str(SCHEMA_VERSION).encode(),
        _LAST: str(last_sequence).encode(),
        _NOTE: _note(spec, rows).encode(),
    }
    temporary = path.parent / f".{path.name}.{os.getpid()}.tmp"
    try:
        pq.write_table(
            rows.replace_schema_metadata(marks), temporary, compression="zstd", row_group_size=_ROWS_PER_GROUP
        )
        with temporary.open("rb") as handle:
            os.fsync(handle.fileno())
        temporary.rename(path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _note(spec: LandedTable, rows: pa.Table) -> str:
    if spec.name != "problems":
        return ""
    return "\n".join(sorted(str(source) for source in pc.unique(rows["source"]).to_pylist()))


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"{_sql_type(kind.value_type)}[]"
    names = {
        pa.string(): "varchar",
        pa.float64(): "double",
        pa.int64(): "bigint",
        pa.int32(): "integer",
        pa.bool_(): "boolean",
    }
    return names[kind]
