"""The call log against a provider in the same process, scripted attempt by attempt."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from annotate.calls import CallLog, Policy, structured
from annotate.calls.compaction import journal_folder
from annotate.providers.base import Reply, Request, failed
from warehouse.errors import SaberError
from warehouse.landing import Landing

FAST = Policy(concurrency=4, attempts=3, service_attempts=4, backoff_s=0.5, given_up_in_a_row=50)


def ask(text: str, **changes) -> Request:
    return replace(Request("topics", "topics@1", ({"role": "user", "content": text},)), **changes)


def good(text: str = "fine", **changes) -> Reply:
    return replace(Reply(text, "stop", "served-1", None, 10, 5, 0.25), **changes)


class Scripted:
    """Answers by `script(prompt, n-th arrival)` and counts what arrives."""

    name, model, endpoint = "server", "m", "profile:test"
    delay = 0.0

    def __init__(self, script, **attributes):
        self.script = script
        self.seen: Counter[str] = Counter()
        self.requests: list[Request] = []
        self.at_once = self.most_at_once = 0
        self.__dict__.update(attributes)

    async def complete(self, request: Request) -> Reply:
        prompt = request.messages[-1]["content"]
        self.seen[prompt] += 1
        self.requests.append(request)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(self.delay)
        self.at_once -= 1
        reply = self.script(prompt, self.seen[prompt])
        return await reply if asyncio.iscoroutine(reply) else reply


class Run:
    """One run of a log over `requests`: what it yielded, waited for and counted."""

    def __init__(self, landing, provider, requests, policy=FAST, job="job-1", **options):
        self.waits: list[float] = []
        self.replies: dict[int, Reply] = {}
        self.ids: dict[int, str] = {}

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)
            await asyncio.sleep(0)

        async def run() -> None:
            self.log = CallLog(landing, provider, job, policy=policy, sleep=sleep, draw=lambda: 0.0, **options)
            async for position, call_id, reply in self.log.run(requests):
                self.replies[position] = reply
                self.ids[position] = call_id

        self.error: SaberError | None = None
        try:
            asyncio.run(run())
        except SaberError as error:
            self.error = error
        self.counts = self.log.counts


@pytest.fixture
def landing(tmp_path) -> Landing:
    return Landing(tmp_path)


def rows(landing: Landing) -> list[dict]:
    return landing.read("llm_calls", latest=False).to_pylist()


def test_every_reply_lands_and_the_journal_is_gone(landing):
    run = Run(landing, Scripted(lambda prompt, _: good(prompt.upper())), [ask("a"), ask("b")])
    assert {at: reply.text for at, reply in run.replies.items()} == {0: "A", 1: "B"}
    landed = {row["call_id"]: row for row in rows(landing)}
    assert {row["reply"] for row in landed.values()} == {"A", "B"}
    assert set(landed) == set(run.ids.values())
    assert {row["job_id"] for row in landed.values()} == {"job-1"}
    assert list(journal_folder(landing).glob("*.journal*")) == []
    assert (run.counts.sent, run.counts.good, run.counts.from_log, run.counts.exit_code) == (2, 2, 0, 0)
    assert (run.counts.tokens_in, run.counts.tokens_out) == (20, 10)


def test_landed_calls_are_answered_from_the_log_and_never_sent_again(landing):
    provider = Scripted(lambda prompt, _: good(prompt.upper()))
    first = Run(landing, provider, [ask("a"), ask("b")])
    second = Run(landing, provider, [ask("c"), ask("b"), ask("a")], job="job-2")
    assert provider.seen == {"a": 1, "b": 1, "c": 1}
    assert {at: reply.text for at, reply in second.replies.items()} == {0: "C", 1: "B", 2: "A"}
    assert second.replies[2] == first.replies[0]
    assert (second.counts.from_log, second.counts.sent) == (2, 1)
    assert len(rows(landing)) == 3


def test_the_same_call_asked_twice_is_sent_once_and_answered_twice(landing):
    provider = Scripted(lambda prompt, _: good())
    run = Run(landing, provider, [ask("a"), ask("a"), ask("a", sample=1)])
    assert provider.seen == {"a": 2}
    assert sorted(run.replies) == [0, 1, 2]
    assert run.ids[0] == run.ids[1] != run.ids[2]
    assert run.counts.good == 3


def test_the_profile_s_defaults_are_sent_and_land(landing):
    provider = Scripted(lambda *_: good(), defaults={"temperature": 0.0, "top_p": 0.5})
    Run(landing, provider, [ask("a", params={"top_p": None, "seed": 7})])
    assert provider.requests[0].params == {"temperature": 0, "seed": 7}
    assert json.loads(rows(landing)[0]["params"]) == {"temperature": 0, "seed": 7}


def test_failures_are_rows_and_are_retried_with_growing_waits(landing):
    script = [failed("http_500", detail="boom"), failed("dropped"), good()]
    run = Run(landing, Scripted(lambda _, n: script[n - 1]), [ask("a")])
    assert run.replies[0].error is None
    landed = rows(landing)
    assert [(row["attempt"], row["error"], row["reply"]) for row in landed] == [
        (1, "http_500", "boom"),
        (2, "dropped", None),
        (3, None, "fine"),
    ]
    assert run.waits == [0.25, 0.5]  # half of 0.5·2⁰ and 0.5·2¹: the jitter drawn is 0
    assert run.counts.failures == {"http_500": 1, "dropped": 1}
    assert run.counts.exit_code == 0


def test_retry_after_lengthens_the_wait_and_never_shortens_it(landing):
    script = [failed("rate_limited", retry_after_s=3.0), failed("rate_limited", retry_after_s=0.0), good()]
    run = Run(landing, Scripted(lambda _, n: script[n - 1]), [ask("a")])
    assert run.waits == [3.0, 0.5]


def test_a_server_that_asks_for_an_hour_stops_the_job_and_says_so(landing):
    run = Run(landing, Scripted(lambda *_: failed("rate_limited", retry_after_s=3600.0)), [ask("a")])
    assert run.error is not None
    assert "3600 s" in str(run.error)
    assert len(rows(landing)) == 1


def test_bad_replies_are_quarantined_and_asked_again_only_on_demand(landing):
    provider = Scripted(lambda *_: good("cut of", error="length", finish_reason="length"))
    first = Run(landing, provider, [ask("a")])
    assert first.replies[0].error == "length"
    assert (first.counts.quarantined, first.counts.exit_code, len(rows(landing))) == (1, 1, 3)

    again = Run(landing, provider, [ask("a")])
    assert provider.seen["a"] == 3
    assert (again.replies[0].error, again.replies[0].text) == ("length", "cut of")
    assert (again.counts.quarantined, again.counts.exit_code) == (1, 1)

    provider.script = lambda *_: good()
    third = Run(landing, provider, [ask("a")], policy=replace(FAST, retry_quarantined=True))
    assert third.replies[0].error is None
    assert [row["attempt"] for row in rows(landing)] == [1, 2, 3, 4]
    # The good reply counts from now on.
    assert Run(landing, provider, [ask("a")]).counts.exit_code == 0
    assert provider.seen["a"] == 4


def test_raising_the_number_of_attempts_grants_the_difference(landing):
    provider = Scripted(lambda *_: good(error="refusal"))
    Run(landing, provider, [ask("a")])
    Run(landing, provider, [ask("a")], policy=replace(FAST, attempts=5))
    assert provider.seen["a"] == 5


def test_a_job_killed_in_its_retries_goes_on_counting(landing):
    provider = Scripted(lambda *_: good(error="length"))
    Run(landing, provider, [ask("a")], policy=replace(FAST, attempts=1))
    Run(landing, provider, [ask("a")])
    assert [row["attempt"] for row in rows(landing)] == [1, 2, 3]


def test_a_service_that_fails_never_quarantines_a_call(landing):
    provider = Scripted(lambda *_: failed("http_503"))
    run = Run(landing, provider, [ask("a")])
    assert (run.counts.given_up, run.counts.quarantined, run.counts.exit_code) == (1, 0, 1)
    assert provider.seen["a"] == FAST.service_attempts
    provider.script = lambda *_: good()
    assert Run(landing, provider, [ask("a")]).counts.exit_code == 0
    assert len(rows(landing)) == FAST.service_attempts + 1


def test_a_request_no_repetition_helps_is_sent_once(landing):
    provider = Scripted(lambda prompt, _: failed("context_exceeded") if prompt == "long" else good())
    run = Run(landing, provider, [ask("long"), ask("a")])
    assert provider.seen == {"long": 1, "a": 1}
    assert (run.counts.quarantined, run.counts.good) == (1, 1)
    Run(landing, provider, [ask("long")])
    assert provider.seen["long"] == 1


@pytest.mark.parametrize("kind", ["http_401", "http_404", "quota"])
def test_a_failure_of_every_call_stops_the_job_after_what_is_in_flight(landing, kind):
    async def slow() -> Reply:
        await asyncio.sleep(0.02)
        return good("late")

    provider = Scripted(lambda prompt, _: failed(kind, detail="bad key") if prompt == "0" else slow())
    run = Run(landing, provider, [ask(str(number)) for number in range(40)])
    assert run.error is not None
    assert kind in str(run.error)
    assert "bad key" in str(run.error)
    landed = Counter(row["error"] for row in rows(landing))
    assert landed[kind] == 1
    assert landed[None] == sum(provider.seen.values()) - 1  # what was sent has landed
    assert sum(provider.seen.values()) <= 2 * FAST.concurrency


def test_a_dead_service_stops_the_job_instead_of_going_through_all_of_it(landing):
    provider = Scripted(lambda *_: failed("connect_failed", detail="refused"))
    policy = replace(FAST, given_up_in_a_row=3)
    run = Run(landing, provider, [ask(str(number)) for number in range(100)], policy=policy)
    assert run.error is not None
    assert "none of the last 3 calls" in str(run.error)
    assert len(provider.seen) < 20


def test_wrong_parameters_stop_the_job_when_nothing_else_ever_came_back(landing):
    provider = Scripted(lambda *_: failed("http_400", detail="unknown parameter"))
    policy = replace(FAST, given_up_in_a_row=3)
    run = Run(landing, provider, [ask(str(number)) for number in range(100)], policy=policy)
    assert run.error is not None
    assert "unknown parameter" in str(run.error)
    assert len(provider.seen) < 20


def test_replies_that_are_all_unusable_stop_the_job_before_all_of_it_is_paid_for(landing):
    schema = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}
    policy = replace(FAST, attempts=2, unusable_from_the_start=3)
    provider = Scripted(lambda *_: good("I cannot say"))
    run = Run(landing, provider, [ask(str(number), schema=schema) for number in range(100)], policy=policy)
    assert run.error is not None
    assert "no usable reply to any of the first 3 calls" in str(run.error)
    assert "--retry-quarantined" in str(run.error)
    assert len(provider.seen) < 20
    assert len(rows(landing)) == sum(provider.seen.values())  # what was paid for has landed


def test_one_usable_reply_lets_a_job_of_bad_replies_go_on(landing):
    schema = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}
    policy = replace(FAST, concurrency=1, attempts=1, unusable_from_the_start=3)
    provider = Scripted(lambda prompt, _: good('{"score": 1}' if prompt == "0" else "I cannot say"))
    run = Run(landing, provider, [ask(str(number), schema=schema) for number in range(20)], policy=policy)
    assert run.error is None
    assert (run.counts.good, run.counts.quarantined) == (1, 19)


def test_an_invalid_reply_is_never_good(landing):
    schema = {"type": "object", "properties": {"score": {"type": "number", "maximum": 100}}, "required": ["score"]}
    script = ['{"score": NaN}', '{"score": 101}', '{"score": 7}']
    run = Run(landing, Scripted(lambda _, n: good(script[n - 1])), [ask("a", schema=schema)])
    assert [(row["error"], row["reply"]) for row in rows(landing)] == [
        ("not_finite", '{"score": NaN}'),
        ("out_of_range", '{"score": 101}'),
        (None, '{"score": 7}'),
    ]
    assert run.replies[0].text == '{"score": 7}'


def test_a_job_s_own_validator_names_its_failures(landing):
    def validate(request: Request, reply: Reply) -> str | None:
        return structured(request, reply) or ("too_long" if len(reply.text or "") > 3 else None)

    run = Run(landing, Scripted(lambda _, n: good("abcdef"[:-n])), [ask("a")], validate=validate)
    assert [row["error"] for row in rows(landing)] == ["too_long", "too_long", None]
    assert run.counts.failures == {"too_long": 2}


def test_a_validator_that_breaks_stops_the_job_but_the_reply_it_broke_on_is_kept(landing):
    def broken(request: Request, reply: Reply) -> str | None:
        raise KeyError("oops")

    provider = Scripted(lambda *_: good("paid for"))
    with pytest.raises(KeyError):
        Run(landing, provider, [ask("a")], validate=broken)
    assert [(row["error"], row["reply"]) for row in rows(landing)] == [("validator_failed", "paid for")]
    # With the validator mended the reply is used, not paid for again.
    run = Run(landing, provider, [ask("a")])
    assert (run.replies[0].text, run.replies[0].error, provider.seen["a"]) == ("paid for", None, 1)


def test_landed_replies_are_judged_by_the_rules_of_today(landing):
    provider = Scripted(lambda *_: good("four"))

    def at_most(letters):
        return lambda _, reply: "too_long" if len(reply.text) > letters else None

    Run(landing, provider, [ask("a")], validate=at_most(3))
    assert provider.seen["a"] == 3
    laxer = Run(landing, provider, [ask("a")], validate=at_most(4))
    assert (laxer.replies[0].error, laxer.counts.exit_code) == (None, 0)
    Run(landing, provider, [ask("b")], validate=at_most(4))
    stricter = Run(landing, provider, [ask("b")], validate=at_most(3))
    assert (stricter.replies[0].error, stricter.counts.quarantined) == ("too_long", 1)
    assert provider.seen == {"a": 3, "b": 1}


def test_a_change_of_the_served_model_stops_the_job(landing):
    provider = Scripted(lambda prompt, _: good(served_model="other" if prompt == "5" else "served-1"))
    run = Run(landing, provider, [ask(str(number)) for number in range(30)])
    assert run.error is not None
    assert "'other' after 'served-1'" in str(run.error)
    landed = {json.loads(row["request"])["messages"][0]["content"]: row["error"] for row in rows(landing)}
    assert landed["5"] == "served_model_changed"
    assert len(landed) < 30
    accepting = Run(landing, provider, [ask("5")], policy=replace(FAST, on_model_change="accept"))
    assert accepting.counts.exit_code == 0


def test_the_served_model_of_landed_replies_binds_the_rest_of_the_job(landing):
    provider = Scripted(lambda prompt, _: good(served_model="new" if prompt == "b" else "old"))
    Run(landing, provider, [ask("a")])
    run = Run(landing, provider, [ask("a")] * 3 + [ask("b")])
    assert run.error is not None
    assert "'new'" in str(run.error)


def test_fingerprints_are_compared_per_url(landing):
    def script(prompt: str, _: int) -> Reply:
        return good(fingerprint=f"fp-{prompt[0]}", recorded={"url": f"http://{prompt[0]}/v1"})

    prompts = [f"{machine}{number}" for number in range(4) for machine in "ab"]
    assert Run(landing, Scripted(script), [ask(prompt) for prompt in prompts]).error is None

    changing = Scripted(lambda prompt, _: good(fingerprint=prompt, recorded={"url": "http://a/v1"}))
    run = Run(landing, changing, [ask("x"), ask("y")])
    assert run.error is not None
    assert "fingerprint" in str(run.error)


def test_a_seed_moves_with_the_attempt_so_that_a_bad_reply_is_not_drawn_again(landing):
    provider = Scripted(lambda _, n: good(error="length") if n < 3 else good())
    Run(landing, provider, [ask("a", params={"seed": 40})])
    assert [request.params["seed"] for request in provider.requests] == [40, 41, 42]
    assert [json.loads(row["params"])["seed"] for row in rows(landing)] == [40, 41, 42]
    assert len({row["call_id"] for row in rows(landing)}) == 1


def test_no_more_calls_at_once_than_the_policy_allows(landing):
    provider = Scripted(lambda *_: good(), delay=0.01)
    Run(landing, provider, [ask(str(number)) for number in range(50)])
    assert provider.most_at_once == FAST.concurrency


def test_a_provider_that_raises_costs_one_call_and_is_a_row(landing):
    def script(prompt: str, _: int) -> Reply:
        if prompt == "a":
            raise RuntimeError("bug")
        return good()

    run = Run(landing, Scripted(script), [ask("a"), ask("b")])
    assert (run.replies[0].error, run.replies[1].error) == ("provider_failed", None)
    assert {row["reply"] for row in rows(landing)} == {"RuntimeError: bug", "fine"}


def test_without_sending_the_log_answers_what_it_has(landing):
    provider = Scripted(lambda prompt, _: good() if prompt == "a" else good(error="length"))
    Run(landing, provider, [ask("a"), ask("bad")])
    before = sum(provider.seen.values())
    run = Run(landing, provider, [ask("a"), ask("b"), ask("bad")], send=False)
    assert sum(provider.seen.values()) == before
    assert [run.replies[at].error for at in range(3)] == [None, "not_in_log", "length"]
    assert (run.counts.good, run.counts.missing, run.counts.quarantined) == (1, 1, 1)
    assert run.counts.exit_code == 1


def test_small_journals_are_compacted_as_the_job_runs(landing):
    provider = Scripted(lambda prompt, _: good(prompt))
    policy = replace(FAST, journal_records=10)
    run = Run(landing, provider, (ask(str(number % 45)) for number in range(90)), policy=policy)
    assert {at: reply.text for at, reply in run.replies.items()} == {at: str(at % 45) for at in range(90)}
    assert set(provider.seen.values()) == {1}
    assert len(rows(landing)) == 45
    assert len([file for file in landing.files("llm_calls") if file.rows]) > 2


def test_replies_can_be_asked_for_one_by_one_as_they_follow_from_each_other(landing):
    provider = Scripted(lambda prompt, _: good(prompt + "!"))

    async def chain(log: CallLog, text: str) -> str:
        for _ in range(3):
            _, reply = await log.ask(ask(text))
            text = reply.text or ""
        return text

    async def job() -> list[str]:
        async with CallLog(landing, provider, "job", policy=FAST) as log:
            found = await asyncio.gather(*(chain(log, str(number)) for number in range(20)))
            async for _ in log.run([ask("more")]):
                await log.sync()
            return found

    assert asyncio.run(job()) == [f"{number}!!!" for number in range(20)]
    assert len(rows(landing)) == 61
    assert len([file for file in landing.files("llm_calls") if file.rows]) == 1  # one file for all rounds


def test_a_job_that_breaks_off_lands_what_it_had(landing):
    provider = Scripted(lambda prompt, _: good(prompt))

    async def job() -> None:
        async with CallLog(landing, provider, "job", policy=FAST) as log:
            async for position, _, _ in log.run(ask(str(number)) for number in range(100)):
                if position == 20:
                    raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(job())
    assert len(rows(landing)) >= 20
    assert list(journal_folder(landing).glob("*.journal")) == []


def test_a_call_in_flight_lands_though_the_job_cancels_who_asked(landing):
    started = asyncio.Event()

    async def slow() -> Reply:
        started.set()
        await asyncio.sleep(0.05)
        return good("paid for")

    provider = Scripted(lambda prompt, _: failed("http_401") if prompt == "bad" else slow())

    async def job() -> None:
        async with CallLog(landing, provider, "job", policy=replace(FAST, concurrency=2)) as log:
            tasks = [asyncio.create_task(log.ask(ask(prompt))) for prompt in ("slow", "waits 1", "waits 2")]
            await started.wait()
            try:
                await log.ask(ask("bad"))
            finally:
                for task in tasks:
                    task.cancel()

    with pytest.raises(SaberError, match="http_401"):
        asyncio.run(job())
    # Slots go in turn: "waits 2" was in flight when "bad" stopped the job.
    assert provider.seen == {"slow": 1, "waits 1": 1, "waits 2": 1, "bad": 1}
    assert [row["reply"] for row in rows(landing) if row["reply"]] == ["paid for"] * 3


def test_a_request_survives_the_one_it_had_joined(landing):
    provider = Scripted(lambda *_: good(), delay=0.02)

    async def job() -> list[Reply]:
        async with CallLog(landing, provider, "job", policy=FAST) as log:
            first = asyncio.create_task(log.ask(ask("a")))
            await asyncio.sleep(0.01)
            second = asyncio.create_task(log.ask(ask("a")))
            await asyncio.sleep(0)
            first.cancel()
            third = asyncio.create_task(log.ask(ask("a")))
            return [reply for _, reply in await asyncio.gather(second, third)]

    assert [reply.text for reply in asyncio.run(job())] == ["fine", "fine"]
    assert provider.seen == {"a": 1}
    assert len(rows(landing)) == 1


def test_two_processes_do_not_ask_the_same_twice(landing):
    provider = Scripted(lambda *_: good())

    async def job() -> None:
        async with CallLog(landing, provider, "one", policy=FAST) as one:
            await one.ask(ask("a"))
            async with CallLog(landing, provider, "two", policy=FAST) as two:
                await two.ask(ask("b", purpose="judge"))
                with pytest.raises(SaberError, match="Another saber process is already asking"):
                    await two.ask(ask("b"))

    asyncio.run(job())
    assert provider.seen == {"a": 1, "b": 1}


def test_a_full_disk_stops_the_job_with_one_clear_sentence(landing, monkeypatch):
    provider = Scripted(lambda *_: good())
    real = os.write

    def full(descriptor: int, content: bytes) -> int:
        if b"call_id" in content:
            raise OSError(28, "No space left on device")
        return real(descriptor, content)

    monkeypatch.setattr(os, "write", full)
    run = Run(landing, provider, [ask(str(number)) for number in range(20)])
    assert run.error is not None
    assert "No space left" in str(run.error)


def test_replies_that_cannot_be_landed_are_safe_in_the_journal(landing, monkeypatch):
    provider = Scripted(lambda prompt, _: good(prompt))
    with monkeypatch.context() as patch:
        patch.setattr(
            pq, "write_table", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space left on device"))
        )
        run = Run(landing, provider, [ask("a"), ask("b")])
    assert run.error is not None
    assert "No space left on device. They are safe in" in str(run.error)
    again = Run(landing, provider, [ask("a"), ask("b")])
    assert again.counts.from_log == 2
    assert provider.seen == {"a": 1, "b": 1}


def test_the_summary_names_counts_kinds_and_what_to_do(landing):
    provider = Scripted(lambda prompt, _: good() if prompt == "a" else good(error="length"))
    text = str(Run(landing, provider, [ask("a"), ask("b")]).counts)
    assert "1 of 2 calls have a reply" in text
    assert "3 x length (the reply was cut off" in text
    assert "1 quarantined: ask again with --retry-quarantined" in text
