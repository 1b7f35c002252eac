"""The call log: every attempt of every call to a model lands here before anything is parsed."""

from annotate.calls.log import Answer, CallLog
from annotate.calls.policy import Policy
from annotate.calls.progress import Counts
from annotate.calls.validate import InvalidReply, parse_choice, parse_structured, strict_json, structured

__all__ = [
    "Answer",
    "CallLog",
    "Counts",
    "InvalidReply",
    "Policy",
    "parse_choice",
    "parse_structured",
    "strict_json",
    "structured",
]
