"""AoPS forum threads: the first post is the statement, the replies are candidate solutions.

Two layouts: one row a thread with a list ``posts``, or one row a post with ``topic_id`` and ``post_number``.
Which reply is best is a question for a model; until one has chosen, the most thanked reply that looks like a
solution stands, and all candidates stay in the metadata.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from warehouse.readers import Row
from warehouse.sources.draft import Draft, Dropped, id_of, text_of
from warehouse.sources.generic import Generic

_TEXTS = (
    "post_canonical",
    "content_bbcode",
    "text",
    "content",
    "body",
    "message",
    "post_text",
    "post_rendered",
    "cooked",
)
_THANKS = ("thanks_received", "thanks", "likes", "like_count", "score", "upvotes")
_THREADS = ("topic_id", "thread_id", "id")
_SOLVES = re.compile(r"\\boxed|\[hide|\b(?:proof|solution|answer|hence|therefore|thus|q\.?e\.?d)\b|\$", re.IGNORECASE)
_SHORTEST = 40


class AopsThreads(Generic):
    """One problem a thread."""

    name = "aops-threads"
    roles: ClassVar = {"solution": "", "answer": ""}

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By a list of posts, or by the number of a post within its topic."""
        return "posts" in columns or {"topic_id", "post_number"} <= columns

    def matches(self) -> bool:
        """The statement is in the posts, whatever the columns are called."""
        return True

    def prepare(self, rows: list[Row]) -> list[Row]:
        """Gather single posts into their threads: the first row of a thread gets all its posts."""
        if "posts" in self._actual:
            return rows
        threads: dict[Any, list[Row]] = {}
        for row in rows:
            threads.setdefault(self.cell(row.fields, "topic_id"), []).append(row)
        gathered = []
        for row in rows:
            posts = sorted(threads[self.cell(row.fields, "topic_id")], key=self._place)
            whole = {**row.fields, "posts": [post.fields for post in posts]} if posts[0] is row else row.fields
            gathered.append(replace(row, fields=whole))
        return gathered

    def drops(self, fields: Mapping[str, Any]) -> Dropped | None:
        """A reply of its own row is part of its thread's problem."""
        if isinstance(fields.get("posts"), list):
            return None
        return Dropped("reply", f"part of thread {self.cell(fields, 'topic_id')}, kept there as a candidate solution")

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Take the statement from the first post and the candidate solutions from the others."""
        posts = [post if isinstance(post, dict) else {"text": post} for post in fields["posts"]]
        texts = [_first(post, _TEXTS) for post in posts]
        draft.statement = texts[0] if texts else None
        replies = [
            (-_thanks(post), index, text)
            for index, (post, text) in enumerate(zip(posts[1:], texts[1:], strict=True))
            if text and len(text) >= _SHORTEST and _SOLVES.search(text)
        ]
        solutions = [text for _, _, text in sorted(replies)]
        draft.solution = solutions[0] if solutions else None
        draft.id = next((found for key in _THREADS if (found := id_of(self.cell(fields, key)))), None)
        kept = ("title", "topic_title", "category", "category_id", "category_name", "url", "tags")
        draft.metadata = {key: fields[key] for key in kept if key in fields}
        draft.metadata["posts"] = len(posts)
        if len(solutions) > 1:
            draft.metadata["solutions"] = solutions

    def _place(self, row: Row) -> tuple[float, int]:
        number = self.cell(row.fields, "post_number")
        return (float(number) if isinstance(number, int | float) else float(row.number), row.number)


def _first(post: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((text for name in names if (text := text_of(post.get(name)))), None)


def _thanks(post: Mapping[str, Any]) -> float:
    return next((float(post[name]) for name in _THANKS if isinstance(post.get(name), int | float)), 0.0)
