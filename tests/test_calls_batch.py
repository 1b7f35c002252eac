"""Batch files against a scripted service: nothing is asked twice, everything that comes back is a row."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace

import pytest
from servers.batches import Service
from servers.chat import ChatServer, completion, status

from annotate.calls import CallLog, batch, structured
from annotate.calls.batch import BatchWriter, batches, write_batch
from annotate.calls.batch_service import collect_batches, submit_batches
from annotate.calls.batch_steps import batch_step
from annotate.providers.base import Request
from annotate.providers.profile import read_profile
from annotate.providers.server import ServerProvider
from warehouse.errors import SaberError
from warehouse.landing import Landing

SCHEMA = {"type": "object", "properties": {"score": {"type": "number", "maximum": 9}}, "required": ["score"]}
KEY = "k3y-VERY-secret-0123456789"


@pytest.fixture
def landing(tmp_path) -> Landing:
    return Landing(tmp_path)


@pytest.fixture
def service():
    scripted = Service()
    with ChatServer(scripted) as server:
        scripted.url = server.url
        yield scripted


def provider(service: Service, **table) -> ServerProvider:
    given = {"urls": [service.url], "model": "m", "backoff_s": 0.001, "structured_output": "json_schema", **table}
    return ServerProvider(read_profile("p", given))


def ask(number: int) -> Request:
    about = {"problem_id": f"p{number}"}
    return Request("judge", "judge@1", ({"role": "user", "content": f"{number} \u2028"},), schema=SCHEMA, about=about)


def collect(landing, asked, **options):
    return asyncio.run(collect_batches(landing, asked, "job", **options))


def test_written_submitted_collected_and_answered_from_the_log(landing, service):
    requests = [ask(number) for number in range(5)]
    written = write_batch(landing, provider(service), [*requests, ask(0)])
    assert written is not None
    assert [part.requests for part in written.parts] == [5]
    asyncio.run(submit_batches(landing, provider(service)))
    (lines,) = service.uploads
    assert lines[3]["method"] == "POST"
    assert lines[3]["url"] == "/v1/chat/completions"
    assert lines[3]["body"]["messages"] == [{"role": "user", "content": "3 \u2028"}]
    assert lines[3]["body"]["response_format"]["json_schema"]["schema"] == SCHEMA
    assert lines[3]["body"]["max_tokens"] == 50_000
    found = collect(landing, provider(service))
    assert (found.good, found.failures, found.waiting) == (5, {}, 0)

    async def job():
        log = CallLog(landing, provider(service), "job")
        return {position: reply.text async for position, _, reply in log.run(requests)}

    assert asyncio.run(job()) == dict.fromkeys(range(5), '{"score": 7}')
    assert service.chat == 0
    rows = landing.read("llm_calls", latest=False).to_pylist()
    assert len(rows) == 5
    assert json.loads(rows[0]["params"]) == {
        "batch": written.name,
        "max_tokens": 50_000,
        "structured_output": "json_schema",
    }
    assert {json.loads(row["request"])["about"]["problem_id"] for row in rows} == {f"p{n}" for n in range(5)}
    assert {row["latency_s"] for row in rows} == {None}


def test_what_a_job_would_ask_is_told_by_running_it_without_sending(landing, service):
    writer = BatchWriter(landing, provider(service))

    async def job():
        async with CallLog(landing, provider(service), "job", send=False, on_missing=writer.add) as log:
            await log.ask(ask(1))

    asyncio.run(job())
    written = writer.close()
    assert written is not None
    assert [asked.request.about for asked in written.requests(written.parts[0])] == [ask(1).about]
    assert service.chat == 0


def test_calls_in_an_open_batch_or_in_the_log_are_not_written_again(landing, service):
    asked = provider(service)
    assert write_batch(landing, asked, [ask(1)]) is not None
    assert write_batch(landing, asked, [ask(1)]) is None
    second = write_batch(landing, asked, [ask(1), ask(2)])
    assert second is not None
    assert [part.requests for part in second.parts] == [1]
    asyncio.run(submit_batches(landing, asked))
    collect(landing, provider(service))
    assert write_batch(landing, provider(service), [ask(1), ask(2)]) is None
    other = provider(service, model="other")
    assert write_batch(landing, other, [ask(1)]) is not None  # another model's calls are other calls


def test_submitting_twice_starts_once(landing, service):
    write_batch(landing, provider(service), [ask(1)])
    assert len(asyncio.run(submit_batches(landing, provider(service)))) == 1
    assert asyncio.run(submit_batches(landing, provider(service))) == []
    assert len(service.batches) == 1


def test_a_kill_after_the_start_of_a_file_does_not_start_it_again(landing, service, monkeypatch):
    write_batch(landing, provider(service), [ask(1)])
    real, saved = batch.Batch.save, []

    def dies(self):
        saved.append(1)
        if len(saved) == 2:
            raise KeyboardInterrupt
        real(self)

    with monkeypatch.context() as patch:
        patch.setattr(batch.Batch, "save", dies)
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(submit_batches(landing, provider(service)))
    assert [part.state for part in batches(landing, provider(service))[0].parts] == ["submitting"]
    asyncio.run(submit_batches(landing, provider(service)))
    assert len(service.batches) == 1
    assert collect(landing, provider(service)).good == 1


def test_files_keep_to_the_limits_of_the_service(landing, service, monkeypatch):
    monkeypatch.setattr(batch, "_MOST_REQUESTS", 3)
    written = write_batch(landing, provider(service), [ask(number) for number in range(7)])
    assert written is not None
    assert [part.requests for part in written.parts] == [3, 3, 1]
    monkeypatch.setattr(batch, "_MOST_BYTES", 500)
    written = write_batch(landing, provider(service), [ask(number) for number in range(7, 10)])
    assert written is not None
    assert [part.requests for part in written.parts] == [1, 1, 1]
    asyncio.run(submit_batches(landing, provider(service)))
    assert collect(landing, provider(service)).good == 10


def test_running_batches_are_counted_and_left(landing, service):
    service.status = "in_progress"
    write_batch(landing, provider(service), [ask(1), ask(2)])
    asyncio.run(submit_batches(landing, provider(service)))
    assert collect(landing, provider(service)).waiting == 2
    service.status = "completed"
    assert collect(landing, provider(service)).good == 2
    assert collect(landing, provider(service)).good == 0


def test_every_way_of_failing_is_a_row_and_is_written_again(landing, service):
    body = {
        0: lambda name: {"custom_id": name, "response": {"status_code": 200, "body": completion('{"score": 99}')}},
        1: lambda name: {"custom_id": name, "response": {"status_code": 500, "body": {"error": {"message": KEY}}}},
        2: lambda name: {"custom_id": name, "response": None, "error": {"code": "batch_expired", "message": "late"}},
        3: lambda name: None,
        4: lambda name: {"custom_id": "nobody-1", "response": None},
        5: lambda name: {"custom_id": name, "response": {"status_code": 200, "body": completion("x", choices=[])}},
        6: lambda name: {"custom_id": name, "response": {"status_code": 200, "body": completion('{"score": 7}')}},
    }
    service.answer = lambda asked: body[int(asked["body"]["messages"][0]["content"].split()[0])](asked["custom_id"])
    write_batch(landing, provider(service), [ask(number) for number in range(7)])
    asyncio.run(submit_batches(landing, provider(service)))
    found = collect(landing, provider(service))
    kinds = {
        "out_of_range": 1,
        "http_500": 1,
        "batch_expired": 1,
        "batch_completed": 2,  # finished without a word about two of them
        "empty_choices": 1,
    }
    assert (found.good, found.failures, found.unknown) == (1, kinds, 1)
    rows = landing.read("llm_calls", latest=False).to_pylist()
    assert Counter(row["error"] for row in rows) == Counter({**kinds, None: 1})
    service.answer = Service().answer
    again = write_batch(landing, provider(service), [ask(number) for number in range(7)])
    assert again is not None
    assert again.parts[0].requests == 6
    asyncio.run(submit_batches(landing, provider(service)))
    assert collect(landing, provider(service)).good == 6
    assert {row["attempt"] for row in landing.read("llm_calls", latest=False).to_pylist()} == {1, 2}


def test_a_file_the_service_refused_fails_all_its_calls(landing, service):
    service.status, service.errors = "failed", {"object": "list", "data": [{"code": "bad", "message": "line 1"}]}
    write_batch(landing, provider(service), [ask(1), ask(2)])
    asyncio.run(submit_batches(landing, provider(service)))
    assert collect(landing, provider(service)).failures == {"batch_failed": 2}
    assert "line 1" in landing.read("llm_calls")["reply"].to_pylist()[0]
    # The file's fault is not the calls': they are written again.
    assert write_batch(landing, provider(service), [ask(1), ask(2)]) is not None


def test_quarantined_calls_are_written_only_on_demand(landing, service):
    asked = provider(service, attempts=1)
    service.answer = lambda line: {
        "custom_id": line["custom_id"],
        "response": {"status_code": 200, "body": completion("no JSON")},
    }
    write_batch(landing, asked, [ask(1)])
    asyncio.run(submit_batches(landing, asked))
    assert collect(landing, provider(service)).failures == {"invalid_json": 1}
    assert write_batch(landing, asked, [ask(1)]) is None
    assert write_batch(landing, asked, [ask(1)], replace(asked.policy, retry_quarantined=True)) is not None


def test_a_kill_while_collecting_lands_no_attempt_twice(landing, service):
    write_batch(landing, provider(service), [ask(number) for number in range(3)])
    asyncio.run(submit_batches(landing, provider(service)))
    calls = []

    def dies(request, reply):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return structured(request, reply)

    with pytest.raises(KeyboardInterrupt):
        collect(landing, provider(service), validate=dies)
    collect(landing, provider(service))
    rows = landing.read("llm_calls", latest=False).to_pylist()
    assert len(rows) == len({(row["call_id"], row["attempt"]) for row in rows}) == 3


def test_another_served_model_is_a_failure_and_an_error(landing, service):
    def answer(asked: dict) -> dict:
        model = "other" if asked["body"]["messages"][0]["content"].startswith("2") else "served-1"
        body = completion('{"score": 7}', model=model)
        return {"custom_id": asked["custom_id"], "response": {"status_code": 200, "body": body}}

    service.answer = answer
    write_batch(landing, provider(service), [ask(number) for number in range(4)])
    asyncio.run(submit_batches(landing, provider(service)))
    with pytest.raises(SaberError, match="'other' after 'served-1'"):
        collect(landing, provider(service))
    errors = Counter(row["error"] for row in landing.read("llm_calls").to_pylist())
    assert errors == {None: 3, "served_model_changed": 1}


def test_refusals_of_the_service_are_one_sentence_without_secrets(landing, monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)
    with ChatServer(lambda _: status(401, f"Incorrect key {KEY}")) as server:
        asked = ServerProvider(read_profile("p", {"urls": [server.url], "model": "m", "key_variable": "TEST_KEY"}))
        write_batch(landing, asked, [ask(1)])
        with pytest.raises(SaberError, match="did not take or return the batch file") as caught:
            asyncio.run(submit_batches(landing, asked))
    assert KEY not in str(caught.value)
    assert all(KEY not in path.read_text() for path in (landing.home / "batches").rglob("*.json*"))


def test_a_broken_manifest_is_named(landing, service):
    write_batch(landing, provider(service), [ask(1)])
    (manifest,) = (landing.home / "batches").glob("*/manifest.json")
    manifest.write_text("{")
    with pytest.raises(SaberError, match=r"manifest\.json cannot be read"):
        batches(landing, provider(service))


def test_a_job_goes_through_its_steps(landing, service):
    """A chain of two calls, the second following from the first: a batch a level, then the job from the log."""

    def run(send: bool, on_missing=None) -> list[str | None]:
        async def job() -> list[str | None]:
            log = CallLog(landing, provider(service), "job", send=send, on_missing=on_missing)
            async with log:
                _, first = await log.ask(ask(1))
                if first.error:
                    return [first.error]
                _, second = await log.ask(ask(2))
                return [second.error]

        return asyncio.run(job())

    def step(name: str) -> dict:
        return batch_step(name, landing, provider(service), "job", lambda add: run(False, add))

    for level in (1, 2):
        assert step("write")["calls"] == 1
        assert step("write") == {"calls": 0, "files": 0, "folder": None}
        assert step("submit") == {"calls": 1, "files": 1}
        assert step("collect") == {"good": 1, "failed": 0, "failures": {}, "waiting": 0, "unknown_lines": 0}
        assert run(False) == (["not_in_log"] if level == 1 else [None])
    assert step("write")["calls"] == 0
    assert service.chat == 0


def test_only_servers_take_batch_files(landing):
    class Other:
        name, model, endpoint = "offline", "m", "offline"

    with pytest.raises(SaberError, match="offline answers at once"):
        batch_step("write", landing, Other(), "job", print)
