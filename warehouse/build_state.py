"""Whether anything has changed since the last complete build, so that a second one has nothing to do."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from warehouse.landing import Landing
from warehouse.schemas import TABLES
from warehouse.settings import ROOT, Settings

_CODE = ("models", "macros", "udfs", "warehouse")
_FILES = ("dbt_project.yml", "profiles.yml", "requirements.lock")


def fingerprint(settings: Settings) -> str:
    """Hash what a build depends on: settings, landed files and the code of models and functions."""
    digest = hashlib.sha256()
    digest.update(json.dumps([settings.variant, settings.as_rows(), settings.domains], sort_keys=True).encode())
    landing = Landing(settings.home)
    for table in sorted(TABLES):
        for file in landing.inspect(table):
            digest.update(f"{table}/{file.path.name}/{file.rows}/{file.last_sequence}/{file.error}".encode())
    for path in sorted(_code()):
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current(settings: Settings) -> bool:
    """Say whether the last complete build was of exactly this state and its snapshot is there."""
    if not (settings.home / "snapshot.duckdb").exists() or not (settings.home / "warehouse.duckdb").exists():
        return False
    try:
        built = json.loads(_mark(settings).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return bool(built.get(settings.variant) == fingerprint(settings))


def remember(settings: Settings) -> None:
    """Note that a build of the present state is complete."""
    try:
        built = json.loads(_mark(settings).read_text("utf-8"))
    except (OSError, ValueError):
        built = {}
    built[settings.variant] = fingerprint(settings)
    _mark(settings).write_text(json.dumps(built), "utf-8")


def _mark(settings: Settings) -> Path:
    return settings.home / "built.json"


def _code() -> list[Path]:
    found = [ROOT / name for name in _FILES if (ROOT / name).is_file()]
    for folder in _CODE:
        found += [p for p in (ROOT / folder).rglob("*") if p.suffix in (".py", ".sql", ".yml") and p.is_file()]
    return found
