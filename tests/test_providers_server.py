"""The server provider against a scripted server on the loopback interface that misbehaves as told."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
from collections import Counter
from email.utils import formatdate
from time import time

import pytest
from servers.chat import Act, ChatServer, busy, completion, drop, hang, raw, reply, status

from annotate.calls import CallLog
from annotate.providers.base import Request
from annotate.providers.profile import read_profile
from annotate.providers.server import ServerProvider
from warehouse.errors import SaberError
from warehouse.landing import Landing

KEY = "k3y-VERY-secret-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number", "minimum": 0, "maximum": 100}, "why": {"type": "string"}},
    "required": ["score"],
    "additionalProperties": False,
}


@pytest.fixture
def landing(tmp_path) -> Landing:
    return Landing(tmp_path)


def provider(urls, sleep=asyncio.sleep, **table) -> ServerProvider:
    given = {
        "urls": [urls] if isinstance(urls, str) else urls,
        "model": "m",
        "concurrency": 8,
        "attempts": 3,
        "service_attempts": 6,
        "backoff_s": 0.001,
        "backoff_cap_s": 0.002,
        "timeout_s": 5.0,
        "structured_output": "prompt",
        **table,
    }
    return ServerProvider(read_profile("test", given), sleep)


def ask(text: str, **changes) -> Request:
    return Request("topics", "topics@1", ({"role": "user", "content": text},), **changes)


def run(landing, asked, requests, **options):
    async def job():
        log = CallLog(landing, asked, "job", **options)
        found = {}
        async for position, _, answer in log.run(requests):
            found[position] = answer
        await asked.close()
        return found, log.counts

    return asyncio.run(job())


def rows(landing) -> list[dict]:
    return landing.read("llm_calls", latest=False).to_pylist()


def errors(landing) -> list[str | None]:
    return [row["error"] for row in rows(landing)]


def test_a_call_goes_out_and_comes_back_unharmed(landing):
    hard = 'Let {{x}} = "½" <b>\'; drop table t;-- \\frac{a}{b}\n answer \\boxed{1}'
    with ChatServer(lambda seen: reply(seen.prompt + " ✓", system_fingerprint="fp")) as server:
        found, counts = run(landing, provider(server.url, temperature=0.5, reasoning_effort="low"), [ask(hard)])
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.body == {
        "model": "m",
        "messages": [{"role": "user", "content": hard}],
        "max_tokens": 50_000,
        "temperature": 0.5,
        "reasoning_effort": "low",
    }
    assert found[0].text == hard + " ✓"
    (row,) = rows(landing)
    assert json.loads(row["request"])["messages"][0]["content"] == hard
    assert (row["reply"], row["served_model"], row["fingerprint"]) == (hard + " ✓", "served-1", "fp")
    assert (row["endpoint"], row["tokens_in"], row["tokens_out"]) == ("profile:test", 11, 7)
    assert json.loads(row["params"])["url"] == server.url
    assert counts.exit_code == 0


GOOD = '{"score": 50, "why": "\\\\frac{1}{2}"}'
MISBEHAVIOUR = {
    "429 with Retry-After": (busy("0.01"), "rate_limited"),
    "429 with a date": (busy(formatdate(time() - 5, usegmt=True)), "rate_limited"),
    "429 without": (busy(), "rate_limited"),
    "500": (status(500), "http_500"),
    "503": (status(503, headers={"retry-after": "0"}), "http_503"),
    "dropped before the headers": (drop(0), "dropped"),
    "dropped in the body": (drop(30), "dropped"),
    "half a JSON": (raw(json.dumps(completion(GOOD)).encode()[:-20]), "bad_body"),
    "a page of HTML": (raw(b"<html>proxy</html>"), "bad_body"),
    "empty choices": (reply("x", choices=[]), "empty_choices"),
    "cut off": (reply('{"score": 5', finish_reason="length"), "length"),
    "refusal": (reply(None, refusal="no"), "refusal"),
    "filtered": (reply("x", finish_reason="content_filter"), "content_filter"),
    "nothing": (reply(""), "empty_reply"),
    "no JSON": (reply("The score is 50."), "invalid_json"),
    "half a JSON as text": (reply(GOOD[:12]), "invalid_json"),
    "wrong keys": (reply('{"points": 50}'), "wrong_keys"),
    "extra keys": (reply('{"score": 50, "more": 1}'), "wrong_keys"),
    "out of range": (reply('{"score": 1000}'), "out_of_range"),
    "NaN": (reply('{"score": NaN}'), "not_finite"),
    "eaten LaTeX": (reply('{"score": 50, "why": "\\frac{1}{2}"}'), "control_characters"),
}


@pytest.mark.parametrize("name", MISBEHAVIOUR)
def test_misbehaviour_is_a_row_and_the_next_attempt_counts(landing, name):
    act, kind = MISBEHAVIOUR[name]
    with ChatServer(lambda seen: act if seen.times == 1 else reply(GOOD)) as server:
        found, counts = run(landing, provider(server.url), [ask("a", schema=SCHEMA)])
    assert [(row["attempt"], row["error"]) for row in rows(landing)] == [(1, kind), (2, None)]
    assert (found[0].text, found[0].error) == (GOOD, None)
    assert counts.exit_code == 0
    assert len(server.seen) == 2


def test_all_of_it_at_once_loses_nothing_and_counts_what_is_left(landing):
    acts = [act for act, _ in MISBEHAVIOUR.values()]

    def script(seen) -> Act:
        number = int(seen.prompt)
        if number == 199:
            return reply("never any JSON")
        if number % 2 == 0 and seen.times == 1:
            return acts[number // 2 % len(acts)]
        return reply(GOOD)

    with ChatServer(script) as server:
        found, counts = run(landing, provider(server.url), [ask(str(number), schema=SCHEMA) for number in range(200)])
    assert sorted(found) == list(range(200))
    assert [at for at, answer in found.items() if answer.error] == [199]
    assert all(answer.text == GOOD for at, answer in found.items() if at != 199)
    assert (counts.good, counts.quarantined, counts.exit_code) == (199, 1, 1)
    # Every request the server saw is a row, and every row a request.
    landed = rows(landing)
    assert len(landed) == len(server.seen) == counts.sent
    prompts = Counter(json.loads(row["request"])["messages"][0]["content"] for row in landed)
    assert prompts == Counter(server.prompts)
    assert server.most_at_once <= 8


def test_a_hang_ends_at_the_time_limit(landing):
    with ChatServer(lambda seen: hang() if seen.times == 1 else reply("fine")) as server:
        run(landing, provider(server.url, timeout_s=0.2), [ask("a")])
    assert errors(landing) == ["timeout", None]


def test_a_server_that_drips_cannot_hold_a_call_for_ever(landing):
    async def drip(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
        try:
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.02)
        except ConnectionError:
            writer.close()

    async def job():
        server = await asyncio.start_server(drip, "127.0.0.1", 0)
        asked = provider(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", timeout_s=0.3)
        answer = await asked.complete(ask("a"))
        await asked.close()
        server.close()
        return answer

    assert asyncio.run(job()).error == "timeout"


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_no_server_at_all_is_said_in_one_sentence(landing):
    asked = provider(f"http://127.0.0.1:{closed_port()}/v1", service_attempts=2, given_up_in_a_row=2)
    with pytest.raises(SaberError, match=r"has answered none of the last 2 calls.*no connection to the server"):
        run(landing, asked, [ask(str(number)) for number in range(20)])
    assert set(errors(landing)) == {"connect_failed"}


def test_a_lone_surrogate_cannot_be_sent_and_fails_by_name(landing):
    with ChatServer(lambda _: reply("x")) as server:
        _, counts = run(landing, provider(server.url), [ask("\ud835")])
    assert errors(landing) == ["invalid_request"]
    assert (server.seen, counts.quarantined) == ([], 1)
    assert "\\ud835" in rows(landing)[0]["request"]


def test_an_over_long_prompt_is_sent_whole_and_fails_by_name(landing):
    text = "x" * 100_000
    with ChatServer(lambda _: status(400, "This model's maximum context length is 4096 tokens")) as server:
        run(landing, provider(server.url), [ask(text)])
    assert server.prompts == [text]
    assert errors(landing) == ["context_exceeded"]


def test_a_prompt_the_server_cut_fails_by_name_and_is_not_paid_for_again(landing):
    usage = {"prompt_tokens": 2048, "completion_tokens": 5}
    with ChatServer(lambda _: reply("fine", usage=usage)) as server:
        _, counts = run(landing, provider(server.url), [ask("word " * 8000)])
    assert (errors(landing), len(server.seen), counts.exit_code) == (["server_truncated"], 1, 1)


def test_several_urls_share_the_load_and_one_identity(landing):
    with ChatServer(lambda _: reply("x", delay=0.01)) as one, ChatServer(lambda _: reply("x", delay=0.01)) as two:
        both = provider([one.url, two.url])
        run(landing, both, [ask(str(number)) for number in range(60)])
        assert len(one.seen) + len(two.seen) == 60
        assert min(len(one.seen), len(two.seen)) >= 15
        run(landing, provider(two.url), [ask(str(number)) for number in range(60)])
        assert len(one.seen) + len(two.seen) == 60


def test_a_dead_url_is_left_alone(landing):
    with ChatServer(lambda _: reply("x")) as alive:
        urls = [f"http://127.0.0.1:{closed_port()}/v1", alive.url]
        _, counts = run(landing, provider(urls, backoff_s=0.5), [ask(str(number)) for number in range(100)])
    assert counts.exit_code == 0
    assert counts.failures["connect_failed"] <= 20


def test_a_url_that_asks_for_a_pause_gets_it_from_every_call(landing):
    waits = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await asyncio.sleep(0.45)

    with ChatServer(lambda seen: busy("0.4") if seen.number == 1 else reply("x")) as server:
        run(landing, provider(server.url, sleep, concurrency=1), [ask("a"), ask("b")])
    # The other call waited too, though it had not been refused itself.
    assert len(waits) == 1
    assert 0 < waits[0] <= 0.4
    assert sorted(errors(landing), key=str) == [None, None, "rate_limited"]


def test_keys_are_sent_to_the_server_and_shown_nowhere(landing, monkeypatch, caplog, capfd):
    monkeypatch.setenv("TEST_KEY", f" {KEY}\n")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    caplog.set_level(logging.DEBUG)
    echo = f"Incorrect API key provided: {KEY} (Authorization: Bearer {KEY})"
    acts = {
        "400": status(400, echo),
        "500": status(500, echo),
        "bad": raw(echo.encode()),
        "echo": reply(f"you sent {KEY}"),
        "good": reply("fine"),
    }
    with ChatServer(lambda seen: acts[seen.prompt]) as server:
        url = server.url.replace("http://", "http://user:p4ssw0rd@") + "?api-key=qu3rykey"
        asked = provider(url, key_variable="TEST_KEY", given_up_in_a_row=50)
        run(landing, asked, [ask(prompt) for prompt in acts])
        acts["401"] = status(401, echo)
        with pytest.raises(SaberError, match="http_401") as caught:
            run(landing, asked, [ask("401")], progress=True)
    shown = [str(caught.value), repr(asked), caplog.text, *capfd.readouterr()]
    shown += [
        json.dumps(rows(landing)),
        *(path.read_bytes().decode("latin-1") for path in landing.root.rglob("*") if path.is_file()),
    ]
    for text in shown:
        for secret in (KEY, "p4ssw0rd", "qu3rykey"):
            assert secret not in text
    assert "[redacted]" in json.dumps(rows(landing))
    assert all("api-key=qu3rykey" in seen.path for seen in server.seen)
    assert not any("org-private" in json.dumps(seen.headers) for seen in server.seen)


def test_the_key_is_a_bearer_token(landing, monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)
    with ChatServer(lambda _: reply("fine")) as server:
        run(landing, provider(server.url, key_variable="TEST_KEY"), [ask("a")])
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_missing_key_is_named_by_its_variable(landing, monkeypatch):
    monkeypatch.delenv("TEST_KEY", raising=False)
    with ChatServer(lambda _: reply("fine")) as server:
        with pytest.raises(SaberError, match="TEST_KEY is not set"):
            run(landing, provider(server.url, key_variable="TEST_KEY"), [ask("a")])
        assert server.seen == []


KEPT = '{"form": "kept", "share": 0.5, "words": [], "flag": null}'


def obeys(*ways: str):
    """A server that keeps to the forms in `ways`, refuses the others with 400 and answers the rest in prose."""

    def script(seen) -> Act:
        body = seen.body
        form = body.get("response_format", {}).get("json_schema", {}).get("schema")
        form = form or body.get("structured_outputs", {}).get("json")
        choices = body.get("structured_outputs", {}).get("choice")
        if "no bounds" in ways and "max" in json.dumps(body.get("response_format", "")):
            return status(400, "response_format: keyword not permitted")
        for way in ("response_format", "structured_outputs"):
            if way in body and way not in ways and "ignores" not in ways:
                return status(400, f"{way}: unknown field")
        if "ignores" in ways and not any(way in body for way in ways):
            return reply("Hello, dear reader!")
        if choices:
            return reply(choices[-1])
        if form:
            return reply(KEPT if "form" in form["properties"] else GOOD)
        return reply(GOOD)

    return script


@pytest.mark.parametrize(
    ("ways", "schema_mode", "choice_mode", "probes"),
    [
        (("response_format", "structured_outputs"), "json_schema", "structured_outputs", 2),
        (("structured_outputs",), "structured_outputs", "structured_outputs", 3),
        (("response_format",), "json_schema", "prompt", 2),
        (("structured_outputs", "ignores"), "structured_outputs", "structured_outputs", 3),
        (("response_format", "no bounds"), "json_schema_plain", "prompt", 4),
        ((), "prompt", "prompt", 4),
    ],
)
def test_structured_output_is_probed_once_and_recorded(landing, ways, schema_mode, choice_mode, probes):
    requests = [ask(str(number), schema=SCHEMA) for number in range(3)]
    requests += [ask(str(number), choices=(GOOD, "b")) for number in range(3)]

    def script(seen):
        act = obeys(*ways)(seen)
        return (
            reply(GOOD) if "structured_outputs" not in ways and act.status == 200 and "form" not in str(act) else act
        )

    with ChatServer(script) as server:
        found, _ = run(landing, provider(server.url, structured_output="auto", given_up_in_a_row=50), requests)
        first = len(server.seen)
        run(landing, provider(server.url, structured_output="auto", given_up_in_a_row=50), requests)
        again = [*requests, ask("new", schema=SCHEMA)]
        run(landing, provider(server.url, structured_output="auto", given_up_in_a_row=50), again)
    landed = rows(landing)
    assert sum(row["purpose"] == "probe" for row in landed) == probes
    assert first == len(requests) + probes
    assert len(server.seen) == first + 1  # the probes' outcome is in the log as well
    modes = {}
    for row in landed:
        if row["purpose"] != "probe":
            kind = "schema" if "schema" in json.loads(row["request"]) else "choices"
            modes.setdefault(kind, set()).add(json.loads(row["params"])["structured_output"])
    assert modes == {"schema": {schema_mode}, "choices": {choice_mode}}
    assert all(answer.error is None for answer in found.values())


def test_a_fixed_mode_is_not_probed(landing):
    with ChatServer(obeys("structured_outputs")) as server:
        run(landing, provider(server.url, structured_output="structured_outputs"), [ask("a", schema=SCHEMA)])
    assert len(server.seen) == 1
    assert server.seen[0].body["structured_outputs"] == {"json": SCHEMA}


def test_a_probe_without_an_answer_stops_the_job(landing):
    with ChatServer(lambda _: status(503)) as server:
        with pytest.raises(SaberError, match="did not answer the probe"):
            run(landing, provider(server.url, structured_output="auto"), [ask("a", schema=SCHEMA)])
        assert set(errors(landing)) == {"http_503"}


def test_a_context_too_small_for_the_probe_is_told(landing):
    with ChatServer(lambda _: status(400, "max_tokens=9 cannot be greater than max_model_len=8")) as server:
        asked = provider(server.url, structured_output="auto", max_tokens=9)
        with pytest.raises(SaberError, match="Lower max_tokens"):
            run(landing, asked, [ask("a", schema=SCHEMA)])
    assert [seen.body["max_tokens"] for seen in server.seen] == [9]  # no more than the profile allows


def test_the_limit_on_output_may_be_left_to_the_server(landing):
    with ChatServer(lambda _: reply("fine")) as server:
        run(landing, provider(server.url, max_tokens=0), [ask("a")])
    assert "max_tokens" not in server.seen[0].body


def test_many_requests_without_a_log(landing):
    async def job(asked):
        return [pair async for pair in asked.complete_many([ask(str(number)) for number in range(20)])]

    with ChatServer(lambda seen: reply(seen.prompt)) as server:
        found = asyncio.run(job(provider(server.url)))
    assert {index: answer.text for index, answer in found} == {index: str(index) for index in range(20)}
    assert server.most_at_once <= 8


def test_a_provider_outlives_its_event_loop(landing):
    with ChatServer(lambda _: reply("x")) as server:
        asked = provider(server.url)
        for _ in range(2):
            assert asyncio.run(asked.complete(ask("a"))).error is None


def test_the_cost_is_counted_shown_and_landed_with_the_prices(landing, capfd):
    usage = {"prompt_tokens": 500_000, "completion_tokens": 100_000}
    with ChatServer(lambda seen: reply("x", usage=usage) if seen.times > 1 else status(500)) as server:
        asked = provider(server.url, price_in=2.0, price_out=10.0, currency="EUR")
        _, counts = run(landing, asked, [ask("a"), ask("b")], progress=True)
    assert (counts.cost, counts.as_dict()["currency"]) == (4.0, "EUR")  # 2 · (0.5 · 2 + 0.1 · 10)
    assert "4.00 EUR" in str(counts)
    assert "4.00 EUR" in capfd.readouterr().err
    prices = {"price_in": 2.0, "price_out": 10.0, "currency": "EUR"}
    assert all(prices.items() <= json.loads(row["params"]).items() for row in rows(landing))


def test_progress_goes_to_stderr(landing, capfd):
    with ChatServer(lambda seen: reply("x") if seen.times > 1 else status(500)) as server:
        run(landing, provider(server.url), [ask(str(number)) for number in range(5)], progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert re.search(r"5/5 .*tokens \d+ in \d+ out http_500:5", err)


def test_a_user_in_the_url_is_sent_as_basic_authorisation(landing):
    with ChatServer(lambda _: reply("fine")) as server:
        run(landing, provider(server.url.replace("http://", "http://user:p%40ss@")), [ask("a")])
    assert server.seen[0].headers["authorization"] == "Basic dXNlcjpwQHNz"
