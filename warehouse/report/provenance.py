"""Where the numbers come from: build, code, settings, variants, prompts, models, jobs."""

from __future__ import annotations

import json
import platform
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from warehouse.landing import Landing
from warehouse.marts import Marts
from warehouse.settings import ROOT, Settings

_PACKAGES = (
    "saber-warehouse", "duckdb", "dbt-core", "dbt-duckdb", "numpy", "scipy", "scikit-learn", "pyarrow", "polars",
)  # fmt: skip
_JOBS = 40


@dataclass(frozen=True)
class Provenance:
    """What it takes to make the same numbers again.

    Attributes
    ----------
    commit
        Commit of the code that wrote the report, ``+ changes`` when files differ from it; None outside a checkout.
    settings
        {"section.key": value} that the build used.
    makers
        One row a stage, provider, model and prompt behind the selected rows.
    """

    build_id: str
    at: str
    commit: str | None
    packages: dict[str, str]
    settings: dict[str, Any]
    variants: dict[str, str]
    makers: list[dict[str, Any]]
    jobs: list[dict[str, Any]]


def provenance(settings: Settings, marts: Marts) -> Provenance:
    """Read the provenance of the build in the snapshot."""
    build_id = marts.build_id()
    # Read from the landing: a build lands its settings after the snapshot's views have been drawn up.
    builds = [row for row in Landing(settings.home).read("builds").to_pylist() if row["build_id"] == build_id]
    values = json.loads(builds[0]["settings"]) if builds else settings.as_rows()
    variants = json.loads(builds[0]["variants"]) if builds else {}
    return Provenance(
        build_id=build_id,
        at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        commit=commit(),
        packages=_packages(),
        settings=values,
        variants=variants,
        makers=_makers(marts),
        jobs=marts.rows(_JOBS_SQL, {"limit": _JOBS}),
    )


def commit() -> str | None:
    """Return the commit of the checkout this code runs from, marked when tracked files differ from it."""
    if not (ROOT / ".git").exists():
        return None
    try:
        found = _git("rev-parse", "HEAD")
        return f"{found} + changes" if _git("status", "--porcelain", "--untracked-files=no") else found
    except (OSError, subprocess.SubprocessError):
        return None


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True, timeout=20)
    return done.stdout.strip()


def _packages() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _makers(marts: Marts) -> list[dict[str, Any]]:
    stages = {
        "topics": ("staging.stg_topic_scores", "provider, model, prompt_version", "true"),
        "summaries": ("staging.stg_summaries", "provider, model, prompt_version", "true"),
        "judgments": ("staging.stg_judgments", "provider, model, prompt_version, judge", "is_selected"),
        "ratings": ("staging.stg_ratings", "provider, model, judge", "true"),
    }
    found: list[dict[str, Any]] = []
    for stage, (relation, columns, where) in stages.items():
        if marts.columns(relation):
            rows = marts.rows(
                f"select {columns}, count(*) as n_rows from {marts.name(relation)} where {where} "
                "group by all order by all"
            )
            found += [{"stage": stage, "prompt_version": None, "judge": None, **row} for row in rows]
    return found


_JOBS_SQL = """
select job_id, arg_max(command, sequence) as command, arg_max(state, sequence) as state, max("at") as "at",
    arg_max(summary, sequence) ->> '$.seconds' as seconds
from landing.jobs
group by job_id
order by max(sequence) desc
limit $limit
"""
