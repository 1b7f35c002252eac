"""Finished blocks of a long computation on disk, so that a killed run goes on where it stopped.

Each file holds consecutive blocks as Parquet with page checksums, written under a temporary name and renamed. A run
under the same fingerprint reads the files that follow each other from block 0 and verify; from the first gap or
damaged file on, blocks are computed again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

NumberedBatches: TypeAlias = Iterable[tuple[int, pa.RecordBatch]]
"""Batches with their block's number, ascending; a block without rows gives an empty batch."""

SECONDS_PER_FILE = 1.0
"""A kill costs this much work."""
_ROWS_PER_FILE = 1 << 22
_BATCH_ROWS = 1 << 17


class BlockStore:
    """The finished blocks of one computation.

    Parameters
    ----------
    folder : Path
        Folder of the computation's name; other fingerprints found in it are removed, as nothing will read them.
    fingerprint : str
        Hash of everything the blocks depend on.
    schema : Schema
    """

    def __init__(self, folder: Path, fingerprint: str, schema: pa.Schema) -> None:
        self.folder = folder / fingerprint
        self.schema = schema
        if folder.is_dir():
            for other in folder.iterdir():
                if other != self.folder:
                    shutil.rmtree(other, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)

    def resume(self, compute: Callable[[int], NumberedBatches]) -> Iterator[pa.RecordBatch]:
        """Yield every batch: those on disk, then those of ``compute(first block to compute)``, which are stored.

        Raises
        ------
        OSError
            When a file cannot be written, on a full disk for example.
        """
        next_block = 0
        for path, first, last in self._files():
            batches = _read(path, self.schema) if first == next_block else None
            if batches is None:
                path.unlink()
            else:
                yield from batches
                next_block = last + 1
        yield from self._store(compute(next_block), next_block)

    def _store(self, computed: NumberedBatches, first: int) -> Iterator[pa.RecordBatch]:
        waiting: list[pa.RecordBatch] = []
        begun, n_rows, last = time.monotonic(), 0, first - 1
        for last, batch in computed:
            waiting.append(batch)
            n_rows += batch.num_rows
            if time.monotonic() - begun > SECONDS_PER_FILE or n_rows > _ROWS_PER_FILE:
                self._write(waiting, first, last)
                first, waiting, n_rows = last + 1, [], 0
                begun = time.monotonic()
            yield batch
        # What is left is not worth a file: the caller is about to finish.

    def _write(self, batches: list[pa.RecordBatch], first: int, last: int) -> None:
        path = self.folder / f"{first:09d}-{last:09d}.parquet"
        temporary = path.with_name(f".{path.name}.tmp")
        try:
            table = pa.Table.from_batches(batches, self.schema)
            pq.write_table(table, temporary, compression="lz4", use_dictionary=False, write_page_checksum=True)
            temporary.rename(path)
        finally:
            temporary.unlink(missing_ok=True)

    def _files(self) -> list[tuple[Path, int, int]]:
        found = []
        for path in sorted(self.folder.glob("*.parquet")):
            first, _, last = path.stem.partition("-")
            found.append((path, int(first), int(last)))
        return found


def clear_blocks(database: str, schema: str) -> str:
    """Remove the finished blocks of a schema's models beside a database file, once their rows are complete."""
    folder = Path(database).parent / "blocks"
    shutil.rmtree(folder / schema, ignore_errors=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    return schema


def _read(path: Path, schema: pa.Schema) -> list[pa.RecordBatch] | None:
    """Batches of a file, or None where it does not verify."""
    try:
        table = pq.read_table(path, page_checksum_verification=True, memory_map=False, use_threads=False)
    except (OSError, pa.ArrowException):
        return None
    return table.to_batches(max_chunksize=_BATCH_ROWS) if table.schema.equals(schema) else None
