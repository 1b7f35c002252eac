"""Markdown documents with headings or bold lead-ins such as "## Problem 3" and "**Solution.**"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.readers.prose import Kind, Piece, pair
from warehouse.readers.records import Item, Limits, Note, Opened, RefusedError
from warehouse.readers.text import decode, open_text

_KINDS: dict[Kind, str] = {
    "problem": "problem|exercise|question|aufgabe|problème|exercice|problema|ejercicio|задача|题目|问题|問題",
    "solution": "solution|proof|lösung|beweis|démonstration|solución|soluzione|solução|решение|解答|解|证明|証明",
    "answer": "answer|antwort|réponse|respuesta|risposta|ответ|答案|答",
}
_LEAD = re.compile(
    r"^[ \t]*(?P<mark>\#{1,6}[ \t]+|\*\*|__)[ \t]*(?:\*\*|__)?"
    rf"(?:{'|'.join(f'(?P<{kind}>{words})' for kind, words in _KINDS.items())})s?"
    r"(?!\w)[ \t]*(?:of|to|for|zu|de|of problem|to problem)?[ \t]*(?:problem|exercise)?"
    r"[ \t]*(?P<key>[A-Z]?\d{1,4}(?:[.-]\d{1,3})*[a-z]?)?"
    r"[ \t]*(?P<rest>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+\S[^\n]*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)


def read(opened: Opened, limits: Limits, encoding: str | None = None) -> Iterator[Item]:
    """Yield one row a problem; other headings end a piece, code fences are never searched."""
    handle, _, remark = open_text(opened.path, limits, encoding)
    with handle:
        data = handle.read(limits.document_bytes + 1)
    if len(data) > limits.document_bytes:
        raise RefusedError(f"a document of more than {limits.document_bytes} bytes; split it")
    if remark:
        yield Note(opened.name, None, "encoding", remark)
    text, bad = decode(data)
    if bad is not None:
        yield Note(opened.name, None, "encoding", f"not UTF-8 from byte {bad} on, read as Windows-1252", None, bad)
    yield from pair(opened.name, pieces(text.replace("\r\n", "\n")))


def pieces(text: str) -> Iterator[Piece]:
    """Cut a document at its lead-ins."""
    fences = [found.span() for found in _FENCE.finditer(text)]
    leads = [lead for lead in _LEAD.finditer(text) if _is_lead(lead) and not _inside(lead.start(), fences)]
    starts = {lead.start() for lead in leads}
    others = [
        h.start() for h in _HEADING.finditer(text) if h.start() not in starts and not _inside(h.start(), fences)
    ]
    stops = sorted([*starts, *others, len(text)])
    for lead in leads:
        stop = next(place for place in stops if place > lead.start())
        rest = lead["rest"].strip().removeprefix("**").removeprefix("__").lstrip(".:)-–— \t*_")
        is_heading = lead["mark"].startswith("#")
        body = text[lead.end() : stop].strip()
        kind = next(kind for kind in _KINDS if lead[kind])
        title = rest.strip("()*_ ") if is_heading and body else None
        whole = body if title is not None else f"{rest}\n{body}".strip()
        if whole:
            yield Piece(kind, whole, text.count("\n", 0, lead.start()) + 1, lead["key"], title or None)


def _is_lead(lead: re.Match[str]) -> bool:
    """Bold words lead in only when the bold ends or a number or stop follows; "**Problem solving**" is text."""
    rest = lead["rest"]
    if lead["mark"].startswith("#"):
        return bool(lead["key"]) or not rest.strip("*_ ") or rest.lstrip("*_ ")[0] in ".:(-–—"
    return bool(re.match(r"[ \t]*(?:\([^)\n]*\))?[ \t]*[.:)]?[ \t]*(?:\*\*|__)", rest))


def _inside(place: int, spans: list[tuple[int, int]]) -> bool:
    return any(begin <= place < end for begin, end in spans)
