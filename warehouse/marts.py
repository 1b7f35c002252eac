"""The marts of one settings variant, read from the snapshot: what exports, the report and traces ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import duckdb
import pyarrow as pa

from warehouse.cli.common import open_snapshot
from warehouse.errors import SaberError
from warehouse.settings import Settings

_SHARED = ("landing",)  # the landing has no variants: its rows name theirs


class Marts:
    """Read-only access to the relations of ``snapshot.duckdb``.

    A settings variant's marts stand in schemas with its name, so relations are named through :meth:`name`.

    Parameters
    ----------
    settings
        Whose home and variant to read.

    Raises
    ------
    SaberError
        When there is no snapshot yet.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.connection = open_snapshot(settings)
        self._suffix = f"__{settings.variant.replace('-', '_')}" if settings.variant else ""

    def __enter__(self) -> Marts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.connection.close()

    def name(self, relation: str) -> str:
        """Return ``schema.relation`` quoted, in the schema of this variant."""
        schema, _, table = relation.partition(".")
        return f"{quoted(schema if schema in _SHARED else schema + self._suffix)}.{quoted(table)}"

    def relations(self, schema: str) -> list[str]:
        """Return the tables and views of a schema, sorted."""
        place = schema if schema in _SHARED else schema + self._suffix
        rows = self.connection.execute(
            "select table_name from information_schema.tables where table_schema = ? order by 1", [place]
        ).fetchall()
        return [row[0] for row in rows]

    def columns(self, relation: str) -> list[str]:
        """Return the columns of a relation in order, none when it does not exist."""
        schema, _, table = relation.partition(".")
        if table not in self.relations(schema):
            return []
        result = self._run(f"select * from {self.name(relation)} limit 0", [])
        return [column[0] for column in result.description]

    def rows(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[dict[str, Any]]:
        """Run a query and return its rows as dictionaries."""
        result = self._run(sql, parameters)
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def table(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> pa.Table:
        """Run a query and return its result as an Arrow table."""
        with _told():
            return self.connection.sql(sql, params=parameters or None).to_arrow_table()

    def value(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        """Run a query for one value; None when it gives no row."""
        rows = self._run(sql, parameters).fetchall()
        return rows[0][0] if rows else None

    def build_id(self) -> str:
        """Return the build that made the marts of this variant."""
        if "build_id" in self.columns("evaluation.leaderboard"):
            found = self.value(f"select any_value(build_id) from {self.name('evaluation.leaderboard')}")
            if found:
                return str(found)
        return str(self.value(f"select value from landing.build{self._suffix} where name = 'build_id'") or "")

    def _run(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
        with _told():
            return self.connection.execute(sql, parameters or None)


@contextmanager
def _told() -> Iterator[None]:
    """Say what an older or moved snapshot lacks, and the remedy."""
    try:
        yield
    except duckdb.CatalogException as error:
        missing = str(error).splitlines()[0]
        raise SaberError(f"The snapshot lacks what this needs ({missing}). Bring it up to date: dbt build") from error
    except duckdb.IOException as error:
        # Views name the landed files of the build; compaction or another folder leaves them dangling.
        found = str(error).splitlines()[0]
        raise SaberError(
            f"The snapshot names landed files that are gone ({found}). Bring it up to date: dbt build"
        ) from error


def quoted(name: str) -> str:
    """Return a name as a SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
