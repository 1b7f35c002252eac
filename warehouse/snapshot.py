"""The snapshot: a copy of the warehouse that stays readable while ``dbt build`` writes the original."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb

from warehouse.errors import SaberError


def write_snapshot(home: Path) -> Path:
    """Copy every table and view of ``warehouse.duckdb`` to ``snapshot.duckdb``, by rename.

    Readers that have the old snapshot open keep it. The views of the schema ``landing`` are copied as views, so
    landed rows (the call log among them) are never copied.

    Raises
    ------
    SaberError
        When the warehouse does not exist or is held by a running ``dbt build``.
    """
    source, target = home / "warehouse.duckdb", home / "snapshot.duckdb"
    if not source.exists():
        raise SaberError(f"{source} does not exist yet. Make it: dbt build")
    temporary = home / f".snapshot.{os.getpid()}.duckdb"
    temporary.unlink(missing_ok=True)
    try:
        with duckdb.connect() as connection:
            connection.execute(f"attach {_quoted(source)} as warehouse (read_only)")
            connection.execute(f"attach {_quoted(temporary)} as snapshot")
            connection.execute("copy from database warehouse to snapshot")
            connection.execute("checkpoint snapshot")
            connection.execute("detach snapshot")
        temporary.rename(target)
    except duckdb.IOException as error:
        raise SaberError(f"No snapshot of {source}: {str(error).splitlines()[0]}") from error
    finally:
        for leftover in (temporary, Path(f"{temporary}.wal")):
            leftover.unlink(missing_ok=True)
    return target


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
