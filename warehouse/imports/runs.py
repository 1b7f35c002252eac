"""Runs of retrieval systems from elsewhere, held to the benchmark they claim to rank."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from warehouse.errors import SaberError
from warehouse.identity import variant_hash
from warehouse.imports.kinds import DOCUMENT_NAMES, QUERY_NAMES, Kind, Row
from warehouse.imports.records import Fault, Fields, Record
from warehouse.texts import forms

_SCOPES = ("candidates", "corpus")
_OF_A_RUN = ("benchmark", "variant", "setting", "scope", "system")


class Runs(Kind):
    """Ranked documents; the documents of one query of a run are replaced as a whole."""

    table = "runs"
    key = ("run_id", "query_id", "document_id")
    group = ("run_id", "query_id")
    aliases: ClassVar[dict[str, tuple[str, ...]]] = {
        "query_id": QUERY_NAMES,
        "document_id": DOCUMENT_NAMES,
        "score": ("sim",),
    }

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._allowed: dict[tuple[str, str], tuple[str, dict[str, set[str]] | None]] = {}

    def convert(self, record: Record) -> Iterator[Row]:
        """Give one row; its rank is counted once all rows of its query are known."""
        fields = self.fields(record)
        query_id, document_id = fields.text("query_id"), fields.text("document_id")
        if query_id == document_id:
            raise Fault(f"query {query_id!r} is ranked for itself")
        score = fields.real("score")
        benchmark = fields.optional_text("benchmark") or self.context.settings.benchmark.name
        if not fields.has("setting"):
            raise Fault("which texts the system saw is not known (give --setting, e.g. statement-full)")
        setting = fields.text("setting")
        try:
            forms(setting)
        except SaberError as error:
            raise Fault(str(error)) from error
        scope = fields.optional_text("scope", _SCOPES) or "candidates"
        variant = self._must_be_allowed(benchmark, scope, query_id, document_id)
        hashes = [self.context.hash_of(one, "problem") for one in (query_id, document_id)]
        if scope == "corpus" and hashes[0] == hashes[1]:
            raise Fault(f"document {document_id!r} bears the text of query {query_id!r}")
        row: Row = {
            "query_id": query_id,
            "document_id": document_id,
            "benchmark": benchmark,
            "setting": setting,
            "scope": scope,
            "idf": fields.optional_text("idf") or "none",
            "score": score,
            "latency_s": fields.optional_real("latency_s", 0),
            "content_hash": self.seen(fields, *hashes),
            "variant": variant,
            **self._identity(fields, record),
        }
        row["run_id"] = fields.optional_text("run_id") or self._run_id(row)
        yield row

    def check_all(self, rows: Sequence[tuple[Record, Row]]) -> Iterator[tuple[int, str]]:
        """Yield repeated rows, and rows of a run that is of another benchmark, setting, scope or system as well."""
        yield from super().check_all(rows)
        first: dict[str, tuple[tuple[Any, ...], str]] = {}
        for position, (record, row) in enumerate(rows):
            told = tuple(row[column] for column in _OF_A_RUN)
            expected, place = first.setdefault(row["run_id"], (told, record.place))
            if told != expected:
                pairs = zip(_OF_A_RUN, told, expected, strict=True)
                other = next(f"{name} {here!r}, there {there!r}" for name, here, there in pairs if here != there)
                yield position, f"run {row['run_id']!r} of {place} is another ({other}): give each run its own run_id"

    def finish(self, rows: list[Row]) -> list[Row]:
        """Rank the documents of each query: score descending, then document id."""
        rows.sort(key=lambda row: (row["run_id"], row["query_id"], -row["score"], row["document_id"]))
        previous, rank = None, 0
        for row in rows:
            place = (row["run_id"], row["query_id"])
            rank = rank + 1 if place == previous else 1
            previous, row["rank"] = place, rank
        return rows

    def missing_queries(self, rows: Sequence[Row]) -> dict[str, int]:
        """Return {run id: queries of its benchmark that it lacks}, runs that have all left out."""
        found: dict[str, set[str]] = {}
        place: dict[str, tuple[str, str]] = {}
        for row in rows:
            found.setdefault(row["run_id"], set()).add(row["query_id"])
            place[row["run_id"]] = (row["benchmark"], row["scope"])
        lacking = {run: len(self._queries(*place[run]) - queries) for run, queries in found.items()}
        return {run: count for run, count in lacking.items() if count}

    def _identity(self, fields: Fields, record: Record) -> Row:
        system = fields.optional_text("system") or fields.optional_text("tag")
        if system is None:
            raise Fault("what the system is called is not known (give --system)")
        params = fields.optional_text("params")
        if params is None:
            named = {name: fields.optional_text(name) for name in ("provider", "model")}
            params = json.dumps(
                {"origin": record.origin, **{k: v for k, v in named.items() if v}}, sort_keys=True, ensure_ascii=False
            )
        return {"system": system, "params": params}

    def _run_id(self, row: Row) -> str:
        # The file is no part of the identity: a mended file replaces the run.
        digest = variant_hash({"params": "import", "variant": row["variant"]})[:8]
        return f"{row['system']}.{row['setting']}.{row['scope']}.{row['idf']}.{digest}"

    def _must_be_allowed(self, benchmark: str, scope: str, query_id: str, document_id: str) -> str:
        variant, allowed = self._benchmark(benchmark, scope)
        if query_id not in self._queries(benchmark, scope):
            raise Fault(f"unknown query {query_id!r}: it is none of benchmark {benchmark}")
        if allowed is None:
            if document_id not in self.context.eligible:
                raise Fault(f"unknown document {document_id!r}: it is no eligible problem")
        elif document_id not in allowed[query_id]:
            raise Fault(f"unknown document {document_id!r}: it is no candidate of query {query_id!r}")
        return variant

    def _benchmark(self, benchmark: str, scope: str) -> tuple[str, dict[str, set[str]] | None]:
        """Return the variant that runs of a benchmark bear, and the documents each query may rank (None = any)."""
        if (benchmark, scope) not in self._allowed:
            if benchmark == self.context.settings.benchmark.name:
                allowed = self.context.candidates if scope == "candidates" else None
                self._allowed[benchmark, scope] = (self.context.selected.benchmark, allowed)
            else:
                variant, judged = self.context.imported_qrels(benchmark)
                documents = set().union(*judged.values())
                allowed = judged if scope == "candidates" else dict.fromkeys(judged, documents)
                self._allowed[benchmark, scope] = (variant, allowed)
        return self._allowed[benchmark, scope]

    def _queries(self, benchmark: str, scope: str) -> set[str]:
        allowed = self._benchmark(benchmark, scope)[1]
        return set(self.context.candidates if allowed is None else allowed)
