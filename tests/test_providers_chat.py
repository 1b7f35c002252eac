"""The chat protocol without a network: bodies, answers, statuses, secrets, profiles."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from servers.chat import completion

from annotate.providers import make_provider
from annotate.providers.base import Request
from annotate.providers.chat import MODE, chat_body, read_completion, read_status, retry_after
from annotate.providers.failures import Fault, fault, meaning
from annotate.providers.profile import read_profile
from annotate.providers.redact import Redactor, url_secrets
from annotate.providers.token_estimate import estimate_tokens, looks_truncated
from warehouse.errors import SaberError
from warehouse.settings import Settings

HARD = 'Let {{x}} = "½" <script>alert(1)</script>\'; drop table t;-- \\frac{a}{b}\n\x00'
SCHEMA = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}
# A property may bear the name of a bound; it is no bound.
BOUNDED = {
    "type": "object",
    "properties": {
        "maximum": {"type": "number", "minimum": 0, "maximum": 1},
        "list": {"type": "array", "items": {"type": "string", "maxLength": 9, "enum": ["a"]}, "maxItems": 2},
    },
    "required": ["maximum"],
}
UNBOUNDED = {
    "type": "object",
    "properties": {
        "maximum": {"type": "number"},
        "list": {"type": "array", "items": {"type": "string", "enum": ["a"]}},
    },
    "required": ["maximum"],
}


def request(**changes) -> Request:
    return Request("p", "v", ({"role": "user", "content": HARD},), **changes)


def test_messages_and_parameters_are_sent_as_they_are():
    body = chat_body(
        request(params={"max_tokens": 9, "top_k": 3, MODE: "prompt"}), "m", "prompt", "max_completion_tokens"
    )
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": HARD}],
        "max_completion_tokens": 9,
        "top_k": 3,
    }


@pytest.mark.parametrize(
    ("mode", "asked", "key", "value"),
    [
        ("json_schema", {"schema": SCHEMA}, "response_format",
         {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True}}),
        ("json_schema_plain", {"schema": BOUNDED}, "response_format",
         {"type": "json_schema", "json_schema": {"name": "reply", "schema": UNBOUNDED, "strict": True}}),
        ("structured_outputs", {"schema": SCHEMA}, "structured_outputs", {"json": SCHEMA}),
        ("structured_outputs", {"choices": ("1", "2")}, "structured_outputs", {"choice": ["1", "2"]}),
    ],
)  # fmt: skip
def test_structured_output_is_asked_for_in_the_server_s_way(mode, asked, key, value):
    body = chat_body(request(**asked), "m", mode)
    assert body[key] == value
    assert list(json.loads(json.dumps(SCHEMA))["properties"]) == ["b", "a"]  # order is the order of writing


@pytest.mark.parametrize("mode", ["prompt", "json_schema"])
def test_nothing_is_asked_for_where_the_mode_has_no_way(mode):
    assert set(chat_body(request(choices=("1",)), "m", mode)) == {"model", "messages"}


def read(answer: object, estimated: int = 10):
    content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    return read_completion(content, estimated, 0.5)


def test_a_good_completion():
    reply = read(completion(HARD, system_fingerprint="fp"))
    assert (reply.text, reply.error, reply.finish_reason) == (HARD, None, "stop")
    assert (reply.served_model, reply.fingerprint, reply.latency_s) == ("served-1", "fp", 0.5)
    assert (reply.tokens_in, reply.tokens_out) == (11, 7)


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        (completion("cut of", finish_reason="length"), "length", "cut of"),
        (completion("x", finish_reason="content_filter"), "content_filter", "x"),
        (completion(None, refusal="I will not"), "refusal", "I will not"),
        (completion(""), "empty_reply", ""),
        (completion(None), "empty_reply", None),
        (completion("x", choices=[]), "empty_choices", None),
        (completion("x", choices=None), "bad_body", None),
        (completion("x", choices=[{"index": 0}]), "bad_body", None),
        (completion("x", choices=["x"]), "bad_body", None),
        (completion(7), "bad_body", None),
        ({"error": {"message": "overloaded"}}, "bad_body", None),
        ([1], "bad_body", None),
        (json.dumps(completion("x")).encode()[:-30], "bad_body", None),
        (b"", "bad_body", None),
        (b"<html>gateway</html>", "bad_body", None),
        (b"[" * 100_000, "bad_body", None),
        (b"\xff\xfe\xff", "bad_body", None),
        (completion([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), None, "ab"),
        (completion("x", usage=None, model=None), None, "x"),
        (completion("x", usage={"prompt_tokens": "11", "completion_tokens": -1}), None, "x"),
    ],
)
def test_every_other_answer_has_its_kind(answer, error, text):
    reply = read(answer)
    assert (reply.error, reply.text) == (error, text)


def test_what_a_bad_body_said_is_kept():
    assert "gateway" in (read(b"<html>gateway</html>").detail or "")


def test_a_prompt_cut_by_the_server_is_noticed_whatever_it_answers():
    usage = {"prompt_tokens": 2048, "completion_tokens": 1}
    assert read(completion("fine", usage=usage), estimated=5000).error == "server_truncated"
    assert read(completion("fine", usage=usage), estimated=4000).error is None
    assert read(completion("x", usage=usage, finish_reason="length"), estimated=5000).error == "server_truncated"
    assert not looks_truncated(200, 1)  # too short to tell
    assert not looks_truncated(5000, None)
    assert not looks_truncated(5000, 0)  # a server that does not count


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 4), ("abcd", 5), ("abcde", 6), ("ζζ", 5), ("a   \n\n   b", 5), ("a" * 4000, 1004)],
)
def test_the_estimate_is_a_token_for_four_bytes(text, tokens):
    assert estimate_tokens([{"role": "user", "content": text}]) == tokens


NOW = datetime(2025, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sat, 01 Mar 2025 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sat, 01 Mar 2025 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Sat, 01 Mar 2025 13:00:30 +0100"}, 30.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers, seconds):
    assert retry_after(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("status", "content", "kind", "whose"),
    [
        (429, '{"error": {"message": "slow"}}', "rate_limited", Fault.SERVICE),
        (429, '{"error": {"code": "insufficient_quota"}}', "quota", Fault.FATAL),
        (500, "oops", "http_500", Fault.SERVICE),
        (503, "", "http_503", Fault.SERVICE),
        (408, "", "http_408", Fault.SERVICE),
        (400, '{"error": {"message": "maximum context length is 4096"}}', "context_exceeded", Fault.REQUEST),
        (400, "max_tokens=50000 cannot be greater than max_model_len=4096", "context_exceeded", Fault.REQUEST),
        (400, '{"error": {"code": "content_filter"}}', "content_filter", Fault.REPLY),
        (400, "unknown field", "http_400", Fault.REQUEST),
        (422, "x", "http_422", Fault.REQUEST),
        (401, "x", "http_401", Fault.FATAL),
        (403, "x", "http_403", Fault.FATAL),
        (404, "x", "http_404", Fault.FATAL),
        (302, "x", "http_302", Fault.FATAL),
    ],
)
def test_statuses_have_kinds_and_kinds_have_someone_at_fault(status, content, kind, whose):
    reply = read_status(status, content, {}, 0.1)
    assert (reply.error, fault(reply.error)) == (kind, whose)
    assert reply.text is None
    assert meaning(kind) != kind


def test_kinds_a_job_invents_are_the_reply_s_fault():
    assert fault("too_long_core_idea") is Fault.REPLY
    assert meaning("too_long_core_idea") == "too long core idea"
    assert fault(None) is Fault.NONE


def test_secrets_are_hidden_wherever_they_stand():
    redact = Redactor(["k3y-in-use", "k3y-in-use-longer", "", "abc"])
    said = "Incorrect key k3y-in-use-longer; header Bearer othertoken123, or sk-proj-ABCDEFGH1234, abc"
    assert redact.error(said) == "Incorrect key [redacted]; header Bearer [redacted], or [redacted], abc"
    # The model's own words are hidden no more than needed.
    assert redact.words("sk-skeleton-of-proof k3y-in-use") == "sk-skeleton-of-proof [redacted]"
    assert "k3y" not in repr(redact)
    assert Redactor([]).error("plain") == "plain"


def test_secrets_of_a_url_are_known_as_written_and_decoded():
    assert url_secrets("https://me:p%40ss@x/v1?api-key=k%2B1&v=2") == {"me", "p%40ss", "p@ss", "k%2B1", "k+1", "2"}


def settings(tmp_path, **providers) -> Settings:
    return Settings(home=tmp_path, providers=providers)


def test_a_profile_is_read_with_its_defaults(tmp_path):
    table = {
        "urls": ["http://a/v1", "http://b/v1/"],
        "model": "m",
        "temperature": 0.0,
        "params": {"top_k": 3},
        "concurrency": 7,
        "price_in": 1,
    }
    provider = make_provider(settings(tmp_path, mine=table), "mine")
    assert (provider.name, provider.model, provider.endpoint) == ("server", "m", "profile:mine")
    assert provider.defaults == {"max_tokens": 50_000, "temperature": 0.0, "top_k": 3}
    assert provider.policy.concurrency == 7
    assert provider.profile.timeout_s == 1800


def test_urls_given_ad_hoc_are_the_endpoint(tmp_path):
    table = {"urls": ["http://a/v1"], "model": "m"}
    given = make_provider(settings(tmp_path, mine=table), "mine", "other", "http://u:p4ss@B:80/v1/")
    assert (given.model, given.endpoint) == ("other", "http://b/v1")
    plain = make_provider(settings(tmp_path), "server", "m", ["http://b/v1", "http://a/v1"])
    assert plain.endpoint == "http://a/v1,http://b/v1"
    assert "p4ss" not in repr(given) + given.endpoint


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"modle": "m"}, "unknown keys modle"),
        ({"urls": [1]}, "urls must be a list of texts"),
        ({"urls": ["ftp://k3y@x"]}, "http"),
        ({"concurrency": 0}, "concurrency must be at least 1"),
        ({"concurrency": "k3y"}, "concurrency must be a whole number"),
        ({"temperature": 0, "params": 3}, "params must be a table"),
        ({"kind": "k3y"}, "kind must be one of"),
        ({"structured_output": "k3y"}, "structured_output must be one of"),
        ({"timeout_s": 0}, "timeout_s must be above 0"),
        ({"sync_interval_s": 5}, "sync_interval_s"),
        ({"on_model_change": "k3y"}, "on_model_change"),
    ],
)
def test_a_bad_profile_is_refused_by_key_without_repeating_values(table, message):
    with pytest.raises(SaberError, match=message) as caught:
        read_profile("mine", table)
    assert "k3y" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("nobody", {}, "No provider is called 'nobody'"),
        ("server", {"model": "m"}, "has no URL"),
        ("server", {"base_url": "http://a/v1"}, "has no model"),
        ("server", {"model": "m", "base_url": "a:k3y/v1"}, "base URL"),
        ("offline", {"base_url": "http://a/v1"}, "asks no server"),
    ],
)
def test_a_provider_that_cannot_be_made_says_why(tmp_path, name, options, message):
    with pytest.raises(SaberError, match=message) as caught:
        make_provider(settings(tmp_path), name, **options)
    assert "k3y" not in str(caught.value)
