"""Packed files: unpacked to a scratch file under a byte limit, so that a bomb is refused before it is read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from warehouse.readers.records import Limits, RefusedError, SkippedFile

_MAGIC = (
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zip")
# Office files are zip archives; the member that tells which, and what to do.
_OFFICE = {
    "xl/workbook.xml": "an Excel workbook; save the sheet as CSV (UTF-8)",
    "xl/workbook.bin": "an Excel workbook; save the sheet as CSV (UTF-8)",
    "word/document.xml": "a Word document; save it as text or PDF",
    "META-INF/manifest.xml": "an OpenDocument file; save it as CSV or PDF",
}
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError, NotImplementedError)


def packing(head: bytes) -> str | None:
    """Name of the packing that the first bytes show, or None."""
    return next((name for magic, name in _MAGIC if head.startswith(magic)), None)


@contextmanager
def unpacked(path: Path, name: str, kind: str, limits: Limits) -> Iterator[Iterator[tuple[str, Path] | SkippedFile]]:
    """Unpack ``path`` into a scratch folder that lives as long as the context.

    Yields an iterator over (name to show, scratch file); members and files that break a limit come as
    refused :class:`SkippedFile`.
    """
    with tempfile.TemporaryDirectory(prefix="saber-") as scratch:
        if kind == "zip":
            yield _members(path, name, limits, Path(scratch))
        else:
            yield _single(path, name, kind, limits, Path(scratch))


def plain_name(name: str) -> str:
    """File name without its packing suffix: ``test.jsonl.gz`` -> ``test.jsonl``."""
    return next((name[: -len(end)] for end in _SUFFIXES if name.lower().endswith(end)), name)


def _single(
    path: Path, name: str, kind: str, limits: Limits, scratch: Path
) -> Iterator[tuple[str, Path] | SkippedFile]:
    target = scratch / "0"
    try:
        with _opened(path, kind) as source:
            _copy(source, target, path.stat().st_size, limits)
    except RefusedError as refusal:
        yield SkippedFile(name, str(refusal), refused=True)
    except EOFError:
        # What came out before the cut is sound: a damaged packing shows as another error.
        if target.stat().st_size:
            yield plain_name(name), target
        yield SkippedFile(
            name, f"the {kind} data end early; what stands before the cut is read. Fetch it again", refused=True
        )
    except _BROKEN as error:
        yield SkippedFile(name, f"broken {kind} data ({error}); pack the file again", refused=True)
    else:
        yield plain_name(name), target


def _members(path: Path, name: str, limits: Limits, scratch: Path) -> Iterator[tuple[str, Path] | SkippedFile]:
    try:
        archive = zipfile.ZipFile(path)
    except _BROKEN as error:
        yield SkippedFile(name, f"broken zip archive ({error}); pack it again", refused=True)
        return
    with archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        office = next((_OFFICE[info.filename] for info in infos if info.filename in _OFFICE), None)
        if office:
            yield SkippedFile(name, office, refused=True)
            return
        if len(infos) > limits.members:
            yield SkippedFile(name, f"{len(infos)} members, more than the limit of {limits.members}", refused=True)
            return
        left = limits.unpacked_bytes
        for number, info in enumerate(infos):
            shown, target = f"{name}!{info.filename}", scratch / str(number)
            if Path(info.filename).name.startswith(".") or "__MACOSX" in info.filename:
                continue
            try:
                if info.file_size > left:
                    raise RefusedError(f"would unpack to {info.file_size} bytes, over the limit of {left}")
                with archive.open(info) as source:
                    left -= _copy(source, target, info.compress_size, limits, left)
            except RefusedError as refusal:
                yield SkippedFile(shown, str(refusal), refused=True)
                target.unlink(missing_ok=True)
                return
            except _BROKEN as error:
                yield SkippedFile(shown, f"cannot be unpacked ({error})", refused=True)
                continue
            yield shown, target
            target.unlink(missing_ok=True)


def _opened(path: Path, kind: str) -> Any:
    if kind == "gzip":
        return gzip.open(path)
    if kind == "bzip2":
        return bz2.open(path)
    if kind == "xz":
        return lzma.open(path)
    return pa.input_stream(str(path), compression="zstd")


def _copy(source: IO[bytes], target: Path, packed: int, limits: Limits, allowed: int | None = None) -> int:
    allowed = limits.unpacked_bytes if allowed is None else allowed
    total = 0
    read = getattr(source, "read1", source.read)  # hands out what it has before it meets the end of a cut file
    with target.open("wb") as sink:
        while chunk := read(1 << 20):
            total += len(chunk)
            if total > allowed:
                raise RefusedError(f"unpacks to over {allowed} bytes, the limit; unpack it if you trust it")
            if total > limits.ratio_from and total > limits.ratio * max(packed, 1):
                raise RefusedError(
                    f"unpacks to over {limits.ratio} times its size, like a bomb; unpack it if you trust it"
                )
            sink.write(chunk)
    return total
