"""An export is one folder with a manifest; it appears whole or not at all, and equal inputs give equal bytes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from glob import escape as escape_glob
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.errors import SaberError
from warehouse.exports.ids import escape

MANIFEST = "saber.json"


class ExportFolder:
    """A folder being written.

    Attributes
    ----------
    path
        Where it is written; it moves to its place when all is done.
    manifest
        What :data:`MANIFEST` will say, beside the digest of every file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest: dict[str, Any] = {}

    def text(self, name: str, content: str) -> None:
        """Write a text file."""
        self._place(name).write_text(content, "utf-8")

    def lines(self, name: str, lines: Iterable[str]) -> int:
        """Write lines; return how many."""
        count = 0
        with self._place(name).open("w", encoding="utf-8", newline="\n") as handle:
            for line in lines:
                handle.write(line + "\n")
                count += 1
        return count

    def json_lines(self, name: str, rows: Iterable[Any]) -> int:
        """Write one JSON object a line; return how many."""
        return self.lines(name, (json.dumps(row, ensure_ascii=False) for row in rows))

    def tsv(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
        """Write a table whose cells are inert and reversible (see :mod:`warehouse.exports.ids`)."""
        body = ("\t".join(map(_cell, row)) for row in rows)
        return self.lines(name, chain(["\t".join(columns)], body)) - 1

    def parquet(self, name: str, table: pa.Table) -> int:
        """Write an Arrow table; return its rows."""
        pq.write_table(table, self._place(name), compression="zstd", row_group_size=65_536)
        return int(table.num_rows)

    def parquet_parts(self, name: str, parts: Iterable[pa.Table]) -> None:
        """Write Arrow tables of one schema one after the other, at least one."""
        remaining = iter(parts)
        first = next(remaining)
        with pq.ParquetWriter(self._place(name), first.schema, compression="zstd") as writer:
            for part in chain([first], remaining):
                writer.write_table(part, row_group_size=65_536)

    def close(self) -> None:
        """Write the manifest with the digest of every file."""
        files = sorted(path for path in self.path.rglob("*") if path.is_file())
        digests = {str(path.relative_to(self.path)): digest(path) for path in files}
        shown = {**self.manifest, "files": digests}
        self.text(MANIFEST, json.dumps(shown, ensure_ascii=False, indent=1, sort_keys=True) + "\n")

    def _place(self, name: str) -> Path:
        place = self.path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


@contextmanager
def export_folder(target: Path) -> Iterator[ExportFolder]:
    """Write a folder beside `target` and move it there when the block ends well.

    An earlier export at `target` is replaced; any other content is left alone.

    Raises
    ------
    SaberError
        When `target` exists and is no export of ours.
    """
    target = target.expanduser().absolute()
    if target.exists() and not is_export(target) and not (target.is_dir() and not any(target.iterdir())):
        raise SaberError(f"{target} exists and is no earlier export. Name another folder, or move it away.")
    target.parent.mkdir(parents=True, exist_ok=True)
    _clear_after_kills(target)
    temporary = target.parent / f".{target.name}.{os.getpid()}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        folder = ExportFolder(temporary)
        yield folder
        folder.close()
        old = target.parent / f".{target.name}.{os.getpid()}.old"
        if target.exists():
            target.rename(old)
        temporary.rename(target)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _clear_after_kills(target: Path) -> None:
    """Remove what killed exports to `target` have left; one killed between the two renames gives the old one back."""
    for left in sorted(target.parent.glob(f".{escape_glob(target.name)}.*.*")):
        found = re.fullmatch(r"\.(\d+)\.(tmp|old)", left.name.removeprefix(f".{target.name}"))
        if found is None or not left.is_dir() or _is_running(int(found[1])):
            continue
        if found[2] == "old" and not target.exists():
            left.rename(target)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def is_export(folder: Path) -> bool:
    """Say whether a folder is an export of ours."""
    return read_manifest(folder) is not None


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of an export, None when the folder has none of ours."""
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "saber_export" in found else None


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)  # the shortest text that gives the very number back
    return escape(str(value))
