"""Exports: the benchmark and its runs in the formats other tools read. One file a format, one registry."""

from __future__ import annotations

from collections.abc import Callable

from warehouse.exports import beir, huggingface, mteb, trec
from warehouse.exports.folder import ExportFolder
from warehouse.exports.request import ExportRequest

FORMATS: dict[str, Callable[[ExportFolder, ExportRequest], None]] = {
    "trec": trec.write,
    "beir": beir.write,
    "mteb": mteb.write,
    "hf": huggingface.write,
}

__all__ = ["FORMATS", "ExportRequest"]
