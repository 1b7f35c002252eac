"""From journals to the landed table ``llm_calls``, without losing or doubling an attempt."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from annotate.calls.index import CallIndex
from annotate.calls.journal import SUFFIX, Journal, JournalReader, lock_abandoned
from annotate.calls.record import TABLE, decode, to_table
from warehouse.landing import Appended, Landing

_DAMAGED = ".damaged"


@dataclass(frozen=True)
class Recovered:
    """What was found in the journal of a process that died.

    Attributes
    ----------
    rows
        Attempts landed from it (attempts that had landed before the kill are not landed twice).
    torn_bytes
        Bytes of an unfinished record at its end, left out.
    damaged
        Records inside with a wrong checksum; the file is kept with the suffix ``.damaged``.
    """

    path: Path
    rows: int
    torn_bytes: int
    damaged: int

    def __str__(self) -> str:
        text = f"{self.path.name}: {self.rows} attempts of a stopped job landed"
        if self.torn_bytes:
            text += f", {self.torn_bytes} bytes of an unfinished record left out"
        if self.damaged:
            text += f", {self.damaged} damaged records left out (file kept as {self.path.name}{_DAMAGED})"
        return text


def journal_folder(landing: Landing) -> Path:
    """Return the folder of the journals; it lies in the landing folder, which nothing but a purge empties."""
    return landing.root / "journal"


def compact(landing: Landing, journal: Journal, job_id: str) -> Appended:
    """Land the records of a sealed journal of this process, in their order, and leave the file.

    The caller removes the journal afterwards: a kill in between leaves records in both, which the next
    recovery notices by (call_id, attempt), and reading by that key would treat as one anyway.
    """
    reader = JournalReader(journal.path)
    return landing.append(TABLE, to_table(payload for _, payload in reader), job_id)


def recover(landing: Landing, index: CallIndex, job_id: str, report: Callable[[Recovered], None]) -> list[Recovered]:
    """Land what dead processes left in their journals; journals of living ones are let alone.

    `index` must hold everything landed; it is refreshed when something new has landed.
    """
    found = []
    for path in sorted(journal_folder(landing).glob(f"*{SUFFIX}")):
        descriptor = lock_abandoned(path)
        if descriptor is None:
            continue
        try:
            recovered = _recover(landing, index, path, job_id)
        finally:
            os.close(descriptor)
        found.append(recovered)
        if recovered.rows or recovered.torn_bytes or recovered.damaged:
            report(recovered)
    if any(recovered.rows for recovered in found):
        index.refresh(landing)
    return found


def _recover(landing: Landing, index: CallIndex, path: Path, job_id: str) -> Recovered:
    reader = JournalReader(path)

    def unknown() -> Iterator[bytes]:
        for _, payload in reader:
            row = decode(payload)
            if not index.holds(row["call_id"], row["attempt"]):
                yield payload

    rows = landing.append(TABLE, to_table(unknown()), job_id).rows
    if reader.damaged:
        path.rename(path.with_name(path.name + _DAMAGED))
    else:
        path.unlink()
    return Recovered(path, rows, reader.torn_bytes, reader.damaged)
