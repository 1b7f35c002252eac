r"""Reading ``\boxed{…}`` answers: the last one outside the reasoning block counts, and nothing else does."""

from __future__ import annotations

import re

from annotate.calls.validate import strip_reasoning
from annotate.providers.base import Reply

_BOXED = re.compile(r"\\boxed\s*(\{)")
_WRAPPED = re.compile(r"\\(?:text|textbf|mathbf|mathrm|bf)\s*\{\s*(.*?)\s*\}", re.DOTALL)
_WHOLE_NUMBER = re.compile(r"[0-9]{1,3}")


class NoAnswer(ValueError):  # noqa: N818 - says something about a reply, not about the program
    """A reply without a usable answer; the text says why in a few words."""


def last_boxed_number(reply: Reply, lowest: int, highest: int) -> int:
    r"""Return the whole number in the last box of a reply.

    The reply alone is read, never the texts that were judged, so an answer written into a problem decides
    nothing. A reply that was cut off has no last answer: boxes in its beginning may be quotations.

    Parameters
    ----------
    reply
        The model's reply.
    lowest, highest
        The range of the answer, both included.

    Raises
    ------
    NoAnswer
        When the call failed, the reply was cut off, ends inside its reasoning, has no box after it, or its
        last box holds anything but a whole number in range (``\boxed{\text{1}}`` is read as 1).
    """
    if reply.error is not None:
        raise NoAnswer(reply.error)
    if reply.finish_reason == "length":
        raise NoAnswer("length")
    text = strip_reasoning(reply.text or "")
    if not text.strip():
        raise NoAnswer("empty_reply")
    boxes = list(_BOXED.finditer(text))
    if not boxes:
        raise NoAnswer("no_boxed_answer")
    content = _braced(text, boxes[-1].start(1)).strip()
    wrapped = _WRAPPED.fullmatch(content)
    if wrapped:
        content = wrapped[1]
    if not _WHOLE_NUMBER.fullmatch(content):
        raise NoAnswer("boxed_answer_of_wrong_form")
    number = int(content)
    if not lowest <= number <= highest:
        raise NoAnswer("out_of_range")
    return number


def _braced(text: str, start: int) -> str:
    """Return what stands between the brace at `start` and its partner."""
    depth = 0
    for position in range(start, len(text)):
        if text[position] == "{":
            depth += 1
        elif text[position] == "}":
            depth -= 1
            if not depth:
                return text[start + 1 : position]
    raise NoAnswer("boxed_answer_of_wrong_form")
