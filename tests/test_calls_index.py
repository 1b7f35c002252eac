"""From journal to landed rows and back: nothing lost, nothing doubled, every reply found again."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.calls import record
from annotate.calls.compaction import compact, journal_folder, recover
from annotate.calls.index import CallIndex, Place, read_keys
from annotate.calls.journal import Journal
from annotate.calls.replies import LandedReplies
from annotate.providers.base import Reply, Request
from annotate.providers.failures import Fault, fault
from warehouse.landing import Landing

REQUEST = Request("topics", "topics@1", ({"role": "user", "content": "x"},), about={"problem_id": "p"})
HARD_TEXT = 'β \x00 \x0c \t "q" {{x}} \\frac \U0001d400 \u2028\r\n'


def identity(number: int) -> str:
    return f"{number:032x}"


def payload(call: int, attempt: int, text: str | None = "t", error: str | None = None, **more) -> bytes:
    reply = Reply(text, "stop", "served", None, 3, 4, 0.5, error, **more)
    return record.encode(identity(call), attempt, "profile:a", "m", {"seed": 1}, REQUEST, reply)


@pytest.fixture
def landing(tmp_path) -> Landing:
    return Landing(tmp_path)


def test_an_attempt_lands_column_by_column_as_given(landing):
    journal = Journal(journal_folder(landing))
    journal.append(payload(1, 2, HARD_TEXT, recorded={"structured_output": "json_schema"}))
    journal.append(payload(2, 1, None, "http_500", detail="oops"))
    journal.seal()
    compact(landing, journal, "job-1")
    journal.remove()
    first, second = landing.read("llm_calls").to_pylist()
    assert first == {
        "call_id": identity(1),
        "attempt": 2,
        "purpose": "topics",
        "endpoint": "profile:a",
        "model": "m",
        "served_model": "served",
        "fingerprint": None,
        "params": '{"seed":1,"structured_output":"json_schema"}',
        "prompt_version": "topics@1",
        "request": '{"about":{"problem_id":"p"},"messages":[{"content":"x","role":"user"}],"sample":0}',
        "reply": HARD_TEXT,
        "finish_reason": "stop",
        "tokens_in": 3,
        "tokens_out": 4,
        "latency_s": 0.5,
        "error": None,
        "job_id": "job-1",
        "sequence": 1,
        "schema_version": first["schema_version"],
    }
    assert (second["reply"], second["error"]) == ("oops", "http_500")


def test_a_lone_surrogate_lands_as_an_escape_instead_of_breaking_the_compaction(landing):
    journal = Journal(journal_folder(landing))
    journal.append(payload(1, 1, "a\ud835b"))
    journal.close()
    compact(landing, journal, "job")
    assert landing.read("llm_calls")["reply"].to_pylist() == ["a\\ud835b"]


def test_records_longer_than_the_reader_s_block_land(landing):
    journal = Journal(journal_folder(landing))
    journal.append(payload(1, 1, "y" * 3_000_000))
    journal.append(payload(2, 1, "z"))
    journal.close()
    compact(landing, journal, "job")
    assert [len(text) for text in landing.read("llm_calls")["reply"].to_pylist()] == [3_000_000, 1]


def test_a_kill_between_landing_and_removal_lands_nothing_twice(landing):
    journal = Journal(journal_folder(landing))
    for call in range(3):
        journal.append(payload(call, 1))
    journal.seal()
    compact(landing, journal, "killed")
    journal.append(payload(3, 1))
    journal.close()  # killed here: the journal is still there, with one record more
    index, reports = CallIndex(), []
    index.refresh(landing)
    (found,) = recover(landing, index, "next", reports.append)
    assert (found.rows, reports) == (1, [found])
    every = landing.read("llm_calls", latest=False)
    assert every["call_id"].to_pylist() == [identity(call) for call in range(4)]
    assert list(journal_folder(landing).iterdir()) == []
    assert all(index.holds(identity(call), 1) for call in range(4))


def test_a_kill_in_the_middle_of_compaction_leaves_no_half_file(landing, monkeypatch):
    journal = Journal(journal_folder(landing))
    journal.append(payload(1, 1))
    journal.seal()
    # Dying before the rename leaves the temporary file behind, as a kill would.
    monkeypatch.setattr("pathlib.Path.rename", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    monkeypatch.setattr("pathlib.Path.unlink", lambda *_, **__: None)
    with pytest.raises(KeyboardInterrupt):
        compact(landing, journal, "killed")
    monkeypatch.undo()
    journal.close()
    assert landing.read("llm_calls").num_rows == 0
    index = CallIndex()
    index.refresh(landing)
    recover(landing, index, "next", lambda _: None)
    assert landing.read("llm_calls")["call_id"].to_pylist() == [identity(1)]


def test_a_torn_tail_and_a_damaged_record_are_reported_and_the_damaged_file_kept(landing):
    journal = Journal(journal_folder(landing))
    offsets = [journal.append(payload(call, 1)) for call in range(4)]
    journal.close()
    content = bytearray(journal.path.read_bytes())
    content[offsets[1] + 20] ^= 1
    journal.path.write_bytes(content[:-5])
    reports = []
    recover(landing, CallIndex(), "next", reports.append)
    (report,) = reports
    assert (report.rows, report.damaged) == (2, 1)
    assert report.torn_bytes == len(content) - 5 - offsets[3]
    assert "unfinished" in str(report)
    assert "damaged" in str(report)
    assert landing.read("llm_calls")["call_id"].to_pylist() == [identity(0), identity(2)]
    (kept,) = journal_folder(landing).iterdir()
    assert kept.name.endswith(".journal.damaged")


def test_the_journal_of_a_living_process_is_let_alone(landing):
    journal = Journal(journal_folder(landing))
    journal.append(payload(1, 1))
    assert recover(landing, CallIndex(), "other", lambda _: None) == []
    assert journal.path.exists()
    journal.close()


KINDS = [None, "http_500", "length", "context_exceeded", "invalid_json", "http_401"]


@settings(max_examples=20, deadline=None)
@given(
    batches=st.lists(
        st.lists(st.tuples(st.integers(0, 5), st.sampled_from(KINDS)), min_size=1, max_size=6), max_size=4
    ),
    still_journalled=st.booleans(),
)
def test_histories_equal_those_of_a_plain_scan(tmp_path_factory, batches, still_journalled):
    landing = Landing(tmp_path_factory.mktemp("home"))
    index, expected, journals = CallIndex(), defaultdict(list), []
    for batch in batches:
        journal = Journal(journal_folder(landing))
        journals.append(journal)
        for call, error in batch:
            # Ids that differ in the low half only must be told apart.
            name = identity(call) if call % 2 else identity(call << 64)
            attempt = len(expected[name]) + 1
            reply = Reply(f"{call}/{attempt}", None, None, None, None, None, 0.0, error)
            line = record.encode(name, attempt, "e", "m", {}, REQUEST, reply)
            place = journal.append(line)
            index.add(name, attempt, error, Place(journal, place))
            expected[name].append((f"{call}/{attempt}", error))
        if not (still_journalled and batch is batches[-1]):
            journal.seal()
            path = compact(landing, journal, "job").path
            index.landed(path, read_keys(path), journal)
            journal.remove()
    loaded = CallIndex()
    loaded.refresh(landing)
    indexes = [index] if still_journalled else [index, loaded]
    for known in indexes:
        for name, attempts in expected.items():
            history = known.history(name)
            assert history.attempts == len(attempts)
            assert history.reply_faults == sum(fault(kind) is Fault.REPLY for _, kind in attempts)
            assert history.hopeless == any(fault(kind) is Fault.REQUEST for _, kind in attempts)
            good = [text for text, kind in attempts if kind is None]
            bad = [text for text, kind in attempts if kind is not None]
            places = [place for place in (history.good, history.failed) if place is not None]
            texts = [reply.text for reply in LandedReplies().fetch(places)]
            assert texts == [*good[-1:], *bad[-1:]]
        assert known.history(identity(99)).attempts == 0
        assert len(known) == sum(map(len, expected.values()))
    for journal in journals:
        journal.close()


@pytest.mark.parametrize("kept_bytes", [0, 64 << 20])
def test_replies_are_fetched_in_the_order_asked_for(landing, monkeypatch, kept_bytes):
    monkeypatch.setattr("annotate.calls.replies._KEPT_GROUPS", 2)
    monkeypatch.setattr("annotate.calls.replies._KEPT_BYTES", kept_bytes)
    monkeypatch.setattr("annotate.calls.replies._BATCH_ROWS", 7)
    monkeypatch.setattr("warehouse.landing._ROWS_PER_GROUP", 10)
    for first in (0, 25):
        landing.append("llm_calls", record.to_table(payload(n, 1, str(n)) for n in range(first, first + 25)), "j")
    index = CallIndex()
    index.refresh(landing)
    wanted = [49, 0, 24, 25, 9, 10, 0, 33]
    places = [index.history(identity(number)).good for number in wanted]
    replies = LandedReplies()
    for _ in range(2):
        assert [reply.text for reply in replies.fetch(places)] == [str(number) for number in wanted]


def test_a_compaction_by_another_process_is_noticed(landing):
    for call in range(2):
        landing.append("llm_calls", record.to_table([payload(call, 1, str(call))]), "j")
    index = CallIndex()
    index.refresh(landing)
    place = index.history(identity(1)).good
    landing.compact("llm_calls")
    with pytest.raises(FileNotFoundError):
        LandedReplies().fetch([place])
    index.refresh(landing)
    assert LandedReplies().fetch([index.history(identity(1)).good])[0].text == "1"


def test_rows_with_foreign_call_ids_are_passed_over(landing):
    row = json.loads(payload(1, 1))
    landing.append("llm_calls", [{**row, "call_id": "imported-7"}, row, {**row, "call_id": None}], "import")
    index = CallIndex()
    index.refresh(landing)
    assert len(index) == 1
    assert LandedReplies().fetch([index.history(identity(1)).good])[0].text == "t"


def test_an_empty_landing_is_an_empty_index(landing):
    index = CallIndex()
    index.refresh(landing)
    landing.prepare()
    index.refresh(landing)
    assert (len(index), index.history(identity(1)).attempts) == (0, 0)
