"""Files far away (``hf://``, ``s3://``, ``https://``), fetched through DuckDB to a scratch folder.

DuckDB knows these addresses, their patterns and its own secrets; once fetched, a file is read like any other,
with the same checks and limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from warehouse.errors import SaberError
from warehouse.readers.records import Limits

SCHEMES = ("hf://", "s3://", "gs://", "gcs://", "r2://", "https://", "http://")


def is_remote(path: str | Path) -> bool:
    """Whether a path names a file on another machine."""
    return str(path).lower().startswith(SCHEMES)


@contextmanager
def fetched(address: str, limits: Limits, config: dict[str, Any] | None = None) -> Iterator[list[Path]]:
    """Fetch the files of an address (patterns allowed); they live as long as the context.

    Raises
    ------
    SaberError
        Without a network or the DuckDB extension it needs, for an address that does not exist, and for a
        file larger than ``limits.unpacked_bytes``.
    """
    with TemporaryDirectory(prefix="saber-") as scratch:
        yield list(_fetch(address, limits, config or {}, Path(scratch)))


def _fetch(address: str, limits: Limits, config: dict[str, Any], scratch: Path) -> Iterator[Path]:
    with duckdb.connect(config=config) as connection:
        try:
            if is_remote(address):
                connection.execute("install httpfs")
                connection.execute("load httpfs")
            found = connection.execute(
                "select filename, size from read_blob(?) order by filename", [address]
            ).fetchall()
            for place, (name, size) in enumerate(found):
                if size > limits.unpacked_bytes:
                    raise SaberError(
                        f"{name} has {size} bytes, over the limit of {limits.unpacked_bytes}. Fetch it yourself."
                    )
                content = connection.execute("select content from read_blob(?)", [name]).fetchone()
                # Shards of one name in several folders must not overwrite each other.
                folder = scratch / str(place)
                folder.mkdir()
                target = folder / PurePosixPath(str(name).partition("?")[0]).name
                target.write_bytes(content[0] if content else b"")
                yield target
        except duckdb.Error as error:
            first = str(error).strip().splitlines()[0]
            raise SaberError(
                f"{address} cannot be read here ({first}). It needs a network and DuckDB's httpfs extension: "
                "download the file on a machine that has them and give its path."
            ) from error
    if not found:
        raise SaberError(f"{address} matches no file. Check the address.")
