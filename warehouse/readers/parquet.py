"""Parquet, nested structs and lists included, one row group at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.readers.records import Item, Limits, Opened, RefusedError, Rejection, Row


def read(opened: Opened, limits: Limits, encoding: str | None = None) -> Iterator[Item]:
    """Yield the rows of a Parquet file; a broken row group is rejected as a whole and the next one read.

    Raises
    ------
    RefusedError
        When the footer cannot be read or promises more bytes than ``limits.unpacked_bytes``.
    """
    try:
        file = pq.ParquetFile(opened.path, memory_map=False)
    except (pa.ArrowException, OSError) as error:
        raise RefusedError(
            f"no readable Parquet footer ({_first_line(error)}); the file is cut or foreign"
        ) from error
    with file:
        footer = file.metadata
        promised = sum(footer.row_group(group).total_byte_size for group in range(footer.num_row_groups))
        if promised > limits.unpacked_bytes:
            raise RefusedError(f"unpacks to {promised} bytes, over the limit of {limits.unpacked_bytes}")
        number = 0
        for group in range(footer.num_row_groups):
            count = footer.row_group(group).num_rows
            read_here = 0
            try:
                for batch in file.iter_batches(batch_size=1024, row_groups=[group]):
                    for fields in batch.to_pylist():
                        read_here += 1
                        yield Row(opened.name, number + read_here, fields)
            except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
                first = number + read_here + 1
                detail = f"rows {first} to {number + count} are unreadable ({_first_line(error)})"
                yield Rejection(opened.name, first, "broken row group", detail, rows=count - read_here)
            number += count


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:160] if str(error).strip() else type(error).__name__
