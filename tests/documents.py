"""A PDF written by hand: text with sizes and shifts at places, so that no library that makes PDFs is needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def write_pdf(path: Path, pages: Sequence[str]) -> Path:
    """Write a PDF whose pages have these content streams (font F1 is Helvetica)."""
    objects = [b"", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids = []
    for content in pages:
        stream = content.encode("latin-1")
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
            % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[0] = b"<</Type/Catalog/Pages 2 0 R>>"
    objects[1] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(kids), b" ".join(kids))
    written, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    written += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    written += b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    path.write_bytes(written)
    return path


def lines_of_text(lines: Sequence[str]) -> str:
    """A page with these lines, 16 points apart."""
    return "BT /F1 12 Tf 50 800 Td " + " ".join(f"({line}) Tj 0 -16 Td" for line in lines) + " ET"
