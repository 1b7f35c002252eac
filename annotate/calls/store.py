"""Where a job's attempts live: the journal being written, the landed files, and the index over both."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from annotate.calls.compaction import compact, journal_folder, recover
from annotate.calls.index import CallIndex, History, Place, read_keys
from annotate.calls.journal import Journal
from annotate.calls.policy import Policy
from annotate.calls.replies import LandedReplies
from annotate.providers.base import Reply
from warehouse.errors import SaberError
from warehouse.landing import Landing


class CallStore:
    """Attempts by call id, durable within a second, compacted as they grow."""

    def __init__(self, landing: Landing, job_id: str, policy: Policy, report: Callable[[str], None]) -> None:
        self._landing = landing
        self._job_id = job_id
        self._policy = policy
        self._report = report
        self._index = CallIndex()
        self._replies = LandedReplies()
        self._journal: Journal | None = None
        self._full: list[Journal] = []
        self._compacting: asyncio.Task[None] | None = None
        # Always the same thread: each one keeps the memory it has freed, so memory would grow with their number.
        self._compactor = ThreadPoolExecutor(1, thread_name_prefix="compaction")
        self._files = asyncio.Lock()  # held by whoever reads or replaces files
        self._wanted: list[tuple[str, bool, asyncio.Future[Reply]]] = []
        self._fetching: asyncio.Task[None] | None = None
        self._locks: dict[tuple[str, ...], int] = {}

    async def open(self) -> None:
        """Load the index and land what processes that died left in their journals."""
        await asyncio.to_thread(self._open)

    async def enter(self, *work: str) -> None:
        """Claim a kind of work (endpoint, model, purpose) for this process.

        Two processes that ask the same server for the same would both pay for every call.

        Raises
        ------
        SaberError
            When another process is at it.
        """
        if work in self._locks:
            return
        async with self._files:
            if work not in self._locks:
                name = hashlib.sha256(repr(work).encode()).hexdigest()[:16]
                descriptor = _lock(journal_folder(self._landing) / f"{name}.lock", work)
                # What the last holder landed after this process had loaded the index must be seen.
                await asyncio.to_thread(self._index.refresh, self._landing)
                self._locks[work] = descriptor

    def history(self, call_id: str) -> History:
        """Return what is known of a call."""
        return self._index.history(call_id)

    def holds(self, call_id: str, attempt: int) -> bool:
        """Say whether this attempt is known."""
        return self._index.holds(call_id, attempt)

    def record(self, call_id: str, attempt: int, error: str | None, payload: bytes) -> None:
        """Keep one attempt: it survives a kill from here on.

        Raises
        ------
        SaberError
            When the disk takes no more, or a compaction in the background has failed.
        """
        if self._journal is None:
            self._journal = Journal(journal_folder(self._landing), self._policy.sync_interval_s)
        offset = self._journal.append(payload)
        self._index.add(call_id, attempt, error, Place(self._journal, offset))
        full = self._journal.size >= self._policy.journal_bytes
        if full or self._journal.records >= self._policy.journal_records:
            self._start_compaction()
        if self._compacting is not None and self._compacting.done():
            self._compacting.result()

    async def fetch(self, call_id: str, good: bool) -> Reply:
        """Return the usable reply of a call, or its last failure; calls wanted together are read together."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._wanted.append((call_id, good, future))
        if self._fetching is None or self._fetching.done():
            self._fetching = asyncio.create_task(self._fetch_wanted())
        return await future

    async def sync(self) -> None:
        """Make every attempt recorded so far durable; await it before landing what was derived from them."""
        for journal in [*self._full, self._journal]:
            if journal is not None:
                await asyncio.to_thread(journal.sync)

    async def close(self) -> None:
        """Compact what is journalled and let other processes at the work."""
        try:
            if self._compacting is not None and not self._compacting.done():
                await self._compacting
            self._start_compaction()
            if self._compacting is not None:
                await self._compacting
        finally:
            for journal in [*self._full, self._journal]:
                if journal is not None:
                    journal.close()
            for descriptor in self._locks.values():
                os.close(descriptor)
            self._locks.clear()
            self._journal, self._full = None, []

    def _open(self) -> None:
        self._index.refresh(self._landing)
        recover(self._landing, self._index, self._job_id, lambda found: self._report(str(found)))

    def _start_compaction(self) -> None:
        if self._journal is not None:
            self._full.append(self._journal)
            self._journal = None
        if self._full and (self._compacting is None or self._compacting.done()):
            self._compacting = asyncio.create_task(self._compact_full())

    async def _compact_full(self) -> None:
        loop = asyncio.get_running_loop()
        while self._full:
            journal = self._full[0]
            try:
                await loop.run_in_executor(self._compactor, journal.seal)
                appended = await loop.run_in_executor(self._compactor, compact, self._landing, journal, self._job_id)
            except OSError as error:
                raise SaberError(
                    f"Replies cannot be landed in {self._landing.folder('llm_calls')}: {error.strerror or error}. "
                    f"They are safe in {journal.path}: free space and run the same command again."
                ) from error
            if appended.path is not None:
                keys = await loop.run_in_executor(self._compactor, read_keys, appended.path)
                async with self._files:
                    self._index.landed(appended.path, keys, journal)
                    journal.remove()
            else:
                journal.remove()
            self._full.pop(0)

    async def _fetch_wanted(self) -> None:
        await asyncio.sleep(0)  # the requests of one window all arrive before the first read
        while self._wanted:
            batch, self._wanted = self._wanted, []
            try:
                async with self._files:
                    replies = await self._read(batch)
            except BaseException as error:
                for _, _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                if not isinstance(error, Exception):
                    raise
                continue
            for (_, _, future), reply in zip(batch, replies, strict=True):
                if not future.done():
                    future.set_result(reply)

    async def _read(self, batch: list[tuple[str, bool, asyncio.Future[Reply]]]) -> list[Reply]:
        for last_try in (False, True):
            places = [self._place(call_id, good) for call_id, good, _ in batch]
            try:
                return await asyncio.to_thread(self._replies.fetch, places)
            except FileNotFoundError:
                if last_try:
                    raise
                # Compacted by another process: the rows are there, in another file.
                await asyncio.to_thread(self._index.refresh, self._landing)
        raise AssertionError

    def _place(self, call_id: str, good: bool) -> Place:
        history = self._index.history(call_id)
        place = history.good if good else history.failed
        if place is None:
            raise SaberError(
                f"The landed reply of call {call_id} is gone from {self._landing.folder('llm_calls')}. "
                "Something removed landed files while the job ran: run the same command again."
            )
        return place


def _lock(path: Path, work: tuple[str, ...]) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise SaberError(
            f"Another saber process is already asking {' / '.join(work)}. Wait for it or stop it."
        ) from None
    return descriptor
