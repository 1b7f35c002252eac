"""The project's models as dbt compiles them over an empty warehouse, kept until a model or setting changes.

Column lineage must not depend on what the last ``dbt build`` happened to select, nor on its variant, so it reads
artefacts of its own. Over an empty home an incremental model compiles to its full form, which reads all it ever
reads.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from warehouse.errors import SaberError
from warehouse.settings import ROOT

_KEPT = ROOT / "target" / "lineage"


def compiled_project(kept: Path = _KEPT) -> Path:
    """Return a folder that holds ``manifest.json`` and the compiled SQL of the models as they stand.

    Parameters
    ----------
    kept
        Where the artefacts stay between calls: one folder, named by a hash of the project's dbt files.

    Raises
    ------
    SaberError
        When dbt cannot compile the models; the message holds what it said.
    """
    folder = kept / _digest()
    if (folder / "manifest.json").exists():
        return folder
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="compile-", dir=kept) as name:
        target = Path(name) / "target"
        _compile(Path(name), target)
        for old in kept.iterdir():
            if not old.name.startswith("compile-"):
                shutil.rmtree(old, ignore_errors=True)
        try:
            target.rename(folder)
        except OSError:
            if not (folder / "manifest.json").exists():  # else another process has just made the same
                raise
    return folder


def _compile(home: Path, target: Path) -> None:
    environment = {
        **os.environ,
        "SABER_HOME": str(home / "home"),
        "DBT_TARGET_PATH": str(target),
        "DBT_LOG_PATH": str(home / "logs"),
    }
    environment.pop("SABER_VARIANT", None)
    command = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "--quiet", "compile"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SaberError(f"dbt cannot compile the models:\n{done.stdout}{done.stderr}")


def _digest() -> str:
    digest = hashlib.sha256()
    for path in _files():
        digest.update(f"{path.relative_to(ROOT)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _files() -> Iterator[Path]:
    yield from (ROOT / "dbt_project.yml", ROOT / "profiles.yml")
    for folder in ("models", "macros"):
        yield from sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in (".sql", ".py", ".yml"))
