"""A document as numbered lines, whatever it was before."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warehouse.documents.pdf import Converter, Page, TextLayer
from warehouse.errors import SaberError
from warehouse.identity import content_hash
from warehouse.readers.files import find_files
from warehouse.readers.packed import packing
from warehouse.readers.records import DEFAULT_LIMITS, Limits, RefusedError, SkippedFile
from warehouse.readers.text import decode, guess_encoding, open_text

FORMATS = {
    ".md": "markdown", ".markdown": "markdown", ".mmd": "markdown", ".tex": "tex", ".txt": "text", ".pdf": "pdf",
}  # fmt: skip


@dataclass(frozen=True)
class Document:
    """A document of numbered lines.

    Attributes
    ----------
    name
        File name, with the folders below the one that was given.
    stem
        What the ids of its problems begin with.
    format
        ``markdown``, ``tex``, ``text`` or ``pdf``.
    lines
        Its lines without line ends; line numbers count from 1.
    page_starts
        Line at which each page begins; empty where there are no pages.
    notes
        What had to be done to read it, and what could not be read (pages without text).
    blank_pages
        Numbers of the pages that a converter found no text on.
    """

    name: str
    stem: str
    format: str
    lines: tuple[str, ...]
    page_starts: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    blank_pages: tuple[int, ...] = ()
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", content_hash(self.text))

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)

    def cut(self, first: int, last: int) -> str:
        """Lines ``first`` to ``last``, both included, from 1.

        Raises
        ------
        ValueError
            When the document has no such lines.
        """
        if not 1 <= first <= last <= len(self.lines):
            raise ValueError(f"{self.name} has lines 1 to {len(self.lines)}, not {first} to {last}")
        return "\n".join(self.lines[first - 1 : last])

    def page(self, line: int) -> int | None:
        """The page a line stands on, from 1; None where there are no pages."""
        return bisect_right(self.page_starts, line) or None if self.page_starts else None


def open_documents(
    paths: Sequence[str | Path],
    glob: str | None = None,
    converter: Converter | None = None,
    limits: Limits = DEFAULT_LIMITS,
    encoding: str | None = None,
) -> Iterator[Document | SkippedFile]:
    """Open every document the paths stand for, in a fixed order.

    Parameters
    ----------
    converter
        How PDF becomes Markdown; the text layer when not given.

    Raises
    ------
    SaberError
        For a path that does not exist, and when PDF is to be read and the extra that does it is not installed.
    """
    for found in find_files(paths, glob):
        if isinstance(found, SkippedFile):
            yield found
        else:
            yield _open(found, converter, limits, encoding)


def from_pages(name: str, stem: str, pages: Sequence[Page], notes: Sequence[str] = ()) -> Document:
    """Put pages into one document, a comment with its number at the head of each."""
    lines: list[str] = []
    starts, blank = [], []
    for page in pages:
        starts.append(len(lines) + 1)
        lines.append(f"<!-- page {page.number} -->")
        if page.markdown is None or not page.markdown.strip():
            blank.append(page.number)
            continue
        lines += _lines(page.markdown)
    return Document(name, stem, "pdf", tuple(lines), tuple(starts), tuple(notes), tuple(blank))


def _open(path: Path, converter: Converter | None, limits: Limits, encoding: str | None) -> Document | SkippedFile:
    name, stem = path.name, path.stem
    try:
        with path.open("rb") as handle:
            head = handle.read(4096)
        if head.startswith(b"%PDF-"):
            chosen = converter or TextLayer()
            pages = list(chosen.pages(path))
            return from_pages(name, stem, pages, (f"turned into Markdown by {chosen.name}",))
        kind = FORMATS.get(path.suffix.lower())
        if kind is None:
            return SkippedFile(name, f"no document ({', '.join(sorted(FORMATS))})")
        packed = packing(head)
        if packed or kind == "pdf" or (b"\x00" in head and not (encoding or guess_encoding(head))):
            what = packed or "binary data"
            return SkippedFile(name, f"{what} under the name of a {kind} document", refused=True)
        return _text(path, name, stem, kind, limits, encoding)
    except RefusedError as refusal:
        return SkippedFile(name, str(refusal), refused=True)
    except OSError as error:
        return SkippedFile(name, f"cannot be opened: {error.strerror or error}", refused=True)
    except LookupError as error:
        raise SaberError(f"{error}. Name an encoding that Python knows, such as utf-8 or cp1251.") from error


def _text(
    path: Path, name: str, stem: str, kind: str, limits: Limits, encoding: str | None
) -> Document | SkippedFile:
    handle, offset, remark = open_text(path, limits, encoding)
    with handle:
        data = handle.read(limits.document_bytes + 1)
    if len(data) > limits.document_bytes:
        raise RefusedError(f"a document of more than {limits.document_bytes} bytes; split it")
    text, bad = decode(data)
    notes = [remark] if remark else []
    if bad is not None:
        notes.append(f"not UTF-8 at byte {offset + bad}, read as Windows-1252; name --encoding if that is wrong")
    if not text.strip():
        return SkippedFile(name, "the file is empty")
    return Document(name, stem, kind, tuple(_lines(text)), notes=tuple(notes))


def _lines(text: str) -> list[str]:
    # Not splitlines(): it would also break at form feeds and at U+2028, which editors count as part of a line.
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
