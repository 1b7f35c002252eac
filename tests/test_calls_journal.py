"""The journal: what was appended is read back, a torn tail is left out and counted."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.calls.journal import Journal, JournalReader, lock_abandoned
from warehouse.errors import SaberError


def read(path: Path) -> tuple[list[bytes], JournalReader]:
    reader = JournalReader(path)
    return [payload for _, payload in reader], reader


def written(folder: Path, payloads: list[bytes]) -> Path:
    journal = Journal(folder)
    for payload in payloads:
        journal.append(payload)
    journal.close()
    return journal.path


def test_the_bytes_on_disk_are_those_of_the_documented_layout(tmp_path):
    path = written(tmp_path, [b"ab"])
    length = (2).to_bytes(4, "little")
    assert path.read_bytes() == b"SABERJ01" + length + zlib.crc32(length + b"ab").to_bytes(4, "little") + b"ab"


def test_records_are_found_by_offset_while_the_journal_is_open(tmp_path):
    journal = Journal(tmp_path)
    offsets = [journal.append(payload) for payload in (b"one", b"", b"three" * 1000)]
    assert [journal.read(offset) for offset in offsets] == [b"one", b"", b"three" * 1000]
    assert journal.size == journal.path.stat().st_size
    journal.close()


@settings(max_examples=30, deadline=None)
@given(payloads=st.lists(st.binary(max_size=40), max_size=6), data=st.data())
def test_any_cut_leaves_exactly_the_whole_records_before_it(tmp_path_factory, payloads, data):
    path = written(tmp_path_factory.mktemp("j"), payloads)
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    ends = [8]
    for payload in payloads:
        ends.append(ends[-1] + 8 + len(payload))
    kept = sum(end <= cut for end in ends[1:])
    found, reader = read(path)
    assert found == payloads[:kept]
    assert reader.torn_bytes == (cut - ends[kept] if cut >= 8 else cut)
    assert reader.damaged == 0


def test_a_flipped_bit_inside_costs_one_record_and_is_counted(tmp_path):
    path = written(tmp_path, [b"first", b"second", b"third"])
    content = bytearray(path.read_bytes())
    content[content.index(b"second")] ^= 1
    path.write_bytes(content)
    found, reader = read(path)
    assert found == [b"first", b"third"]
    assert (reader.damaged, reader.torn_bytes) == (1, 0)


def test_a_foreign_file_is_named_and_refused(tmp_path):
    path = tmp_path / "x.journal"
    path.write_bytes(b"something else altogether")
    with pytest.raises(SaberError, match=r"x\.journal is not a call journal"):
        read(path)


def test_a_journal_is_abandoned_only_when_its_process_has_let_go(tmp_path):
    journal = Journal(tmp_path)
    journal.append(b"x")
    assert lock_abandoned(journal.path) is None
    journal.close()
    descriptor = lock_abandoned(journal.path)
    assert descriptor is not None
    os.close(descriptor)
    assert lock_abandoned(tmp_path / "gone.journal") is None


def test_the_syncing_thread_makes_appends_durable_by_itself(tmp_path, monkeypatch):
    synced = []
    real = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: (synced.append(1), real(descriptor))[1])
    journal = Journal(tmp_path, sync_interval_s=0.01)
    journal.append(b"x")
    while not synced:
        time.sleep(0.005)
    journal.close()
    assert len(synced) == 1  # nothing new at the close


def test_a_full_disk_leaves_no_half_record_and_says_what_to_do(tmp_path, monkeypatch):
    journal = Journal(tmp_path)
    journal.append(b"kept")
    real = os.write

    def half(descriptor, content):
        if b"lost" not in content:
            return real(descriptor, content)
        real(descriptor, content[:5])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(SaberError, match="No space left"):
        journal.append(b"lost")
    journal.append(b"later")
    journal.close()
    found, reader = read(journal.path)
    assert found == [b"kept", b"later"]
    assert reader.torn_bytes == 0


def test_a_failed_sync_stops_the_next_append(tmp_path, monkeypatch):
    failed = []

    def refuse(descriptor):
        failed.append(descriptor)
        raise OSError(5, "Input/output error")

    journal = Journal(tmp_path, sync_interval_s=0.01)
    journal.append(b"x")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", refuse)
        while not failed:
            time.sleep(0.005)
        journal._thread.join()
    with pytest.raises(SaberError, match="Input/output error"):
        journal.append(b"y")
    journal.close()


_CHILD = """
import sys
from pathlib import Path
from annotate.calls.journal import Journal
journal = Journal(Path(sys.argv[1]))
number = 0
while True:
    journal.append(b"%d" % number)
    print(number, flush=True)
    number += 1
"""


def test_after_kill_9_every_appended_record_is_there(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", _CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    seen = -1
    while seen < 200:
        seen = int(child.stdout.readline())
    child.kill()
    rest = child.stdout.read().split("\n")
    child.wait()
    announced = [int(line) for line in rest[:-1] if line]
    last = announced[-1] if announced else seen
    (path,) = tmp_path.glob("*.journal")
    found, _ = read(path)
    assert found[: last + 1] == [b"%d" % number for number in range(last + 1)]
    assert len(found) - (last + 1) in (0, 1)
    descriptor = lock_abandoned(path)
    assert descriptor is not None
    os.close(descriptor)
