"""Bytes to text: byte order marks, encodings, line ends, and characters that do not belong in text."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from warehouse.readers.records import Limits, RefusedError

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# Tab, line feed and carriage return belong in text; every other C0 control and lone surrogates do not.
_FOREIGN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# JSON reads an unescaped \\frac as form feed + "rac": control character -> the letter that was eaten and the
# rests that betray the command. Form feed, backspace, bell and vertical tab never occur in honest text; tab,
# line feed and carriage return do, so for those only rests that begin no English word count.
REST_OF_COMMAND = {
    "\f": ("f", "rac|orall|box|ootnotesize|lat|loor"),
    "\b": ("b", "eta|egin|inom|ar|oxed|mod|ig|igl|igr|igg|ullet|ecause|ot|f|igcup|igcap|oldsymbol|ackslash"),
    "\a": ("a", "lpha|ngle|pprox|st|rcsin|rccos|rctan|rg"),
    "\v": ("v", "ec|ert|arphi|arepsilon|space|dots|ee"),
    "\t": ("t", r"ext(?=[{a-z])|imes(?![a-z])|heta(?![a-z])|riangle|frac|au(?![a-z])"),
    "\n": ("n", r"abla(?![a-z])|eq(?=\s*[0-9\\])"),
    "\r": ("r", r"ho(?![a-z])|ight(?=[\\)}|\]])|angle(?![a-z])|floor(?![a-z])|ceil(?![a-z])|brace(?![a-z])"),
}
LOST_BACKSLASH = re.compile("|".join(f"{re.escape(sign)}(?:{rests})" for sign, (_, rests) in REST_OF_COMMAND.items()))
_SURROGATE = re.compile("[\ud800-\udfff]")


class Line(NamedTuple):
    """One line: its number from 1, where it begins, its bytes (None: too long), whether an end follows."""

    number: int
    offset: int
    data: bytes | None
    ended: bool


def guess_encoding(head: bytes) -> str | None:
    """Encoding that a byte order mark or a pattern of zero bytes gives away; None for plain bytes."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    sample = head[:4096]
    if sample and b"\x00" in sample:
        even, odd = sample[0::2].count(0), sample[1::2].count(0)
        half = len(sample) // 2
        if odd > half * 0.4 and even < half * 0.05:
            return "utf-16-le"
        if even > half * 0.4 and odd < half * 0.05:
            return "utf-16-be"
    return None


def decode(data: bytes, encoding: str | None = None) -> tuple[str, int | None]:
    """Decode ``data``; where it is not valid UTF-8, read it as Windows-1252/Latin-1 and say where it broke.

    Returns
    -------
    tuple of (str, int or None)
        The text and the position of the first byte that is no valid UTF-8 (None when all is well).
    """
    name = encoding or "utf-8"
    try:
        return data.decode(name), None
    except UnicodeDecodeError as error:
        bad = error.start
    try:
        return data.decode("cp1252"), bad
    except UnicodeDecodeError:
        return data.decode("latin-1"), bad


def open_text(path: Path, limits: Limits, encoding: str | None) -> tuple[IO[bytes], int, str | None]:
    """Open a text file as bytes whose lines end in a line feed.

    Returns
    -------
    handle, offset, remark
        ``offset`` is the length of a skipped byte order mark; ``remark`` names an encoding or line end
        that was changed on the way (offsets then refer to the changed bytes).

    Raises
    ------
    RefusedError
        When the file has to be changed as a whole and is larger than ``limits.document_bytes``.
    """
    handle = path.open("rb")
    head = handle.read(65_536)
    found = encoding or guess_encoding(head)
    bare_returns = b"\n" not in head and head.count(b"\r") > 1
    wide = found is not None and codecs.lookup(found).name not in ("utf-8", "utf-8-sig")
    if wide or bare_returns:
        with handle:
            handle.seek(0)
            data = handle.read(limits.document_bytes + 1)
        if len(data) > limits.document_bytes:
            raise RefusedError(f"larger than {limits.document_bytes} bytes and not UTF-8 with line feeds")
        text = data.decode(found, errors="replace") if wide and found else decode(data)[0]
        text = text.replace("\r\n", "\n").replace("\r", "\n") if bare_returns or "\n" not in text else text
        remark = f"read as {found}" if wide else "lines end in carriage returns alone"
        return io.BytesIO(text.removeprefix("\ufeff").encode("utf-8", "replace")), 0, remark
    offset = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    handle.seek(offset)
    return handle, offset, None


def lines(handle: IO[bytes], offset: int, limits: Limits) -> Iterator[Line]:
    """Yield the lines of ``handle``; one longer than the limit is passed over without being held."""
    number = 0
    while True:
        data = handle.readline(limits.record_bytes + 1)
        if not data:
            return
        number += 1
        length, ended = len(data), data.endswith(b"\n")
        too_long = not ended and length > limits.record_bytes
        while too_long and not ended:
            more = handle.readline(1 << 20)
            if not more:
                break
            length, ended = length + len(more), more.endswith(b"\n")
        yield Line(number, offset, None if too_long else data, ended)
        offset += length


def foreign_characters(value: Any) -> str | None:
    """Name what does not belong in text: control characters and backslashes lost in unescaped JSON."""
    for text in _texts(value):
        lost = LOST_BACKSLASH.search(text)
        if lost:
            return f"a backslash was lost before {lost.group().strip()[:12]!r} ({_shown(lost.group()[0])})"
        found = _FOREIGN.search(text)
        if found:
            return f"control character {_shown(found.group())} at character {found.start()}"
    return None


def without_surrogates(value: Any) -> Any:
    """Replace lone surrogates, which no UTF-8 file can hold, by U+FFFD."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)


def _shown(character: str) -> str:
    return f"U+{ord(character):04X}"
