"""Small warehouse homes for tests: land rows by hand, build them with dbt, query the result."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb

from warehouse.identity import content_hash
from warehouse.landing import Landing
from warehouse.settings import ROOT, load_settings
from warehouse.variants import ontology_in_use, selected_variants


class Home:
    """A warehouse home in a temporary folder.

    Parameters
    ----------
    path
        The folder.
    settings
        Text of a ``saber.toml`` to use instead of the project's.
    """

    def __init__(self, path: Path, settings: str = "") -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self.build_output = ""
        self.landing = Landing(path / "home")
        self.settings_file = path / "saber.toml"
        self.settings_file.write_text(settings)
        self.environment = {
            **os.environ,
            "SABER_HOME": str(self.landing.home),
            "SABER_SETTINGS": str(self.settings_file),
            "DBT_TARGET_PATH": str(path / "target"),
            "DBT_LOG_PATH": str(path / "logs"),
        }
        self.landing.home.mkdir(parents=True, exist_ok=True)

    def problems(self, rows: list[dict[str, Any]]) -> None:
        """Land problems; ids, hashes and solutions that are not given are made."""
        full = []
        for row in rows:
            source, _, source_id = row["problem_id"].partition("/")
            text = {
                "statement": f"Statement of {row['problem_id']}.",
                "solution": f"Solution of {row['problem_id']}.",
            }
            row = {"source": source, "source_id": source_id, **text, **row}
            full.append({**row, "content_hash": content_hash(row["statement"], row["solution"])})
        self.landing.append("problems", full, "test")

    def ontology(self, edges: list[tuple[str | None, str]], name: str = "test") -> None:
        """Land (parent, child) edges; the root's parent is None."""
        rows = [{"ontology": name, "parent": parent, "child": child, "label": child} for parent, child in edges]
        self.landing.append("ontology_edges", rows, "test")

    def annotate(self, topics: dict[str, list[str]], ideas: dict[str, str | None]) -> None:
        """Land topic assignments and core ideas (None = no core idea) of the selected variant."""
        variants, hashes = self.variants(), self.hashes()
        scores = [
            {
                "problem_id": problem,
                "visited_topic_id": "visited",
                "topic_id": topic,
                "raw_score": 1.0,
                "score": 1.0,
                "kept": True,
                "assigned": True,
                "traversal_id": f"t-{problem}",
                "provider": "offline",
                "content_hash": hashes[problem],
                "variant": variants.topics,
            }
            for problem, assigned in topics.items()
            for topic in assigned
        ]
        summaries = [
            {
                "problem_id": problem,
                "core_idea": idea,
                "no_core_idea": idea is None,
                "provider": "offline",
                "content_hash": hashes[problem],
                "variant": variants.summaries,
            }
            for problem, idea in ideas.items()
        ]
        self.landing.append("topic_scores", scores, "test")
        self.landing.append("summaries", summaries, "test")

    def variants(self):
        """Return the variants that this home's settings select."""
        settings = load_settings(self.landing.home, path=self.settings_file)
        return selected_variants(settings, ontology_in_use(settings, self.landing))

    def hashes(self) -> dict[str, str]:
        """Return {problem_id: content hash} of the landed problems."""
        rows = self.landing.read("problems").to_pylist()
        return {row["problem_id"]: row["content_hash"] for row in rows}

    def dbt(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run dbt from the project's root on this home."""
        command = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "--quiet", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env={**self.environment, **environment}, capture_output=True, text=True, check=False
        )

    def saber(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a ``saber`` command on this home."""
        command = [sys.executable, "-m", "warehouse.cli", *arguments]
        return subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Query the warehouse with plain DuckDB: no plugin, no Python functions."""
        with duckdb.connect(str(self.landing.home / "warehouse.duckdb"), read_only=True) as connection:
            return connection.execute(sql).fetchall()
