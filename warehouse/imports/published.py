"""SABER-Math as released: queries whose candidates are 0-based row positions in the documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from warehouse.errors import SaberError
from warehouse.imports.records import Faulty, Record
from warehouse.readers import Rejection, Row, SkippedFile, open_files

_DATA = (".parquet", ".jsonl", ".json", ".csv", ".tsv")


def parts_of(paths: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """Return (files of queries, files of documents), each in the order of names, which is the order of rows.

    Raises
    ------
    SaberError
        When a file is named like neither.
    """
    found: dict[str, list[Path]] = {"quer": [], "document": []}
    for given in paths:
        path = Path(given).expanduser()
        if not path.exists():
            raise SaberError(f"{given} does not exist. Check the path.")
        files = sorted(one for one in path.rglob("*") if one.suffix.lower() in _DATA) if path.is_dir() else [path]
        for file in files:
            told = str(file.relative_to(path.parent)).lower()
            role = next((role for role in ("document", "quer") if role in told), None)
            if role is None:
                raise SaberError(f"{file} is named neither queries nor documents. Rename it, or name the two files.")
            found[role].append(file)
    return found["quer"], found["document"]


def qrels(files: Sequence[Path], origins: dict[Path, str], source: str) -> Iterator[Record | Faulty]:
    """Yield a record a query and candidate; query n is ``source/query:n``, document n ``source/document:n``."""
    position = -1
    for file in files:
        for reading in open_files([file]):
            if isinstance(reading, SkippedFile):
                raise SaberError(f"{reading}.")
            for item in reading.items:
                if isinstance(item, Rejection):
                    # A query that cannot be read would shift the numbers of all later ones.
                    raise SaberError(f"{item}. Positions count rows, so every row must be readable.")
                if isinstance(item, Row):
                    position += 1
                    yield from _pairs(item, position, origins[file], source)


def _pairs(row: Row, position: int, origin: str, source: str) -> Iterator[Record | Faulty]:
    place = f"{row.file} row {row.number}"
    candidates, scores = row.fields.get("candidates"), row.fields.get("relevance_scores")
    if not isinstance(candidates, list) or not isinstance(scores, list):
        yield Faulty(place, "candidates and relevance_scores must be lists")
        return
    if len(candidates) != len(scores):
        yield Faulty(place, f"{len(candidates)} candidates but {len(scores)} relevance_scores")
        return
    for candidate, score in zip(candidates, scores, strict=True):
        if not _is_position(candidate):
            yield Faulty(place, f"candidate {candidate!r} is no row position (0, 1, 2, ...)")
            continue
        yield Record(
            origin,
            f"{place} candidate {int(candidate)}",
            {
                "query_id": f"{source}/query:{position}",
                "document_id": f"{source}/document:{int(candidate)}",
                "relevance": score,
            },
        )


def _is_position(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == int(value) and value >= 0
