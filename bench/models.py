"""Run the project's own models on a benchmark's database, one at a time and without dbt around them.

What is measured is then the model itself: its SQL as dbt would compile it, or its Python function with the one
method of dbt's objects that models use, ``ref``.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import jinja2

ROOT = Path(__file__).resolve().parent.parent
MACROS = ("settings", "seeded_order", "latest", "topic_path", "lin")


def run_model(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    """Build model `name` as a table in the main schema, and return its number of rows.

    Raises
    ------
    FileNotFoundError
        When the project has no such model.
    """
    file = _file(name)
    if file.suffix == ".sql":
        connection.execute(f"create or replace table {name} as\n{compile_sql(file)}")
    else:
        result = _function(file)(_Dbt(connection, name), connection)  # a relation, a table or a stream of batches
        connection.register("_model", result)
        connection.execute(f"create or replace table {name} as select * from _model")
        connection.unregister("_model")
    return int(connection.execute(f"select count(*) from {name}").fetchall()[0][0])


def compile_sql(file: Path) -> str:
    """Compile a model's SQL: every ref is a table of the main schema."""
    macros = "".join((ROOT / "macros" / f"{macro}.sql").read_text("utf-8") for macro in MACROS)
    template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(macros + file.read_text("utf-8"))
    return template.render(
        ref=lambda name: name,
        source=lambda schema, name: f"{schema}.{name}",
        config=lambda **_: "",
        is_incremental=lambda: False,
    )


class _Dbt:
    """Stands for the object dbt hands to Python models."""

    is_incremental = False

    def __init__(self, connection: duckdb.DuckDBPyConnection, name: str) -> None:
        self._connection = connection
        database = str(connection.execute("select current_database()").fetchall()[0][0])
        self.this = SimpleNamespace(database=database, schema="main", identifier=name)

    def config(self, **_: Any) -> None:
        """Take no notice: the result is always a table."""

    def ref(self, name: str) -> duckdb.DuckDBPyRelation:
        return self._connection.table(name)


@cache
def _file(name: str) -> Path:
    found = [path for path in (ROOT / "models").rglob(f"{name}.*") if path.suffix in (".sql", ".py")]
    if len(found) != 1:
        raise FileNotFoundError(f"{len(found)} models are called {name!r}.")
    return found[0]


def _function(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"models_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.model
