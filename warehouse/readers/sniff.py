"""What a file really is: told by its bytes, its name being a hint at most."""

from __future__ import annotations

from pathlib import Path

from warehouse.readers import delimited
from warehouse.readers.json_values import BadValueError, decode_at
from warehouse.readers.text import decode, guess_encoding

_HEAD = 1 << 20
_TEXT_BYTES = bytes((9, 10, 13, *range(32, 127), *range(128, 256)))
_LOOK = 1 << 18  # characters within which a record is looked for behind lines that are none
_LONGEST_HEADER = 1 << 16
_FEW, _SHARE = 3, 0.02
_DELIMITED = (".csv", ".tsv", ".tab")
_PROSE = (".md", ".markdown", ".tex", ".txt", ".log", ".rst", ".bib", ".py", ".sh", ".toml", ".yml", ".yaml")


def sniff(path: Path, name: str, names: frozenset[str], encoding: str | None = None) -> str:
    """Name the format of a file.

    Returns
    -------
    str
        ``parquet``, ``json-lines``, ``json``, ``delimited``, ``markup``, ``markdown``, ``tex``, ``pdf``,
        ``empty``, ``binary`` or ``text`` (none of these).
    """
    with path.open("rb") as handle:
        head = handle.read(_HEAD)
    if not head.strip():
        return "empty"
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"%PDF-"):
        return "pdf"
    found = encoding or guess_encoding(head)
    if found is None and _is_binary(head[:4096]) and not _opens_with_row(head, name.lower(), names):
        return "binary"
    text = _text(head, found).lstrip("\ufeff\x1e \t\r\n")
    if text[:1] in ("{", "["):
        return _json(text, len(head) < _HEAD)
    if _is_lines(text, name.lower()):
        return "json-lines"
    return _other(text, name.lower(), names)


def _is_binary(sample: bytes) -> bool:
    """Whether zeros and other control characters are more than the damage a text may have here and there."""
    if b"\x00" not in sample:
        return False
    return len(sample.translate(None, delete=_TEXT_BYTES)) > max(_FEW, len(sample) * _SHARE)


def _opens_with_row(head: bytes, name: str, names: frozenset[str]) -> bool:
    """Whether the first line is a JSON object or a header: zeros behind it are a hole, as a cut transfer leaves."""
    first = decode(head.partition(b"\n")[0])[0].strip().removeprefix("\ufeff")
    if name.endswith(_DELIMITED) and len(first) < _LONGEST_HEADER:
        delimiter = delimited.guess(first, names, name).delimiter
        return any(delimited.plain(cell.strip(' "')) in names for cell in first.split(delimiter))
    return _line_kind(first) == "object"


def _text(head: bytes, encoding: str | None) -> str:
    if encoding is None:
        # A multi-byte character may straddle the end of the head: cut at the last line end.
        return decode(head[: head.rfind(b"\n") + 1] or head)[0] if len(head) == _HEAD else decode(head)[0]
    return head.decode(encoding, errors="replace")


def _json(text: str, whole: bool) -> str:
    """JSON Lines when some line is an object by itself and it is not the whole file; else a document."""
    every = [line.strip() for line in text.splitlines() if line.strip()]
    if text[0] == "[":
        # A document's first line is its bracket or all of it; a list on a line before objects is one odd line.
        odd = len(every) > 1 and _is_value(every[0]) and any(_line_kind(line) == "object" for line in every[1:50])
        return "json-lines" if odd else "json"
    first = _line_kind(every[0])
    if len(every) == 1:
        # A single line without an end inside the head is a huge record, or a document on one line.
        return "json-lines" if first == "object" or (not whole and not _is_collection(text)) else "json"
    if first == "object" or any(_line_kind(line) == "object" for line in every[1:50]):
        return "json-lines"
    return "json"


def _is_lines(text: str, name: str) -> bool:
    """Whether lines that begin with no record are JSON Lines all the same: a number, string or remark came first.

    A name that says JSON is believed when a line is an object or the first one a value; other files need both.
    """
    if name.endswith((*_DELIMITED, ".md", ".markdown", ".tex")):
        return False
    first, *rest = [line.strip() for line in text[:_LOOK].splitlines() if line.strip()][:50] or [""]
    said = name.endswith((".json", ".jsonl", ".ndjson"))
    has_object = any(_line_kind(line) == "object" for line in rest)
    return ((said or has_object) and _is_value(first)) or (said and has_object)


def _is_value(line: str) -> bool:
    try:
        _, end = decode_at(line, 0)
    except BadValueError:
        return False
    return not line[end:].strip()


def _line_kind(line: str) -> str:
    if not line.startswith("{"):
        return "other"
    try:
        _, end = decode_at(line, 0)
    except BadValueError:
        return "broken"
    return "object" if not line[end:].strip() else "several"


def _is_collection(text: str) -> bool:
    """Whether a huge object on one line opens with an object or list as its first value."""
    return text[1:].partition(":")[2].lstrip()[:1] in ("{", "[")


def _other(text: str, name: str, names: frozenset[str]) -> str:
    if name.endswith(_DELIMITED):
        return "delimited"
    if name.endswith((".md", ".markdown")):
        return "markdown"
    if name.endswith(".tex") or "\\documentclass" in text[:5000]:
        return "tex"
    if text.startswith("<"):
        return "markup"
    if name.endswith(_PROSE):
        return "text"
    dialect = delimited.guess(text[: 1 << 18], names, name)
    first = text.splitlines()[0].split(dialect.delimiter)
    known = {delimited.plain(cell.strip(' "')) for cell in first} & names
    return "delimited" if len(first) > 1 and known else "text"
