"""Topics and summaries made elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from warehouse.imports.kinds import Kind, Row
from warehouse.imports.records import Fault, Fields, Record


class Topics(Kind):
    """Topic assignments: a row a scored topic, or a row a problem with the list ``topics`` of assigned ones.

    The rows of one problem replace its earlier traversal of the same variant as a whole.
    """

    table = "topic_scores"
    key = ("problem_id", "variant", "visited_topic_id", "topic_id")
    group = ("problem_id", "variant")
    ignored = ("traversal_id",)
    aliases: ClassVar[dict[str, tuple[str, ...]]] = {"problem_id": ("id",), "topic_id": ("topic",)}

    def convert(self, record: Record) -> Iterator[Row]:
        """Give one row a topic."""
        fields = self.fields(record)
        if record.fields.get("topics") is not None:
            for topic in fields.texts("topics"):
                yield self._row(record, Fields({**record.fields, "topic_id": topic}, self.given))
        else:
            yield self._row(record, fields)

    def _row(self, record: Record, fields: Fields) -> Row:
        problem_id, topic_id = fields.text("problem_id"), fields.text("topic_id")
        hashed = self.context.hash_of(problem_id, "problem")
        if topic_id not in self.context.topics:
            raise Fault(f"{topic_id!r} is no topic of the ontology {self.context.ontology.name}")
        topic = self.context.topics[topic_id]
        if topic.parent_id is None:
            raise Fault(f"{topic_id!r} is the root of the ontology, which is never assigned")
        visited = fields.optional_text("visited_topic_id") or topic.parent_id
        if visited not in self.context.topics:
            raise Fault(f"visited {visited!r} is no topic of the ontology {self.context.ontology.name}")
        score = fields.optional_real("score", 0, 1)
        assigned = fields.flag("assigned")
        row: Row = {
            "problem_id": problem_id,
            "visited_topic_id": visited,
            "topic_id": topic_id,
            "raw_score": fields.optional_real("raw_score"),
            "score": score,
            "assigned": True if assigned is None else assigned,
            "call_id": fields.optional_text("call_id"),
            **self.maker(fields, record),
            "content_hash": self.seen(fields, hashed),
        }
        kept = fields.flag("kept")
        row["kept"] = row["assigned"] if kept is None else kept
        ontology = {"ontology": [self.context.ontology.name, self.context.ontology.fingerprint]}
        names = ("provider", "model", "prompt_version", "ontology")
        row["variant"] = self.stamp({**row, **ontology}, self.context.selected.topics, *names)
        row["traversal_id"] = f"{self.job_id}:{problem_id}"
        return row

    def check_all(self, rows: Sequence[tuple[Record, Row]]) -> Iterator[tuple[int, str]]:
        """Refuse repeated rows, and topics assigned together with one of their ancestors."""
        yield from super().check_all(rows)
        assigned: dict[tuple[Any, ...], set[str]] = {}
        for _, row in rows:
            if row["assigned"]:
                assigned.setdefault((row["problem_id"], row["variant"]), set()).add(row["topic_id"])
        for position, (_, row) in enumerate(rows):
            if not row["assigned"]:
                continue
            own = assigned[row["problem_id"], row["variant"]]
            ancestor = self.context.topics[row["topic_id"]].parent_id
            while ancestor is not None:
                if ancestor in own:
                    yield position, f"topic {row['topic_id']!r} is assigned together with its ancestor {ancestor!r}"
                    break
                ancestor = self.context.topics[ancestor].parent_id


class Summaries(Kind):
    """Summaries: a row a problem."""

    table = "summaries"
    key = ("problem_id", "variant")
    aliases: ClassVar[dict[str, tuple[str, ...]]] = {"problem_id": ("id",), "core_idea": ("summary", "idea")}

    def convert(self, record: Record) -> Iterator[Row]:
        """Give one row; without a core idea the row must say so itself."""
        fields = self.fields(record)
        problem_id = fields.text("problem_id")
        hashed = self.context.hash_of(problem_id, "problem")
        idea, none = fields.optional_text("core_idea"), fields.flag("no_core_idea")
        if idea is None and not none:
            raise Fault("core_idea is empty and no_core_idea is not true")
        if idea is not None and none:
            raise Fault("core_idea has a text and no_core_idea is true")
        row: Row = {
            "problem_id": problem_id,
            "core_idea": idea,
            "supporting_ideas": fields.texts("supporting_ideas"),
            "keywords": fields.texts("keywords"),
            "no_core_idea": bool(none),
            "confidence": fields.optional_real("confidence", 0, 1),
            "call_id": fields.optional_text("call_id"),
            **self.maker(fields, record),
            "content_hash": self.seen(fields, hashed),
        }
        names = ("provider", "model", "prompt_version")
        row["variant"] = self.stamp(row, self.context.selected.summaries, *names)
        yield row
