"""dbt-duckdb plugin: shows landed files, settings and selected variants to the models as plain relations.

Before the first model runs it creates the schema ``landing`` with one view a landed table over the files whose
footers verify, and the tables ``files``, ``settings``, ``domain_map``, ``selected_variants`` and ``build``; the last
four bear the name of a settings variant.
Plain ``dbt build`` therefore sees exactly what ``saber`` sees.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from dbt.adapters.duckdb.plugins import BasePlugin
from dbt_common.exceptions import DbtRuntimeError

from warehouse.errors import SaberError
from warehouse.identity import variant_hash
from warehouse.landing import Landing
from warehouse.schemas import TABLES
from warehouse.settings import Settings, home_folder, load_settings
from warehouse.spilling import watch_run
from warehouse.variants import OntologyInUse, domain_map, ontology_in_use, selected_variants

NEXT_SNAPSHOT = ".snapshot.next.duckdb"


class Plugin(BasePlugin):
    """Registered in ``profiles.yml`` as ``warehouse.dbt_plugin``."""

    def initialize(self, config: dict[str, Any]) -> None:
        """Make the warehouse home before dbt opens the database in it."""
        with _told_by_dbt():
            home = home_folder()
            home.mkdir(parents=True, exist_ok=True)
            Landing(home).prepare()
            _check_free(home / "warehouse.duckdb")
        watch_run(home / "warehouse.duckdb")

    def configure_connection(self, conn: duckdb.DuckDBPyConnection) -> None:
        """Create the schema ``landing`` on a new connection."""
        with _told_by_dbt():
            show_landing(conn, *settings_of_this_run())
        home = home_folder()
        for name, function in (("clear_next_snapshot", clear_next_snapshot), ("publish_snapshot", publish_snapshot)):
            conn.create_function(name, partial(function, home), [], "varchar", side_effects=True)


@contextmanager
def _told_by_dbt() -> Iterator[None]:
    """Turn our errors into dbt's own, which it prints without a traceback."""
    try:
        yield
    except SaberError as error:
        raise DbtRuntimeError(str(error)) from None


def _check_free(database: Path) -> None:
    """Say that another build is running, before dbt trips over its lock.

    Raises
    ------
    SaberError
        When another process has the warehouse file open.
    """
    if not database.exists():
        return
    try:
        duckdb.connect(str(database)).close()
    except duckdb.IOException as error:
        if "lock" not in str(error):
            raise
        holder = re.search(r"PID \d+", str(error))
        raise SaberError(
            f"{database} is in use by another process ({holder.group() if holder else 'unknown'}), another build "
            "most likely. Wait for it, then run this again; snapshot.duckdb can be read meanwhile."
        ) from None
    except duckdb.ConnectionException:  # this very process has it open, with dbt's own configuration
        return


def settings_of_this_run() -> tuple[Settings, Landing]:
    """Return the settings of the running dbt command, its ``--vars`` included, and the landing."""
    given = _command_line_vars()
    landing = Landing(home_folder())
    named = given.pop("variant", None)
    if named:
        return load_settings(variant=named, overrides=given), landing
    plain = load_settings()
    known = plain.as_rows()
    overrides = {name: value for name, value in given.items() if known.get(name) != value}
    if overrides:
        shown = ", ".join(f"{name}={value}" for name, value in sorted(overrides.items()))
        raise SaberError(
            f"--vars {shown} differs from saber.toml. Edit saber.toml, or name the variant to build beside it: "
            "--vars '{variant: NAME, ...}'"
        )
    return plain, landing


def show_landing(connection: duckdb.DuckDBPyConnection, settings: Settings, landing: Landing) -> None:
    """Create or replace every relation of the schema ``landing`` on `connection`."""
    landing.prepare()
    ontology = ontology_in_use(settings, landing)
    build_id = land_build(settings, landing, ontology)  # before the views, which name the files there are
    connection.execute("create schema if not exists landing")
    for table in TABLES:
        connection.execute(f"create or replace view landing.{table} as {landing.scan_sql(table)}")
    relations = {
        "files": _files(landing),
        "settings": _pairs("name", "value", {name: json.dumps(value) for name, value in settings.as_rows().items()}),
        "domain_map": _domains(settings, ontology),
        "selected_variants": _pairs("stage", "variant", vars(selected_variants(settings, ontology))),
        "build": _pairs(
            "name",
            "value",
            {"build_id": build_id, "ontology": ontology.name, "variant_name": settings.variant},
        ),
    }
    for name, rows in relations.items():
        connection.register("_rows", rows)
        # A variant has its own: the default's views must not read the variant's settings once it is built beside.
        own = "__" + settings.variant.replace("-", "_") if settings.variant and name != "files" else ""
        connection.execute(f"create or replace table landing.{name}{own} as select * from _rows")
        connection.unregister("_rows")


def land_build(settings: Settings, landing: Landing, ontology: OntologyInUse) -> str:
    """Land the settings in force once, and return their ``build_id`` (a hash: equal settings, equal id)."""
    shown = json.dumps(settings.as_rows(), sort_keys=True)
    variants = json.dumps(vars(selected_variants(settings, ontology)), sort_keys=True)
    package = version("saber-warehouse")
    build_id = variant_hash({"settings": shown, "variants": variants, "package": package})
    known = landing.read("builds")["build_id"].to_pylist()
    if build_id not in known:
        row = {
            "build_id": build_id,
            "settings": shown,
            "variants": variants,
            "ontology": ontology.name,
            "package_version": package,
        }
        landing.append("builds", [row], job_id=f"build-{build_id}")
    return build_id


def clear_next_snapshot(home: Path) -> str:
    """Remove what an interrupted snapshot left; the hook at the end of a dbt run calls this from SQL."""
    for leftover in (home / NEXT_SNAPSHOT, home / f"{NEXT_SNAPSHOT}.wal"):
        leftover.unlink(missing_ok=True)
    return NEXT_SNAPSHOT


def publish_snapshot(home: Path) -> str:
    """Rename the finished copy over the snapshot; readers that have the old one open keep it."""
    (home / NEXT_SNAPSHOT).rename(home / "snapshot.duckdb")
    return "snapshot.duckdb"


def column_name(domain: str) -> str:
    """Return the leaderboard column of a domain: lower case, runs of other characters become ``_``."""
    return re.sub(r"[^a-z0-9]+", "_", domain.lower()).strip("_") or "domain"


def _command_line_vars() -> dict[str, Any]:
    from dbt.flags import get_flags

    flags = get_flags()  # type: ignore[no-untyped-call]
    return dict(getattr(flags, "VARS", None) or {})


def _files(landing: Landing) -> pa.Table:
    found = [file for table in TABLES for file in landing.inspect(table)]
    return pa.table(
        {
            "landed_table": pa.array([file.table for file in found], pa.string()),
            "file": pa.array([file.path.name for file in found], pa.string()),
            "n_rows": pa.array([file.rows for file in found], pa.int64()),
            "last_sequence": pa.array([file.last_sequence for file in found], pa.int64()),
            "error": pa.array([file.error for file in found], pa.string()),
        }
    )


def _domains(settings: Settings, ontology: OntologyInUse) -> pa.Table:
    rows = [
        (position, domain, column_name(domain), branch)
        for position, (domain, branches) in enumerate(domain_map(settings, ontology).items(), 1)
        for branch in branches
    ]
    return pa.table(
        {
            "position": pa.array([row[0] for row in rows], pa.int32()),
            "domain": pa.array([row[1] for row in rows], pa.string()),
            "domain_column": pa.array([row[2] for row in rows], pa.string()),
            "branch": pa.array([row[3] for row in rows], pa.string()),
        }
    )


def _pairs(key: str, value: str, rows: Mapping[str, Any]) -> pa.Table:
    return pa.table(
        {
            key: pa.array(list(rows), pa.string()),
            value: pa.array([str(item) for item in rows.values()], pa.string()),
        }
    )
