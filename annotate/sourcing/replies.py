"""Reading replies of sourcing: texts in named sections, and objections that are put to the model once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from annotate.calls.validate import InvalidReply, strip_reasoning
from annotate.providers.base import Request

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_FENCED = re.compile(r"```[a-z]*[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


class Objection(ValueError):  # noqa: N818 - a verdict on a reply, not a fault of the program
    """A well-formed reply that a check does not let pass; ``kind`` names it, the text says what to mend."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def written_sections(texts: Mapping[str, str]) -> str:
    """Write texts as sections, each between its tags on lines of their own."""
    return "\n".join(f"<{name}>\n{text.strip()}\n</{name}>" for name, text in texts.items())


def read_sections(reply: str | None, names: Sequence[str]) -> dict[str, str]:
    """Read a reply that holds exactly the sections ``names`` in their order, and nothing else.

    Plain text between tags is asked for instead of JSON, because LaTeX in JSON loses its backslashes.

    Raises
    ------
    InvalidReply
        ``empty_reply``, ``wrong_sections`` (missing, twice, in another order, words around them) or
        ``control_characters``.
    """
    text = strip_reasoning(reply or "").strip()
    fenced = _FENCED.fullmatch(text)
    text = fenced[1].strip() if fenced else text
    if not text:
        raise InvalidReply("empty_reply", "nothing but white space or reasoning")
    if _CONTROL.search(text):
        raise InvalidReply("control_characters", "a control character where LaTeX was eaten")
    for name in names:
        for tag in (f"<{name}>", f"</{name}>"):
            if text.count(tag) != 1:
                raise InvalidReply("wrong_sections", f"{tag} stands {text.count(tag)} times, not once")
    pattern = r"\s*".join(rf"<{name}>[ \t]*\n(?P<{name}>.*?)\n?[ \t]*</{name}>" for name in names)
    found = re.fullmatch(pattern, text, re.DOTALL)
    if found is None:
        raise InvalidReply("wrong_sections", "the sections are not in order, or words stand around them")
    sections = {name: found[name].strip() for name in names}
    empty = [name for name, section in sections.items() if not section]
    if empty:
        raise InvalidReply("empty_reply", f"the section {', '.join(empty)} is empty")
    return sections


def corrected(request: Request, reply: str, objection: Objection, call_id: str) -> Request:
    """Ask again with the earlier reply and what was wrong with it; another call, which says what it corrects."""
    words = (
        f"This answer cannot be used: {objection}. Give the whole answer again, in the form asked for, with this "
        "mended and everything else as it was."
    )
    messages = (*request.messages, {"role": "assistant", "content": reply}, {"role": "user", "content": words})
    about = {**request.about, "corrects": call_id, "violation": objection.kind}
    return replace(request, messages=messages, about=about)
