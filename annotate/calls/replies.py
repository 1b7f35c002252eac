"""Reading landed replies back, a row group at a time and never a whole file at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from annotate.calls.index import Place
from annotate.calls.journal import Journal
from annotate.calls.record import REPLY_COLUMNS, decode, to_reply
from annotate.providers.base import Reply

_KEPT_BYTES = 64 << 20
_KEPT_GROUPS = 3
_BATCH_ROWS = 1024


class LandedReplies:
    """Fetch replies by place; the row groups read last are kept, since resumed jobs ask in landed order."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Path, int], pa.Table] = {}

    def fetch(self, places: Sequence[Place]) -> list[Reply]:
        """Return the replies at `places`, in that order.

        Raises
        ------
        FileNotFoundError
            When a file has been compacted away by another process; the index must be refreshed.
        """
        answers: dict[int, Reply] = {}
        wanted: dict[Path, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number, place in enumerate(places):
            if isinstance(place.source, Journal):
                answers[number] = to_reply(decode(place.source.read(place.position)))
            else:
                wanted[place.source][place.position].append(number)
        for path, rows in wanted.items():
            for row, reply in self._rows(path, sorted(rows)):
                for number in rows[row]:
                    answers[number] = reply
        return [answers[number] for number in range(len(places))]

    def _rows(self, path: Path, rows: Sequence[int]) -> list[tuple[int, Reply]]:
        found: list[tuple[int, Reply]] = []
        with pq.ParquetFile(path) as file:
            first = 0
            for group in range(file.num_row_groups):
                metadata = file.metadata.row_group(group)
                inside = [row - first for row in rows if first <= row < first + metadata.num_rows]
                if inside:
                    small = metadata.total_byte_size <= _KEPT_BYTES
                    read = self._small(file, path, group) if small else _large(file, group, inside)
                    values = read.take(inside) if small else read
                    found += [
                        (first + row, to_reply(value)) for row, value in zip(inside, values.to_pylist(), strict=True)
                    ]
                first += metadata.num_rows
        return found

    def _small(self, file: pq.ParquetFile, path: Path, group: int) -> pa.Table:
        key = (path, group)
        kept = self._kept.pop(key, None)
        if kept is None:
            kept = file.read_row_group(group, columns=list(REPLY_COLUMNS))
        self._kept[key] = kept  # now the last used
        if len(self._kept) > _KEPT_GROUPS:
            del self._kept[next(iter(self._kept))]
        return kept


def _large(file: pq.ParquetFile, group: int, rows: Sequence[int]) -> pa.Table:
    """Read a few rows (ascending) of a row group too large to hold, streaming over its pages."""
    parts, first, left = [], 0, list(rows)
    for batch in file.iter_batches(_BATCH_ROWS, row_groups=[group], columns=list(REPLY_COLUMNS)):
        inside = [row - first for row in left if row < first + batch.num_rows]
        if inside:
            parts.append(pa.table(batch).take(inside))
            left = left[len(inside) :]
        first += batch.num_rows
        if not left:
            break
    return pa.concat_tables(parts)
