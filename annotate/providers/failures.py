"""The kinds of failure of a call and whose fault each is, which decides whether asking again makes sense."""

from __future__ import annotations

from enum import IntEnum

SERVED_MODEL_CHANGED = "served_model_changed"
SERVER_TRUNCATED = "server_truncated"
CONTEXT_EXCEEDED = "context_exceeded"
VALIDATOR_FAILED = "validator_failed"
NOT_IN_LOG = "not_in_log"


class Fault(IntEnum):
    """Whose fault a failure is.

    Attributes
    ----------
    NONE
        No failure.
    SERVICE
        The service's or the line's: says nothing about the call, which is tried again now and in later runs.
    REPLY
        The reply's (cut off, refused, of wrong form, never came): tried again a few times, then quarantined.
    REQUEST
        The request's: no repetition helps, quarantined at once.
    FATAL
        Every call would fail alike (no access, no such model, no credit): the job stops.
    """

    NONE = 0
    SERVICE = 1
    REPLY = 2
    REQUEST = 3
    FATAL = 4


_SERVICE = {"rate_limited", "connect_failed", "dropped", "bad_body", "http_408", "http_409", "http_425"}
_REQUEST = {CONTEXT_EXCEEDED, SERVER_TRUNCATED, "invalid_request", "provider_failed"}
_FATAL = {"http_401", "http_402", "http_403", "http_404", "quota", SERVED_MODEL_CHANGED, VALIDATOR_FAILED}
# Failures that the provider tells from the answer itself; other kinds are a validator's view of its words.
_NO_WORDS = {"timeout", "length", "refusal", "content_filter", "empty_choices"}

_MEANING = {
    "rate_limited": "the server asked for fewer calls",
    "connect_failed": "no connection to the server",
    "dropped": "the connection broke before the reply was whole",
    "bad_body": "the server's answer was not whole JSON of the chat protocol",
    "timeout": "no reply within the time limit",
    "length": "the reply was cut off at the limit of output tokens",
    "refusal": "the model refused",
    "content_filter": "the service's filter held the reply back",
    "empty_choices": "the server's answer held no reply",
    "empty_reply": "the reply was empty",
    CONTEXT_EXCEEDED: "prompt plus max_tokens are more than the model's context; lower max_tokens in the profile",
    SERVER_TRUNCATED: "the server counted far fewer prompt tokens than were sent: it cut the prompt",
    "invalid_request": "the request cannot be sent",
    "quota": "the account has no credit left",
    "provider_failed": "the provider itself failed",
    VALIDATOR_FAILED: "the check of the reply itself failed",
    NOT_IN_LOG: "never asked",
    "http_401": "the key is missing or wrong",
    "http_402": "the account has no credit left",
    "http_403": "the key may not use this model or server",
    "http_404": "no such model or address",
    SERVED_MODEL_CHANGED: "another model answered than before in this job",
    "invalid_json": "the reply is not JSON",
    "wrong_keys": "the reply's JSON has other keys or types than asked for",
    "not_finite": "the reply holds NaN or an infinite number",
    "out_of_range": "a number in the reply is outside its range",
    "control_characters": "the reply holds control characters, as where LaTeX commands were eaten",
    "wrong_length": "a text or list in the reply is too short or too long",
    "wrong_choice": "the reply is none of the choices",
    "too_long": "the core idea has too many words",
    "equations": "the core idea holds an equation",
    "empty_core_idea": "the core idea is empty although the flag says that there is one",
    "flag_with_idea": "there is a core idea although the flag says that there is none",
    "no_boxed_answer": "the reply gives no boxed answer",
    "boxed_answer_of_wrong_form": "the last box does not hold just an answer",
}


def fault(kind: str | None) -> Fault:
    """Say whose fault a failure of `kind` is; kinds a job invents are the reply's."""
    if kind is None:
        return Fault.NONE
    if kind in _SERVICE or kind.startswith(("http_5", "batch_")):
        return Fault.SERVICE
    if kind in _FATAL or kind.startswith("http_3"):
        return Fault.FATAL
    if kind in _REQUEST or kind.startswith("http_4"):
        return Fault.REQUEST
    return Fault.REPLY


def is_of_form(kind: str | None) -> bool:
    """Say whether `kind` is a validator's verdict, which may change when its rules do."""
    if kind in (None, VALIDATOR_FAILED):
        return True
    return fault(kind) is Fault.REPLY and kind not in _NO_WORDS


def meaning(kind: str) -> str:
    """Return a few plain words for `kind`."""
    if kind in _MEANING:
        return _MEANING[kind]
    return f"the server answered with status {kind[5:]}" if kind.startswith("http_") else kind.replace("_", " ")
