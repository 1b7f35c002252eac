"""Which calls are the same call."""

from __future__ import annotations

import dataclasses
import hashlib
import json

import pytest

from annotate.calls.identity import call_id, canonical_json, effective_params, request_document, url_identity
from annotate.providers.base import Request

REQUEST = Request("topics", "topics@1", ({"role": "user", "content": 'ζ {x} "q" <b>'},), {"temperature": 0})


def identity(request: Request = REQUEST, endpoint: str = "profile:a", model: str = "m", **defaults) -> str:
    return call_id(endpoint, model, effective_params(defaults, request.params), request)


def test_the_hash_is_sha256_of_canonical_json_written_out_by_hand():
    text = '["profile:a","m",{"temperature":0},[{"content":"ζ {x} \\"q\\" <b>","role":"user"}],null,null,0]'
    assert identity() == hashlib.sha256(text.encode()).hexdigest()[:32]


@pytest.mark.parametrize(
    "change",
    [
        {"messages": ({"role": "user", "content": 'ζ {x} "q" <b> '},)},
        {"messages": ({"role": "system", "content": 'ζ {x} "q" <b>'},)},
        {"params": {"temperature": 0.1}},
        {"params": {"temperature": 0, "seed": 1}},
        {"schema": {"type": "object"}},
        {"choices": ("a", "b")},
        {"choices": ()},
        {"sample": 1},
    ],
)
def test_whatever_is_sent_makes_another_call(change):
    assert identity(dataclasses.replace(REQUEST, **change)) != identity()


@pytest.mark.parametrize(
    "change",
    [
        {"purpose": "judge"},
        {"prompt_version": "topics@2"},
        {"payload": {"problem": "x"}},
        {"about": {"problem_id": "p1"}},
        {"params": {"temperature": 0.0}},
        {"params": {"temperature": 0, "seed": None}},
        {"messages": ({"content": 'ζ {x} "q" <b>', "role": "user"},)},
    ],
)
def test_whatever_is_not_sent_does_not(change):
    assert identity(dataclasses.replace(REQUEST, **change)) == identity()


def test_endpoint_model_and_defaults_of_the_profile_count():
    seen = {identity(), identity(endpoint="profile:b"), identity(model="n"), identity(top_p=0.9)}
    assert len(seen) == 4
    # None removes a default of the profile.
    without = dataclasses.replace(REQUEST, params={"temperature": 0, "top_p": None})
    assert identity(without, top_p=0.9) == identity()


def test_a_lone_surrogate_has_an_identity_of_its_own():
    broken = dataclasses.replace(REQUEST, messages=({"role": "user", "content": "\ud835"},))
    assert len({identity(broken), identity()}) == 2


def test_numbers_without_a_json_form_are_refused():
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"temperature": float("nan")})


def test_the_landed_request_holds_what_is_needed_to_ask_again_and_no_payload():
    request = dataclasses.replace(
        REQUEST, schema={"b": 1, "a": 2}, choices=("x",), payload={"secret": 1}, about={"problem_id": "p"}
    )
    document = json.loads(request_document(request))
    assert document == {
        "messages": [{"role": "user", "content": 'ζ {x} "q" <b>'}],
        "schema": {"a": 2, "b": 1},
        "choices": ["x"],
        "sample": 0,
        "about": {"problem_id": "p"},
    }


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        ("https://user:pass@API.example.com:443/v1/?api-key=k#x", "https://api.example.com/v1"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("http://[::1]:8000/v1/", "http://[::1]:8000/v1"),
        (["http://b/v1", "http://a/v1", "http://b/v1/"], "http://a/v1,http://b/v1"),
    ],
)
def test_urls_are_stripped_of_credentials_and_ordered(urls, expected):
    assert url_identity(urls) == expected


@pytest.mark.parametrize("url", ["ftp://k3y@x/v1", "127.0.0.1:8000", "", "http://x:port-k3y/v1"])
def test_a_bad_url_is_refused_without_repeating_it(url):
    with pytest.raises(ValueError, match="base URL") as caught:
        url_identity(url)
    assert "k3y" not in str(caught.value)
