"""Windows of a document: as many lines as one question holds, cut where a paragraph ends."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.documents import Document

LINES, CHARACTERS, CONTEXT = 300, 24_000, 12


@dataclass(frozen=True)
class Window:
    """Lines ``first`` to ``last`` of a document, to be cut in one question, shown from ``shown`` on."""

    document: Document
    first: int
    last: int
    shown: int

    @property
    def numbered(self) -> str:
        """The lines as they are shown, each behind its number."""
        width = len(str(self.last))
        lines = self.document.lines[self.shown - 1 : self.last]
        return "\n".join(f"{number:>{width}}| {line}" for number, line in enumerate(lines, start=self.shown))

    @property
    def is_first(self) -> bool:
        """Whether nothing stands before it."""
        return self.first == 1


def windows(
    document: Document, max_lines: int = LINES, max_characters: int = CHARACTERS, context: int = CONTEXT
) -> list[Window]:
    """Cut a document into windows that cover every line once.

    Parameters
    ----------
    max_lines, max_characters
        Most lines and characters of a window, context apart; a longer single line is a window by itself.
    context
        Lines before a window that are shown with it.

    Notes
    -----
    A window ends before a heading or at an empty line of its last third where there is one.
    """
    cut: list[Window] = []
    first, total = 1, len(document.lines)
    while first <= total:
        last = _furthest(document, first, max_lines, max_characters)
        if last < total:
            last = _parting(document, first, last)
        cut.append(Window(document, first, last, max(1, first - context)))
        first = last + 1
    return cut


def _furthest(document: Document, first: int, max_lines: int, max_characters: int) -> int:
    last, room = first, max_characters - len(document.lines[first - 1])
    while last < len(document.lines) and last - first + 1 < max_lines:
        room -= len(document.lines[last]) + 1
        if room < 0:
            break
        last += 1
    return last


def _parting(document: Document, first: int, last: int) -> int:
    earliest = last - (last - first) // 3
    for line in range(last, earliest, -1):
        if document.lines[line].lstrip().startswith(("#", "\\section", "\\begin{problem")):
            return line
    for line in range(last, earliest, -1):
        if not document.lines[line - 1].strip():
            return line
    return last
