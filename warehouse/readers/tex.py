r"""TeX files with problem and solution environments, also under names that ``\newtheorem`` gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.readers.prose import Kind, Piece, pair
from warehouse.readers.records import Item, Limits, Note, Opened, RefusedError, Rejection
from warehouse.readers.text import decode, open_text

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(
        ("problem", "prob", "exercise", "ex", "question", "task", "aufgabe", "exercice", "problema"), "problem"
    ),
    **dict.fromkeys(("solution", "sol", "soln", "proof", "loesung", "solucion", "soluzione"), "solution"),
    **dict.fromkeys(("answer", "ans"), "answer"),
}
_NEW = re.compile(
    r"\\(?:newtheorem|newenvironment|declaretheorem(?:\[[^\]]*\])?)\*?\{(\w+)\*?\}(?:\[\w*\])?\{?([^}\n]*)"
)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_BEGIN = re.compile(r"\\begin\{(\w+)\*?\}(?:\[([^\]\n]*)\])?")
_LABEL = re.compile(r"\\label\{([^}\n]*)\}")
_INPUT = re.compile(r"\\(?:input|include)\{([^}\n]*)\}")


def read(opened: Opened, limits: Limits, encoding: str | None = None) -> Iterator[Item]:
    r"""Yield one row a problem; files drawn in by ``\input`` are named, not followed."""
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
    # Comments are blanked, not cut, so that line numbers stay true.
    text = _COMMENT.sub(r"\1", text.replace("\r\n", "\n"))
    for drawn in _INPUT.findall(text):
        yield Note(opened.name, None, "input", f"draws in {drawn!r}, which was not followed; name that file too")
    found, broken = pieces(text)
    for line, name in broken:
        detail = f"\\begin{{{name}}} is never closed"
        yield Rejection(opened.name, None, "cut", detail, line)
    yield from pair(opened.name, found)


def pieces(text: str) -> tuple[list[Piece], list[tuple[int, str]]]:
    """Cut a document into its problem, solution and answer environments; also those never closed."""
    kinds = _kinds(text)
    found: list[Piece] = []
    broken: list[tuple[int, str]] = []
    position = 0
    while (begin := _BEGIN.search(text, position)) is not None:
        name, position = begin[1], begin.end()
        kind = kinds.get(name.lower())
        if kind is None:
            continue
        line = text.count("\n", 0, begin.start()) + 1
        end = _end(text, name, begin.end())
        if end is None:
            broken.append((line, name))
            continue
        inner = text[begin.end() : end]
        label = _LABEL.search(inner)
        body = _LABEL.sub("", inner)
        if kind == "problem":
            body = _without_inner(body, kinds)  # and is found as the next piece
        else:
            position = end
        if body.strip():
            found.append(Piece(kind, body.strip(), line, None, begin[2] or (label[1] if label else None)))
    return found, broken


def _kinds(text: str) -> dict[str, Kind]:
    """Environment names of this document, its own theorem names included."""
    own: dict[str, Kind] = {}
    for name, shown in _NEW.findall(text):
        kind = _KINDS.get(re.sub(r"\W", "", shown).lower()) or _KINDS.get(name.lower())
        if kind:
            own[name.lower()] = kind
    return {**_KINDS, **own}


def _end(text: str, name: str, position: int) -> int | None:
    """Where the environment opened before ``position`` closes, nested ones of the same name counted."""
    depth = 1
    for found in re.finditer(rf"\\(begin|end)\{{{name}\*?\}}", text[position:]):
        depth += 1 if found[1] == "begin" else -1
        if depth == 0:
            return position + found.start()
    return None


def _without_inner(text: str, kinds: dict[str, Kind]) -> str:
    """A problem's text without the solutions and answers that stand inside it."""
    position = 0
    while (begin := _BEGIN.search(text, position)) is not None:
        position = begin.end()
        if kinds.get(begin[1].lower()) in ("solution", "answer"):
            end = _end(text, begin[1], begin.end())
            close = text.find("}", end) + 1 if end is not None else len(text)
            text, position = text[: begin.start()] + text[close:], begin.start()
    return text
