"""PDF to Markdown as an interface: a converter gives the pages of a file as Markdown.

The default reads the text layer (extra ``pdf``). Services that read images are not part of this project: a package
of yours offers one as an entry point, and ``--ocr NAME`` chooses it::

    [project.entry-points."saber.ocr"]
    my-service = "my_package.ocr:MyService"

where ``MyService()`` is a :class:`Converter`. Only installed packages are asked; a name never becomes an import.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from warehouse.errors import SaberError
from warehouse.readers.records import RefusedError

CONVERTERS = "saber.ocr"
"""The entry-point group of converters."""


@dataclass(frozen=True)
class Page:
    """One page: its number from 1, and its Markdown (None: nothing to be read on it)."""

    number: int
    markdown: str | None


class Converter(Protocol):
    """Turns a PDF into Markdown; ``name`` (with a version) lands with what was made of it."""

    name: str

    def pages(self, path: Path) -> Iterator[Page]:
        """Yield every page in order, also those without text.

        Raises
        ------
        RefusedError
            When the file cannot be read: locked, cut, no PDF.
        """
        ...


class TextLayer:
    """The text a PDF bears, line by line; pages that are images come without Markdown.

    Raised and lowered small characters become ``^{…}`` and ``_{…}``: without that x² would read x2. Fractions,
    roots and large operators lose their layout, as nothing in a text layer tells them.
    """

    name = "text-layer-1"

    def pages(self, path: Path) -> Iterator[Page]:
        """Yield the pages."""
        try:
            import pypdfium2
        except ImportError as error:
            raise SaberError(
                f"{path.name} is a PDF, which the extra 'pdf' reads. Install it: pip install 'saber-warehouse[pdf]'"
            ) from error
        from warehouse.documents.text_layer import page_text

        try:
            document = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as error:
            raise RefusedError(f"no readable PDF ({str(error).rstrip('.')}); locked, cut or foreign") from error
        try:
            for number in range(len(document)):
                yield Page(number + 1, page_text(document, number))
        finally:
            document.close()


def converter_named(name: str | None) -> Converter:
    """Return the text layer, or the converter that an installed package offers under ``name``.

    Raises
    ------
    SaberError
        For a name that nobody offers, and one whose package cannot be loaded.
    """
    if name is None:
        return TextLayer()
    found = {point.name: point for point in entry_points(group=CONVERTERS)}
    if name not in found:
        known = ", ".join(sorted(found)) or "none is installed"
        raise SaberError(
            f"No installed package offers a converter {name!r} (known: {known}). A package offers one as an entry "
            f"point of the group {CONVERTERS}."
        )
    try:
        converter: Converter = found[name].load()()
    except Exception as error:
        raise SaberError(f"The converter {name!r} cannot start: {error}. Look into its package.") from error
    return converter
