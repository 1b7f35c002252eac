"""From paths to records: rows of any table, TREC files, BEIR and MTEB folders, our own exports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.errors import SaberError
from warehouse.exports.folder import digest, read_manifest
from warehouse.exports.ids import unescape
from warehouse.imports.kinds import Kind
from warehouse.imports.records import Faulty, Record
from warehouse.readers import DEFAULT_LIMITS, Note, Rejection, Row, SkippedFile, open_files
from warehouse.readers.delimited import plain
from warehouse.readers.packed import packing, plain_name, unpacked
from warehouse.schemas import TABLES

FORMATS = ("rows", "trec", "beir", "saber")
_TREC_FIELDS = {"qrels": 4, "runs": 6}
_REMARKS = 100  # lines before the first row in which comments may stand
_FOLDER_QRELS = ("qrels/{split}.tsv", "data/ratings.parquet", "data/default.parquet", "qrels/{split}.jsonl")


@dataclass(frozen=True)
class Part:
    """One file to read: how, with which ids, and what is known of all its rows."""

    path: Path
    form: str
    escaped: bool
    fields: Mapping[str, Any]


def plan(
    paths: Sequence[str], kind: str, form: str | None = None, escaped: bool = False, split: str = "test"
) -> list[Part]:
    """Return the files behind the paths.

    Parameters
    ----------
    kind
        Kind of rows wanted: qrels and runs may come in folders and TREC files.
    form
        One of :data:`FORMATS`, None to tell by the content.
    escaped
        Ids are percent-encoded as our exports write them; known by itself in an export's folder.
    split
        Which qrels of a BEIR or MTEB folder.

    Raises
    ------
    SaberError
        For a path that does not exist or a folder without rows of the kind.
    """
    parts: list[Part] = []
    for given in paths:
        path = Path(given).expanduser()
        if not path.exists():
            raise SaberError(f"{given} does not exist. Check the path.")
        if path.is_dir():
            parts += _folder(path, kind, form, escaped, split)
        else:
            parts.append(_file(path, kind, form, escaped))
    return parts


def origin(part: Part) -> str:
    """Return ``name@digest`` of a file, which lands with every row."""
    return f"{part.path.name}@{digest(part.path)[:8]}"


def read(
    parts: Sequence[Part], kind: Kind, renames: Mapping[str, str], source: str | None
) -> Iterator[Record | Faulty]:
    """Yield every record of the files, its columns under our names.

    Parameters
    ----------
    renames
        {their column: ours}, before the kind's own aliases.
    source
        Prefix of ids from another collection.
    """
    given = kind.given
    # a table's first line that bears one of these is its header
    ours = [column for column, _ in TABLES[kind.table].columns]
    names = frozenset(plain(name) for name in (*ours, *chain(*kind.aliases.values()), *renames))
    for part in parts:
        name = origin(part)
        known = {column: value for column, value in part.fields.items() if column not in given}
        if "system" in given:
            known.pop("run_id", None)  # another name is another run
        rows = _trec(part) if part.form == "trec" else _rows(part, names)
        for found in rows:
            if isinstance(found, Faulty):
                yield found
                continue
            place, raw = found
            fields = _renamed({**known, **{k: v for k, v in raw.items() if v is not None}}, kind, renames)
            yield Record(name, place, _ids(fields, part.escaped, source))


def _folder(path: Path, kind: str, form: str | None, escaped: bool, split: str) -> list[Part]:
    manifest = read_manifest(path)
    if manifest is not None and kind in _TREC_FIELDS:
        return _export(path, kind, manifest)
    if kind == "qrels":
        for pattern in _FOLDER_QRELS:
            found = path / pattern.format(split=split)
            if found.is_file():
                return [Part(found, "rows", escaped, {})]
        raise SaberError(f"{path} holds no {_FOLDER_QRELS[0].format(split=split)}. Name the file itself, or --split.")
    files = sorted(one for one in path.iterdir() if one.is_file() and not one.name.startswith("."))
    if not files:
        raise SaberError(f"{path} holds no file. Name the files of {kind} themselves.")
    return [_file(one, kind, form, escaped) for one in files]


def _export(path: Path, kind: str, manifest: Mapping[str, Any]) -> list[Part]:
    """Return the exact files of an export of ours, which say more than those other tools read."""
    escaped = manifest.get("ids") == "percent"
    if kind == "qrels":
        name = "qrels.exact.tsv" if escaped else "data/ratings.parquet"
        parts = [Part(path / name, "rows", escaped, {"benchmark": manifest["benchmark"]})]
    elif (path / "data" / "runs.parquet").is_file():
        parts = [Part(path / "data" / "runs.parquet", "rows", False, {"benchmark": manifest["benchmark"]})]
    else:
        named = ("run_id", "system", "setting", "scope", "idf", "params")
        parts = [
            Part(
                path / run["exact"], "rows", escaped,
                {"benchmark": manifest["benchmark"], **{name: run[name] for name in named}},
            )
            for run in manifest.get("runs", [])
        ]  # fmt: skip
    for part in parts:
        recorded = manifest.get("files", {}).get(str(part.path.relative_to(path)))
        if not part.path.resolve().is_relative_to(path.resolve()) or not part.path.is_file():
            raise SaberError(f"{part.path} of this export is missing. Export again, or name the files themselves.")
        if recorded != digest(part.path):
            raise SaberError(f"{part.path} was changed after the export. Name the file itself to import it as it is.")
    if not parts:
        raise SaberError(f"{path} is an export without {kind}.")
    return parts


def _file(path: Path, kind: str, form: str | None, escaped: bool) -> Part:
    suffix = Path(plain_name(path.name)).suffix.lower()
    if form is None and kind in _TREC_FIELDS and suffix not in (".parquet", ".csv", ".jsonl", ".json"):
        with _unpacked(path) as plain_file, plain_file.open("rb") as handle:
            lines = (handle.readline(1 << 16).decode("utf-8-sig", "replace") for _ in range(_REMARKS))
            first = next((line.split() for line in lines if line.strip() and not line.startswith("#")), [])
        # A header of as many names is told by its numbers, which it lacks.
        is_trec = len(first) == _TREC_FIELDS[kind] and _is_number(first[3])
        return Part(path, "trec" if is_trec else "rows", escaped, {})
    return Part(path, "trec" if form == "trec" else "rows", escaped, {})


@contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """Give the file itself, or what a gzip, bzip2, xz or zstd file holds; an archive is left to the table readers."""
    with path.open("rb") as handle:
        kind = packing(handle.read(8))
    if kind is None or kind == "zip":
        yield path
        return
    with unpacked(path, path.name, kind, DEFAULT_LIMITS) as members:
        for member in members:
            if isinstance(member, SkippedFile):
                raise SaberError(f"{member}. Nothing has landed.")
            yield member[1]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _rows(part: Part, names: frozenset[str]) -> Iterator[tuple[str, dict[str, Any]] | Faulty]:
    for reading in open_files([part.path], names=names):
        if isinstance(reading, SkippedFile):
            raise SaberError(f"{reading}. Give JSONL, JSON, CSV, TSV or Parquet.")
        for item in reading.items:
            if isinstance(item, Row):
                yield f"{item.file} row {item.number}", item.fields
            elif isinstance(item, Rejection):
                yield Faulty(f"{item.file} row {item.number}", f"{item.kind}: {item.detail}", item.rows)
            elif not isinstance(item, Note):
                raise AssertionError(f"unknown item {item!r}")


def _trec(part: Part) -> Iterator[tuple[str, dict[str, Any]] | Faulty]:
    """Yield the lines of a TREC qrels file (4 fields) or run file (6 fields)."""
    with _unpacked(part.path) as path, path.open(encoding="utf-8-sig", errors="surrogateescape") as handle:
        for number, line in enumerate(handle, start=1):
            words = line.split()
            place = f"{part.path.name} row {number}"
            if not words:
                continue
            if len(words) == _TREC_FIELDS["qrels"]:
                yield place, {"query_id": words[0], "document_id": words[2], "relevance": words[3], "score": words[3]}
            elif len(words) == _TREC_FIELDS["runs"]:
                yield place, {"query_id": words[0], "document_id": words[2], "score": words[4], "tag": words[5]}
            else:
                yield Faulty(place, f"{len(words)} fields; a TREC line has 4 (qrels) or 6 (runs)")


def _renamed(fields: dict[str, Any], kind: Kind, renames: Mapping[str, str]) -> dict[str, Any]:
    named = {renames.get(name, name): value for name, value in fields.items()}
    for ours, others in kind.aliases.items():
        theirs = next((other for other in others if other in named), None)
        if ours not in named and theirs is not None:
            named[ours] = named[theirs]
    return named


_QUERY_IDS, _DOCUMENT_IDS = ("query_id",), ("document_id", "first_id", "second_id")
_ESCAPED = (*_QUERY_IDS, *_DOCUMENT_IDS, "judge", "schedule", "provider", "model", "class", "tag")


def _ids(fields: dict[str, Any], escaped: bool, source: str | None) -> dict[str, Any]:
    if escaped:
        decoded = {name: unescape(fields[name]) for name in _ESCAPED if isinstance(fields.get(name), str)}
        fields = {**fields, **decoded}
    if source is not None:
        for names, role in ((_QUERY_IDS, "query"), (_DOCUMENT_IDS, "document")):
            for name in names:
                if fields.get(name) is not None:
                    fields[name] = f"{source}/{role}:{fields[name]}"
    return fields
