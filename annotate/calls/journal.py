"""An append-only journal of records, each with its length and checksum, synced in groups.

Layout of a file: 8 bytes of magic, then for each record its length and the CRC-32 of (length, payload), both
little-endian unsigned 32-bit, then the payload. A record is handed to the operating system before
:meth:`Journal.append` returns, so a killed process loses nothing it had appended; a thread syncs the file at
least once an interval, so a machine that loses power loses at most that interval.

A live journal is held by an advisory lock, which the kernel drops when its process dies: a journal that can
be locked belongs to nobody and may be recovered.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from warehouse.errors import SaberError

SUFFIX = ".journal"
_MAGIC = b"SABERJ01"
_HEAD = struct.Struct("<II")
_LENGTH = struct.Struct("<I")
_LONGEST = 1 << 30


class Journal:
    """A journal being written by this process.

    Parameters
    ----------
    folder
        Where the file is made; its name is random, since names must not repeat.
    sync_interval_s
        Longest time between an append and the sync that makes it durable, seconds.
    """

    def __init__(self, folder: Path, sync_interval_s: float = 1.0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self._descriptor = _create_locked(folder)
        self.records = 0
        self._interval = sync_interval_s
        self._written = self._synced = len(_MAGIC)
        self._failure: OSError | None = None
        self._sync_lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sync_often, name="journal-sync", daemon=True)
        self._thread.start()

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._written

    def append(self, payload: bytes) -> int:
        """Append one record and return its offset, by which :meth:`read` finds it.

        Raises
        ------
        SaberError
            When the disk takes no more; nothing of the record is kept then.
        """
        if self._failure:
            raise self._refusal(self._failure)
        offset = self._written
        length = _LENGTH.pack(len(payload))
        record = length + _LENGTH.pack(zlib.crc32(payload, zlib.crc32(length))) + payload
        try:
            done = os.write(self._descriptor, record)
            while done < len(record):
                done += os.write(self._descriptor, record[done:])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, offset)
            raise self._refusal(error) from error
        self._written += len(record)
        self.records += 1
        return offset

    def read(self, offset: int) -> bytes:
        """Return the payload of the record at `offset`."""
        length, _ = _HEAD.unpack(os.pread(self._descriptor, _HEAD.size, offset))
        return os.pread(self._descriptor, length, offset + _HEAD.size)

    def sync(self) -> None:
        """Make everything appended so far durable."""
        with self._sync_lock:
            written = self._written
            if written > self._synced:
                os.fdatasync(self._descriptor)
                self._synced = written

    def seal(self) -> None:
        """Sync and stop the syncing thread; the file stays readable and locked."""
        self._stop.set()
        self._thread.join()
        self.sync()

    def close(self) -> None:
        """Seal and release the file, so that another process may recover it; closing twice is harmless."""
        if self._descriptor < 0:
            return
        try:
            self.seal()
        finally:
            os.close(self._descriptor)
            self._descriptor = -1

    def remove(self) -> None:
        """Delete the file: its records have landed elsewhere."""
        self.path.unlink(missing_ok=True)
        self.close()

    def _sync_often(self) -> None:
        while not self._stop.wait(self._interval):
            try:
                self.sync()
            except OSError as error:
                self._failure = error  # the next append reports it: a sync that failed must stop the job
                return

    def _refusal(self, error: OSError) -> SaberError:
        return SaberError(
            f"The call journal {self.path} cannot be written: {error.strerror}. "
            "Free space or mend the disk and run the same command again; replies already landed are kept."
        )


class JournalReader:
    """Iterate over (offset, payload) of the intact records of a journal.

    After the iteration `torn_bytes` counts bytes of an unfinished record at the end (a kill in the middle of
    a write) and `damaged` counts records inside whose checksum is wrong while the next one is intact.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.torn_bytes = 0
        self.damaged = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        size = self.path.stat().st_size
        with self.path.open("rb") as handle:
            if handle.read(len(_MAGIC)) != _MAGIC:
                if size > len(_MAGIC):
                    raise SaberError(f"{self.path} is not a call journal. Move it out of that folder and run again.")
                self.torn_bytes = size
                return
            offset = len(_MAGIC)
            while offset < size:
                head = handle.read(_HEAD.size)
                payload = _payload(handle.read, head, size - offset)
                if payload is None:
                    skipped = _next_intact(self.path, offset, size)
                    if skipped is None:
                        self.torn_bytes = size - offset
                        return
                    self.damaged += 1
                    offset = skipped
                    handle.seek(offset)
                    continue
                yield offset, payload
                offset += _HEAD.size + len(payload)


def lock_abandoned(path: Path) -> int | None:
    """Lock the journal of a dead process and return the descriptor; None while its process lives.

    The caller closes the descriptor, after removing the file.
    """
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    if not _still_names(path, descriptor):
        os.close(descriptor)
        return None
    return descriptor


def _create_locked(folder: Path) -> tuple[Path, int]:
    while True:
        path = folder / f"{secrets.token_hex(8)}{SUFFIX}"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass  # a recovering process took the empty file between the two calls: make another
        else:
            # ... or had already removed it: what is written must have a name.
            if _still_names(path, descriptor):
                os.write(descriptor, _MAGIC)
                os.fsync(descriptor)
                _sync_folder(folder)
                return path, descriptor
        os.close(descriptor)


def _still_names(path: Path, descriptor: int) -> bool:
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False


def _payload(read: Callable[[int], bytes], head: bytes, left: int) -> bytes | None:
    """Return the payload that belongs to `head`, None when it is not whole and intact."""
    if len(head) < _HEAD.size:
        return None
    length, checksum = _HEAD.unpack(head)
    if length > min(_LONGEST, left - _HEAD.size):
        return None
    payload = read(length)
    if zlib.crc32(payload, zlib.crc32(head[: _LENGTH.size])) != checksum:
        return None
    return payload


def _next_intact(path: Path, offset: int, size: int) -> int | None:
    """Return the offset after a damaged record when its length still leads to an intact one."""
    with path.open("rb") as handle:
        handle.seek(offset)
        head = handle.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return None
        following = offset + _HEAD.size + _HEAD.unpack(head)[0]
        if following >= size:
            return None
        handle.seek(following)
        following_head = handle.read(_HEAD.size)
        return following if _payload(handle.read, following_head, size - following) is not None else None


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
