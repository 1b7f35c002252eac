"""From the paths a user typed to the files to read, in a fixed order, each once."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from warehouse.errors import SaberError
from warehouse.readers.records import SkippedFile


def find_files(paths: Sequence[str | Path], glob: str | None = None) -> Iterator[Path | SkippedFile]:
    """Expand files, folders and patterns into files.

    Parameters
    ----------
    paths : sequence of str or Path
        Files, folders (walked to any depth, hidden names left out) or shell patterns.
    glob : str, optional
        Keep only files of folders whose name or path below the folder matches.

    Yields
    ------
    Path or SkippedFile
        Files sorted by path; a folder link that leads back to itself and anything that is no regular
        file (pipe, socket, device) come as :class:`SkippedFile`.

    Raises
    ------
    SaberError
        For a path that does not exist, a link that leads nowhere, or a glob that matches nothing.
    """
    seen: set[tuple[int, int]] = set()
    for given in paths:
        matches = _expand(str(given))
        found = False
        for top in matches:
            for item in _below(top, glob):
                found = True
                if isinstance(item, SkippedFile):
                    yield item
                    continue
                status = item.stat()
                if (status.st_dev, status.st_ino) not in seen:
                    seen.add((status.st_dev, status.st_ino))
                    yield item
        if not found:
            wanted = f" matching {glob!r}" if glob else ""
            raise SaberError(f"{given} holds no file{wanted}. Check the path and --glob.")


def _expand(given: str) -> list[Path]:
    path = Path(given).expanduser()
    if os.path.lexists(path):
        return [path]
    if any(sign in given for sign in "*?["):
        anchor = Path(path.anchor or ".")
        matches = sorted(anchor.glob(str(path.relative_to(path.anchor) if path.anchor else path)))
        if matches:
            return matches
        raise SaberError(f"The pattern {given} matches no file. Quote it so that the shell leaves it alone.")
    if "://" in given:
        raise SaberError(f"{given} is no address that can be read. Use hf://, s3://, gs:// or https://, or a path.")
    raise SaberError(f"{given} does not exist. Check the path.")


def _below(top: Path, glob: str | None) -> Iterator[Path | SkippedFile]:
    try:
        mode = top.stat().st_mode
    except OSError as error:
        raise SaberError(f"{top} cannot be opened: {_cause(error)}. Check the path or the link.") from error
    if not stat.S_ISDIR(mode):
        yield from _regular(top)
        return
    for path in _walk(top, ()):
        if isinstance(path, SkippedFile):
            yield path
        elif glob is None or fnmatch(path.name, glob) or fnmatch(str(path.relative_to(top)), glob):
            yield from _regular(path)


def _walk(folder: Path, above: tuple[tuple[int, int], ...]) -> Iterator[Path | SkippedFile]:
    status = folder.stat()
    here = (status.st_dev, status.st_ino)
    if here in above:
        yield SkippedFile(str(folder), "a symbolic link that leads back to a folder above it")
        return
    try:
        children = sorted(folder.iterdir())
    except OSError as error:
        yield SkippedFile(str(folder), f"cannot be listed: {_cause(error)}", refused=True)
        return
    for child in children:
        if child.name.startswith("."):
            continue
        try:
            is_folder = stat.S_ISDIR(child.stat().st_mode)
        except OSError as error:
            yield SkippedFile(str(child), f"cannot be opened: {_cause(error)}", refused=True)
            continue
        if is_folder:
            yield from _walk(child, (*above, here))
        else:
            yield child


def _regular(path: Path) -> Iterator[Path | SkippedFile]:
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        yield SkippedFile(str(path), f"cannot be opened: {_cause(error)}", refused=True)
        return
    if regular:
        yield path
    else:
        yield SkippedFile(str(path), "not a regular file (pipe, socket or device)", refused=True)


def _cause(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
