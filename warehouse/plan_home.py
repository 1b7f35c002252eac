"""What a plan reads: the linear part of the build, made in a home of its own, and the last finished build."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from udfs.dbt_plugin import register_functions
from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.settings import ROOT, Settings
from warehouse.variants import ontology_in_use, signals_variant

_MODELS = ("+summary_tokens", "+topic_sets", "+topic_information_content", "+problem_domains", "+domains")
_UNITS = {"b": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


class LinearPart:
    """Relations that grow with the corpus alone: topics, numbers, token sets, information content.

    Attributes
    ----------
    connection
        Holds the tables of the plan's own home.
    cpu_seconds
        What building them took.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, variant: str, cpu_seconds: float) -> None:
        self.connection = connection
        self.cpu_seconds = cpu_seconds
        self._suffix = schema_suffix(variant)

    def name(self, relation: str) -> str:
        """Return ``schema.relation`` in the schema of the settings' variant."""
        schema, _, table = relation.partition(".")
        return f"{schema}{self._suffix}.{table}"

    def rows(self, relation: str) -> duckdb.DuckDBPyRelation:
        """Return a relation by its mart's name."""
        return self.connection.sql(f"from {self.name(relation)}")


@contextmanager
def linear_part(settings: Settings) -> Iterator[LinearPart]:
    """Build the linear part from the landed rows of a home, beside the warehouse and leaving nothing.

    Raises
    ------
    SaberError
        When dbt fails; the message holds what it said.
    """
    Landing(settings.home).prepare()
    with tempfile.TemporaryDirectory(prefix=".plan-", dir=settings.home) as name:
        folder = Path(name)
        (folder / "landing").symlink_to(settings.home / "landing")
        environment = {
            **os.environ,
            "SABER_HOME": name,
            "SABER_VARIANT": settings.variant,
            "DBT_TARGET_PATH": str(folder / "target"),
            "DBT_LOG_PATH": str(folder / "logs"),
        }
        command = [
            sys.executable,
            "-c",
            "from dbt.cli.main import cli; cli()",
            "--quiet",
            "run",
            "--select",
            *_MODELS,
        ]
        begun = _children_seconds()
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SaberError(f"The linear part of the build fails, so nothing can be planned:\n{done.stdout}")
        spent = _children_seconds() - begun
        with duckdb.connect(str(folder / "warehouse.duckdb")) as connection:
            register_functions(connection)
            yield LinearPart(connection, settings.variant, spent)


@dataclass(frozen=True)
class Generation:
    """What the last finished build covered; see the model pair_generations."""

    n_eligible: int
    n_sets: int
    topic_threshold: float | None
    summary_threshold: float | None
    storage: str
    n_stored: int


def last_generation(settings: Settings) -> Generation | None:
    """Return what the next build may start from; None when it starts anew."""
    path = settings.home / "snapshot.duckdb"
    if settings.signals.growth != "frozen" or not path.exists():
        return None
    variant = signals_variant(settings, ontology_in_use(settings, Landing(settings.home)))
    columns = "n_eligible, n_sets, topic_threshold, summary_threshold, storage, n_topic_pairs + n_summary_pairs"
    generations = f"signals{schema_suffix(settings.variant)}.pair_generations"
    with duckdb.connect(str(path), read_only=True) as connection:
        try:
            rows = connection.execute(
                f"select {columns}, signals_variant from {generations} order by generation desc limit 1"
            ).fetchall()
        except duckdb.CatalogException:
            return None
    return Generation(*rows[0][:-1]) if rows and rows[0][-1] == variant else None


def schema_suffix(variant: str) -> str:
    """Return what the schemas of a settings variant end with."""
    return f"__{variant.replace('-', '_')}" if variant else ""


def engine_limit_mib(text: str) -> float:
    """Read a memory limit as DuckDB understands it, for example ``4GB`` or ``512MiB``.

    Raises
    ------
    SaberError
        When it is none.
    """
    found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]i?)?b?\s*", text.lower())
    if not found:
        raise SaberError(f"SABER_MEMORY_LIMIT is {text!r}, which is no amount of memory. Write for example 4GB.")
    return float(found[1]) * _UNITS[found[2] or "b"] / 2**20


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
