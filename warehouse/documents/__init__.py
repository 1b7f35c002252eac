"""Documents that people wrote: Markdown, TeX and plain text as they stand, PDF turned into Markdown page by page.

:func:`open_documents` is the entrance: paths, folders and patterns in, :class:`Document` or ``SkippedFile`` out.
"""

from warehouse.documents.document import Document, open_documents
from warehouse.documents.pdf import CONVERTERS, Converter, Page, converter_named

__all__ = ["CONVERTERS", "Converter", "Document", "Page", "converter_named", "open_documents"]
