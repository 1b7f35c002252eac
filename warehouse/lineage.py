"""Column lineage from dbt's manifest and compiled SQL, by sqlglot.

SQL models are parsed and qualified; a Python model cannot be read that way, so its columns are said to come from
every model it refers to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope

from warehouse.errors import SaberError
from warehouse.schemas import TABLES


@dataclass
class Model:
    """One node of the dbt graph: ``language`` is sql, python or landed."""

    name: str
    language: str
    materialized: str
    sql: str
    columns: list[str]
    parents: list[str]


@dataclass
class Step:
    """One column and the columns it is made of."""

    name: str
    kind: str
    sources: list[Step] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the tree as plain dictionaries."""
        return {"column": self.name, "kind": self.kind, "sources": [s.as_dict() for s in self.sources]}


def load_project(target: Path) -> dict[str, Model]:
    """Read {schema.table: Model} from the artefacts of a ``dbt build`` or ``dbt compile``.

    Raises
    ------
    SaberError
        When there are no artefacts yet.
    """
    path = target / "manifest.json"
    if not path.exists():
        raise SaberError(f"{path} does not exist yet. Make it: dbt build")
    manifest = json.loads(path.read_text("utf-8"))
    names = {
        unique_id: f"{node['schema']}.{node.get('alias') or node['name']}"
        for unique_id, node in {**manifest["nodes"], **manifest["sources"]}.items()
        if node["resource_type"] in ("model", "source", "seed")
    }
    models: dict[str, Model] = {}
    for unique_id, name in names.items():
        if unique_id.startswith("source."):
            table = name.split(".", 1)[1]
            described = list(manifest["sources"][unique_id]["columns"])
            columns = [*TABLES[table].schema.names] if table in TABLES else described
            models[name] = Model(name, "landed", "landed", "", columns, [])
            continue
        node = manifest["nodes"][unique_id]
        parents = [names[parent] for parent in node["depends_on"]["nodes"] if parent in names]
        compiled = _compiled(target, node)
        models[name] = Model(
            name, node["language"], node["config"]["materialized"], compiled, list(node["columns"]), parents
        )
    _fill_columns(models)
    return models


def column_lineage(models: dict[str, Model], column: str) -> Step:
    """Trace ``relation.column`` (or ``schema.relation.column``) to the landed columns it is made of.

    Raises
    ------
    SaberError
        When the relation or column is unknown.
    """
    relation, _, name = column.rpartition(".")
    found = [key for key in models if key == relation or key.split(".", 1)[1] == relation]
    if len(found) != 1:
        if whole := next((key for key in models if column in (key, key.split(".", 1)[1])), None):
            known = ", ".join(models[whole].columns) or "none described"
            raise SaberError(f"{whole} is a relation: name one of its columns, {whole}.COLUMN. It has: {known}.")
        by_table = {key.split(".", 1)[1]: key for key in models}
        near = [*get_close_matches(relation, models, 3), *get_close_matches(relation.split(".")[-1], by_table, 3)]
        close = ", ".join(dict.fromkeys(by_table.get(name, name) for name in near)) or "none"
        raise SaberError(f"No relation {relation!r} in the project. Close: {close}.")
    model = models[found[0]]
    if model.columns and name not in model.columns:
        raise SaberError(f"{model.name} has no column {name!r}. It has: {', '.join(model.columns)}.")
    return _trace(models, model, name, set())


def read_relations(model: Model) -> set[str]:
    """Return the relations (schema.table) a SQL model reads, common table expressions left out."""
    return {name for name in _tables(sqlglot.parse_one(model.sql, read="duckdb")) if name}


def called_functions(model: Model) -> set[str]:
    """Return the names of functions a SQL model calls that sqlglot does not know as SQL."""
    parsed = sqlglot.parse_one(model.sql, read="duckdb")
    return {call.name.lower() for call in parsed.find_all(exp.Anonymous)}


def _tables(parsed: exp.Expr) -> Iterator[str]:
    with_names = {cte.alias_or_name for cte in parsed.find_all(exp.CTE)}
    for table in parsed.find_all(exp.Table):
        if table.name and not (table.name in with_names and not table.db):
            yield f"{table.db}.{table.name}" if table.db else table.name


def _compiled(target: Path, node: dict[str, Any]) -> str:
    if node["language"] != "sql":
        return ""
    code: str | None = node.get("compiled_code")
    if code:
        return code
    path: Path = target / "compiled" / node["package_name"] / node["original_file_path"]
    if not path.exists():
        raise SaberError(f"{node['name']} has not been compiled. Run: dbt compile")
    return path.read_text("utf-8")


def _fill_columns(models: dict[str, Model]) -> None:
    done: set[str] = set()

    def fill(model: Model) -> None:
        if model.name in done:
            return
        done.add(model.name)
        for parent in model.parents:
            fill(models[parent])
        if model.language == "sql" and not model.columns:
            parsed = _qualified(models, model)
            model.columns = [item.alias_or_name for item in parsed.selects] if isinstance(parsed, exp.Query) else []

    for model in models.values():
        fill(model)


def _schema(models: dict[str, Model], model: Model) -> dict[str, object]:
    schema: dict[str, dict[str, object]] = {}
    for parent in model.parents:
        if not models[parent].columns:
            continue
        database, table = parent.split(".", 1)
        schema.setdefault(database, {})[table] = dict.fromkeys(models[parent].columns, "unknown")
    return dict(schema)


def _qualified(models: dict[str, Model], model: Model) -> exp.Expr:
    parsed = sqlglot.parse_one(model.sql, read="duckdb")
    for table in parsed.find_all(exp.Table):
        table.set("catalog", None)
    try:
        return qualify(
            parsed,
            schema=_schema(models, model),
            dialect="duckdb",
            validate_qualify_columns=False,
            quote_identifiers=False,
            identify=False,
        )
    except SqlglotError as error:
        raise SaberError(f"{model.name} cannot be read for lineage: {error}") from error


def _trace(models: dict[str, Model], model: Model, column: str, path: set[tuple[str, str]]) -> Step:
    name = f"{model.name}.{column}"
    if model.language == "landed" or (model.name, column) in path:
        return Step(name, "landed" if model.language == "landed" else "recursive")
    path = path | {(model.name, column)}
    if model.language == "python":
        sources = [Step(f"{parent}.*", models[parent].language) for parent in model.parents]
        return Step(name, "python model", sources)
    root = build_scope(_qualified(models, model))
    if root is None:
        return Step(name, model.materialized)
    found: list[tuple[str, str]] = []
    _sources(root, column, found, set())
    steps = []
    for relation, source_column in dict.fromkeys(found):
        if relation in models:
            steps.append(_trace(models, models[relation], source_column, path))
    return Step(name, model.materialized, steps)


def _sources(scope: Scope, column: str, found: list[tuple[str, str]], seen: set[tuple[int, str]]) -> None:
    if (id(scope), column) in seen:
        return
    seen.add((id(scope), column))
    if scope.set_operation_scopes:
        position = next((i for i, item in enumerate(_selects(scope)) if item.alias_or_name == column), None)
        for branch in scope.set_operation_scopes:
            selects = _selects(branch)
            inner = selects[position].alias_or_name if position is not None and position < len(selects) else column
            _sources(branch, inner, found, seen)
        return
    for item in _selects(scope):
        if item.alias_or_name == column or item.is_star:
            _columns_of(scope, item, column, found, seen)


def _columns_of(
    scope: Scope, item: exp.Expr, wanted: str, found: list[tuple[str, str]], seen: set[tuple[int, str]]
) -> None:
    nested = {id(sub.expression): sub for sub in scope.subquery_scopes}
    for sub in scope.subquery_scopes:
        if any(id(node) in nested and nested[id(node)] is sub for node in item.walk()):
            for select in _selects(sub):
                _sources(sub, select.alias_or_name, found, seen)
    for reference in item.find_all(exp.Column):
        source = scope.sources.get(reference.table)
        name = wanted if isinstance(reference.this, exp.Star) else reference.name
        if isinstance(source, Scope):
            _sources(source, name, found, seen)
        elif isinstance(source, exp.Table):
            found.append((f"{source.db}.{source.name}", name))


def _selects(scope: Scope) -> list[exp.Expr]:
    return list(getattr(scope.expression, "selects", []))
