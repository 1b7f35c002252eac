"""What the log already holds of each call: loaded once, 33 bytes an attempt, looked up by bisection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from annotate.calls.journal import Journal
from annotate.calls.record import TABLE
from annotate.providers.failures import Fault, fault
from warehouse.landing import Landing

_DIGITS = 32


class Place(NamedTuple):
    """Where an attempt's row is: (file, row number) of a landed file or (journal, offset)."""

    source: Path | Journal
    position: int


@dataclass(frozen=True)
class History:
    """What happened to one call so far.

    Attributes
    ----------
    attempts
        Largest attempt number, 0 when the call is unknown.
    good
        Where its usable reply is.
    failed
        Where its last failure is.
    reply_faults
        Attempts whose reply failed.
    hopeless
        Whether an attempt failed by the request's own fault.
    """

    attempts: int = 0
    good: Place | None = None
    failed: Place | None = None
    reply_faults: int = 0
    hopeless: bool = False


class _Attempt(NamedTuple):
    attempt: int
    fault: int
    place: Place


class CallIndex:
    """Attempts by call id: sorted arrays for what has landed, a dict for what is still in a journal.

    The arrays are replaced as one object, so a thread may refresh them while another looks calls up.
    """

    def __init__(self) -> None:
        self._fresh: dict[str, list[_Attempt]] = {}
        self._landed = _NOTHING

    def __len__(self) -> int:
        return len(self._landed.keys.high) + sum(len(attempts) for attempts in self._fresh.values())

    def refresh(self, landing: Landing) -> None:
        """Load the landed files not yet known; start over when known ones are gone (compacted elsewhere)."""
        paths = [file.path for file in landing.files(TABLE) if file.rows]
        if not set(self._landed.files) <= set(paths):
            self._landed = _NOTHING
        new = [path for path in paths if path not in self._landed.files]
        self._landed = self._landed.with_files([(path, keys) for path in new for keys in read_keys(path)])

    def add(self, call_id: str, attempt: int, error: str | None, place: Place) -> None:
        """Note one attempt just journalled."""
        self._fresh.setdefault(call_id, []).append(_Attempt(attempt, int(fault(error)), place))

    def landed(self, path: Path, keys: Sequence[Keys], journal: Journal) -> None:
        """Note that the records of `journal` are now the file `path` with these keys."""
        if path not in self._landed.files:
            self._landed = self._landed.with_files([(path, part) for part in keys])
        for call_id in [*self._fresh]:
            left = [a for a in self._fresh[call_id] if a.place.source is not journal]
            if left:
                self._fresh[call_id] = left
            else:
                del self._fresh[call_id]

    def holds(self, call_id: str, attempt: int) -> bool:
        """Say whether this attempt is known."""
        return any(known.attempt == attempt for known in self._attempts(call_id))

    def history(self, call_id: str) -> History:
        """Return what is known of a call."""
        attempts = self._attempts(call_id)
        if not attempts:
            return History()
        good = failed = None
        for known in sorted(attempts, key=lambda a: a.attempt):
            if known.fault == Fault.NONE:
                good = known.place
            else:
                failed = known.place
        by_attempt = {known.attempt: known.fault for known in attempts}  # a row may have landed twice
        return History(
            attempts=max(by_attempt),
            good=good,
            failed=failed,
            reply_faults=sum(code == Fault.REPLY for code in by_attempt.values()),
            hopeless=Fault.REQUEST in by_attempt.values(),
        )

    def _attempts(self, call_id: str) -> list[_Attempt]:
        return [*self._landed.find(call_id), *self._fresh.get(call_id, ())]


class Keys(NamedTuple):
    """Keys and faults of some landed rows, as parallel arrays; a call id is two halves of 64 bits."""

    high: np.ndarray
    low: np.ndarray
    attempt: np.ndarray
    fault: np.ndarray
    row: np.ndarray


@dataclass(frozen=True)
class _Landed:
    """The keys of all landed rows, sorted by call id; `file` numbers the entries of `files`."""

    keys: Keys
    file: np.ndarray
    files: tuple[Path, ...]

    def with_files(self, parts: Sequence[tuple[Path, Keys]]) -> _Landed:
        """Return these keys and those of further files."""
        if not parts:
            return self
        files = [*self.files]
        numbers = []
        for path, keys in parts:
            if not files or files[-1] != path:
                files.append(path)
            numbers.append(np.full(len(keys.high), len(files) - 1, np.int32))
        joined = [np.concatenate(columns) for columns in zip(self.keys, *(k for _, k in parts), strict=True)]
        order = np.lexsort((joined[1], joined[0]))
        return _Landed(
            Keys(*(column[order] for column in joined)),
            np.concatenate([self.file, *numbers])[order],
            tuple(files),
        )

    def find(self, call_id: str) -> Iterator[_Attempt]:
        """Yield the attempts at a call."""
        high, low = np.uint64(int(call_id[:16], 16)), np.uint64(int(call_id[16:], 16))
        keys = self.keys
        at = int(np.searchsorted(keys.high, high))
        while at < len(keys.high) and keys.high[at] == high:
            if keys.low[at] == low:
                place = Place(self.files[self.file[at]], int(keys.row[at]))
                yield _Attempt(int(keys.attempt[at]), int(keys.fault[at]), place)
            at += 1


_NOTHING = _Landed(
    Keys(
        np.empty(0, np.uint64),
        np.empty(0, np.uint64),
        np.empty(0, np.int32),
        np.empty(0, np.int8),
        np.empty(0, np.int64),
    ),
    np.empty(0, np.int32),
    (),
)


def read_keys(path: Path) -> list[Keys]:
    """Read the keys and faults of a landed file, a bounded number of rows at a time."""
    return list(_read_keys(path))


def _read_keys(path: Path) -> Iterator[Keys]:
    first = 0
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=65_536, columns=["call_id", "attempt", "error"]):
            table = pa.table(batch)
            ids = table["call_id"].to_pylist()
            usable = np.array([_is_call_id(text) for text in ids], bool)
            digits = bytes.fromhex("".join(text for text, good in zip(ids, usable, strict=True) if good))
            halves = np.frombuffer(digits, dtype=">u8").reshape(-1, 2).astype(np.uint64)
            kinds = table["error"].combine_chunks().dictionary_encode()
            codes = np.array([int(fault(kind)) for kind in kinds.dictionary.to_pylist()] or [0], np.int8)
            # NULL has no entry in the dictionary: no error.
            indices = kinds.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            faults = np.where(indices >= 0, codes[np.maximum(indices, 0)], np.int8(Fault.NONE)).astype(np.int8)
            yield Keys(
                halves[:, 0],
                halves[:, 1],
                table["attempt"].to_numpy().astype(np.int32)[usable],
                faults[usable],
                np.arange(first, first + table.num_rows, dtype=np.int64)[usable],
            )
            first += table.num_rows


def _is_call_id(text: str | None) -> bool:
    # Imported annotations may bring calls of their own naming; they are never asked for by this identity.
    return text is not None and len(text) == _DIGITS and not text.strip("0123456789abcdef")
