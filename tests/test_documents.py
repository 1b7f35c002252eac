"""Documents as numbered lines: text files as they stand, PDF by its text layer or by an installed converter."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tests.documents import lines_of_text, write_pdf
from warehouse.cli import main
from warehouse.documents import Document, Page, converter_named, open_documents
from warehouse.documents.text_layer import Glyph, as_text
from warehouse.errors import SaberError
from warehouse.readers.records import Limits, SkippedFile


def opened(path: Path, **options) -> Document:
    (found,) = open_documents([path], **options)
    assert isinstance(found, Document), found
    return found


def refused(path: Path, **options) -> SkippedFile:
    (found,) = open_documents([path], **options)
    assert isinstance(found, SkippedFile)
    return found


def test_lines_are_those_an_editor_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes("\ufeff# One\r\n\r\nform\x0cfeed\u2028same line\r\nlast".encode())
    document = opened(path)
    assert document.lines == ("# One", "", "form\x0cfeed\u2028same line", "last")
    assert document.cut(3, 4) == "form\x0cfeed\u2028same line\nlast"
    assert (document.format, document.stem, document.page(2)) == ("markdown", "a", None)
    for first, last in ((0, 1), (2, 1), (4, 5)):
        with pytest.raises(ValueError, match="lines 1 to 4"):
            document.cut(first, last)


def test_other_encodings_are_said(tmp_path: Path) -> None:
    path = tmp_path / "a.tex"
    path.write_bytes("Für".encode("cp1252"))
    document = opened(path)
    assert document.lines == ("Für",)
    assert "not UTF-8 at byte 1" in document.notes[0]
    path.write_bytes("Задача".encode("cp1251"))
    assert opened(path, encoding="cp1251").lines == ("Задача",)
    path.write_bytes("Für".encode("utf-16"))
    assert opened(path).lines == ("Für",)
    with pytest.raises(SaberError, match="encoding"):
        opened(path, encoding="no-such")


def test_what_is_no_document_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    assert not refused(tmp_path / "a.png").refused
    for name, content, reason in (
        ("a.md", b"PK\x03\x04", "zip"),
        ("b.md", b"\x00\x01\x02" * 9, "binary"),
        ("c.pdf", b"<html>not a PDF", "binary data under the name of a pdf"),
        ("d.pdf", b"%PDF-1.4 and nothing else", "no readable PDF"),
    ):
        (tmp_path / name).write_bytes(content)
        found = refused(tmp_path / name)
        assert found.refused
        assert reason in found.reason
    (tmp_path / "long.txt").write_text("x" * 100)
    assert "split it" in refused(tmp_path / "long.txt", limits=Limits(document_bytes=10)).reason
    (tmp_path / "empty.md").write_text(" \n")
    assert not refused(tmp_path / "empty.md").refused


def glyphs(text: str, x: float, y: float, height: float) -> Iterator[Glyph]:
    for place, sign in enumerate(text):
        left = x + place * height / 2
        yield Glyph(sign, left, y, left + height / 2, height)


def test_raised_and_lowered_characters_are_marked() -> None:
    line = [*glyphs("x", 0, 0, 12), *glyphs("10", 6, 5, 8), *glyphs("+a", 14, 0, 12), *glyphs("i", 26, -2, 8)]
    assert as_text(line) == "x^{10}+a_{i}"
    # A raised number before the text (a footnote's), and a whole line in small letters, which is no exponent.
    assert as_text([*glyphs("1", 0, 5, 8), *glyphs("See", 4, 0, 12)]) == "^{1}See"
    assert as_text([*glyphs("big", 0, 0, 12), *glyphs("small print", 0, -14, 8)]) == "big\nsmall print"


def test_lines_gaps_and_paragraphs_of_a_page() -> None:
    words = (("one", 0, 0), ("two", 30, 0), ("next", 0, -14), ("far", 0, -60))
    page = [glyph for text, x, y in words for glyph in glyphs(text, x, y, 10)]
    assert as_text(page) == "one two\nnext\n\nfar"
    assert as_text([]) == ""


def test_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2")
    power = "BT /F1 12 Tf 50 700 Td (Solve x) Tj /F1 8 Tf 5 Ts (2) Tj 0 Ts /F1 12 Tf ( = 4.) Tj ET"
    document = opened(write_pdf(tmp_path / "a.pdf", [power, "", lines_of_text(["Third page", "goes on"])]))
    assert document.lines == (
        "<!-- page 1 -->", "Solve x^{2} = 4.", "<!-- page 2 -->", "<!-- page 3 -->", "Third page", "goes on",
    )  # fmt: skip
    assert document.page_starts == (1, 3, 4)
    assert [document.page(line) for line in (1, 2, 3, 4, 6)] == [1, 1, 2, 3, 3]
    assert document.blank_pages == (2,)
    assert document.notes == ("turned into Markdown by text-layer-1",)
    (tmp_path / "named.md").write_bytes((tmp_path / "a.pdf").read_bytes())
    assert opened(tmp_path / "named.md").format == "pdf"  # told by its bytes, not by its name


def test_without_the_extra_the_message_says_what_to_install(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.pdf", [lines_of_text(["x"])])
    script = (
        "import sys; sys.modules['pypdfium2'] = None\n"
        "from warehouse.cli import main\n"
        f"sys.exit(main(['source', 'markdown', {str(tmp_path / 'a.pdf')!r}, '--out', {str(tmp_path / 'out')!r}]))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "saber-warehouse[pdf]" in result.stderr
    assert "Traceback" not in result.stderr


class Reader:
    """A converter as a package of the user's would offer it."""

    name = "reader-3"

    def pages(self, path: Path) -> Iterator[Page]:
        yield Page(1, f"# Read from {path.name}\n\nProblem 1. Add.")


class Broken:
    """A converter that cannot start."""

    def __init__(self) -> None:
        raise RuntimeError("no key")


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        EntryPoint("reader", f"{__name__}:Reader", "saber.ocr"),
        EntryPoint("broken", f"{__name__}:Broken", "saber.ocr"),
    ]
    monkeypatch.setattr("warehouse.documents.pdf.entry_points", lambda group: points if group == "saber.ocr" else [])


@pytest.mark.usefixtures("offered")
def test_an_installed_converter_is_chosen_by_its_name(tmp_path: Path) -> None:
    document = opened(write_pdf(tmp_path / "a.pdf", [""]), converter=converter_named("reader"))
    assert document.lines == ("<!-- page 1 -->", "# Read from a.pdf", "", "Problem 1. Add.")
    assert document.notes == ("turned into Markdown by reader-3",)
    assert converter_named(None).name == "text-layer-1"
    with pytest.raises(SaberError, match="no key"):
        converter_named("broken")
    # A name is looked up among installed packages; it is never imported.
    with pytest.raises(SaberError, match="known: broken, reader"):
        converter_named("os:system")


@pytest.mark.usefixtures("offered")
def test_markdown_files_are_written_to_be_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pypdfium2")
    source = write_pdf(tmp_path / "contest.pdf", [lines_of_text(["Problem 1.", "Add."])])
    (tmp_path / "notes.md").write_text("Problem 2\n")
    assert main(["source", "markdown", str(tmp_path), "--out", str(tmp_path / "out"), "--glob", "*.*"]) == 0
    assert (tmp_path / "out" / "contest.md").read_text() == "<!-- page 1 -->\nProblem 1.\nAdd.\n"
    assert "it is markdown already" in capsys.readouterr().err
    assert main(["source", "markdown", str(source), "--out", str(tmp_path / "read"), "--ocr", "reader"]) == 0
    assert "Read from contest.pdf" in (tmp_path / "read" / "contest.md").read_text()
    scanned = write_pdf(tmp_path / "scan.pdf", [""])
    assert main(["source", "markdown", str(scanned), "--out", str(tmp_path / "out")]) == 1
    assert "no text on page 1" in capsys.readouterr().err
