"""Judgments, ratings and qrels made elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from warehouse.exports.gains import gain, relevance_of_gain
from warehouse.imports.context import HUMAN
from warehouse.imports.kinds import DOCUMENT_NAMES, QUERY_NAMES, Kind, Row
from warehouse.imports.records import Fault, Fields, Record

_KINDS = ("pair", "score", HUMAN)
_VERDICTS = ("first", "second", "tie", "invalid")
_PROVENANCE = ("benchmark", "judge", "schedule", "provider", "model", "prompt_version")


class Judgments(Kind):
    """Verdicts on pairs (``first_id`` was shown first), grades of single documents, choices of people."""

    table = "judgments"
    key = (
        "benchmark",
        "query_id",
        "first_id",
        "second_id",
        "kind",
        "vote",
        "judge",
        "schedule",
        "annotator",
        "variant",
    )
    aliases: ClassVar[dict[str, tuple[str, ...]]] = {
        "query_id": QUERY_NAMES,
        "first_id": ("first", "document_a", "doc1"),
        "second_id": ("second", "document_b", "doc2"),
        "verdict": ("winner", "choice"),
    }

    def convert(self, record: Record) -> Iterator[Row]:
        """Give one row."""
        fields = self.fields(record)
        annotator = fields.optional_text("annotator")
        kind = fields.optional_text("kind", _KINDS) or ("pair" if annotator is None else HUMAN)
        query_id, first_id = fields.text("query_id"), fields.text("first_id")
        second_id = None if kind == "score" else fields.text("second_id")
        documents = [one for one in (first_id, second_id) if one is not None]
        if len({query_id, *documents}) != 1 + len(documents):
            raise Fault("query and documents must be different problems")
        hashes = [self.context.hash_of(one, "problem") for one in (query_id, *documents)]
        if self.context.given.as_selected:
            self.context.pair_must_compete(query_id, *documents)
        verdict = fields.optional_text("verdict", _VERDICTS) if kind == "score" else fields.text("verdict", _VERDICTS)
        score = fields.optional_real("score")
        if kind == "score" and score is None and verdict != "invalid":
            raise Fault("a grade needs a score, or the verdict invalid")
        row: Row = {
            "benchmark": fields.optional_text("benchmark") or self.context.settings.benchmark.name,
            "query_id": query_id,
            "first_id": first_id,
            "second_id": second_id,
            "kind": kind,
            "vote": fields.whole("vote") or 0,
            "round": fields.whole("round"),
            "verdict": verdict,
            "score": score,
            "reason": fields.optional_text("reason"),
            "annotator": annotator,
            "call_id": fields.optional_text("call_id"),
            **self._judge(fields, record, kind),
            "content_hash": self.seen(fields, *hashes),
        }
        selected = self.context.selected.human if kind == HUMAN else self.context.selected.judgments
        row["variant"] = self.stamp(row, selected, *_PROVENANCE)
        yield row

    def _judge(self, fields: Fields, record: Record, kind: str) -> Row:
        if kind == HUMAN:
            if not fields.has("annotator"):
                raise Fault("a human judgment needs its annotator")
            version = fields.optional_text("prompt_version") or f"import:{record.origin}"
            return {
                "judge": HUMAN, "schedule": HUMAN, "provider": HUMAN, "model": None, "prompt_version": version,
            }  # fmt: skip
        judging = self.context.settings.judging
        selected = self.context.given.as_selected
        judge = fields.optional_text("judge") or (judging.judge if selected else None)
        schedule = fields.optional_text("schedule") or (judging.schedule if selected else None)
        if judge is None or schedule is None:
            raise Fault("which judge and schedule it comes from is not known (give --judge and --schedule)")
        return {"judge": judge, "schedule": schedule, **self.maker(fields, record)}


class Ratings(Kind):
    """Ratings on the scale of the settings, fitted elsewhere."""

    table = "ratings"
    key = ("benchmark", "query_id", "document_id", "judge", "schedule", "variant")
    aliases: ClassVar[dict[str, tuple[str, ...]]] = {
        "query_id": QUERY_NAMES,
        "document_id": DOCUMENT_NAMES,
        "rating": ("relevance", "rel"),
    }

    def convert(self, record: Record) -> Iterator[Row]:
        """Give one row; a missing rating is one that could not be fitted."""
        fields = self.fields(record)
        query_id, document_id = fields.text("query_id"), fields.text("document_id")
        if query_id == document_id:
            raise Fault("a document cannot be rated for itself")
        hashes = [self.context.hash_of(one, "problem") for one in (query_id, document_id)]
        selected = self.context.given.as_selected
        if selected:
            self.context.pair_must_compete(query_id, document_id)
        judging, scale = self.context.settings.judging, self.context.settings.ratings.scale
        judge = fields.optional_text("judge") or (judging.judge if selected else None)
        schedule = fields.optional_text("schedule") or (judging.schedule if selected else None)
        if judge is None or schedule is None:
            raise Fault("which judge and schedule it comes from is not known (give --judge and --schedule)")
        maker = self.maker(fields, record)
        row: Row = {
            "benchmark": fields.optional_text("benchmark") or self.context.settings.benchmark.name,
            "query_id": query_id,
            "document_id": document_id,
            "judge": judge,
            "schedule": schedule,
            "rating": fields.optional_real("rating", 0, scale),
            "log_strength": fields.optional_real("log_strength"),
            "std_error": fields.optional_real("std_error", 0),
            "component": fields.whole("component"),
            "separable": fields.flag("separable"),
            "n_comparisons": fields.whole("n_comparisons"),
            "ridge": fields.optional_real("ridge", 0),
            "provider": maker["provider"],
            "model": maker["model"],
            "content_hash": self.seen(fields, *hashes),
        }
        provenance = {**row, "prompt_version": maker["prompt_version"]}
        row["variant"] = self.stamp(provenance, self.context.selected.ratings, *_PROVENANCE)
        yield row


class Qrels(Kind):
    """Graded relevances of a benchmark of its own, which other collections bring with them."""

    table = "qrels"
    key = ("benchmark", "query_id", "document_id", "variant")
    aliases: ClassVar[dict[str, tuple[str, ...]]] = {
        "query_id": QUERY_NAMES,
        "document_id": DOCUMENT_NAMES,
        "relevance": ("score", "rel", "rating", "label", "grade"),
    }

    def convert(self, record: Record) -> Iterator[Row]:
        """Give one row; a missing relevance is a pair that nobody has judged."""
        fields = self.fields(record)
        benchmark = fields.text("benchmark")
        if benchmark == self.context.settings.benchmark.name:
            raise Fault(
                f"{benchmark!r} is the benchmark built here: its relevances are ratings (saber import ratings), "
                "or name this one otherwise with --benchmark"
            )
        query_id, document_id = fields.text("query_id"), fields.text("document_id")
        hashes = [self.context.hash_of(one, "problem") for one in (query_id, document_id)]
        # Negative labels mark what TREC assessors left out or found to be spam: no gain, as trec_eval counts them.
        value = fields.optional_real("relevance")
        if value is not None:
            value = max(value, 0.0)
            value = relevance_of_gain(value) if self.context.given.gains else value
            if value > 20:
                raise Fault(f"relevance {value:g} is too large for 2^relevance; are these gains? (give --gains)")
        row: Row = {
            "benchmark": benchmark,
            "query_id": query_id,
            "document_id": document_id,
            "relevance": value,
            "gain": None if value is None else gain(value),
            "origin": record.origin,
            # who judged, as our own exports say: a copy of a benchmark must not hide that no model has judged
            **{name: fields.optional_text(name) for name in ("judge", "schedule", "provider", "model", "class")},
            "std_error": fields.optional_real("std_error", 0),
            "content_hash": self.seen(fields, *hashes),
        }
        # One import is one variant: what a later version of the file leaves out must not linger.
        row["variant"] = self.context.variant("qrels", self._provenance(row), *_PROVENANCE, "files")
        yield row

    def _provenance(self, row: Row) -> Row:
        return {**vars(self.context.given), "benchmark": row["benchmark"], "files": list(self.context.files)}
