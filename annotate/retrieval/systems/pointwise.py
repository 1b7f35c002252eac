"""Pointwise reranking: the model grades each document by itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from annotate.calls import parse_choice
from annotate.prompts import Prompt
from annotate.providers.base import Request
from annotate.retrieval.base import Text
from annotate.retrieval.rerank.base import PURPOSE, Asker, Reranker, by_points

GRADES = tuple(str(grade) for grade in range(11))


@dataclass(frozen=True)
class Pointwise(Reranker):
    """A language model grades the first documents of a landed run, one call a document."""

    name: ClassVar[str] = "pointwise"
    places: ClassVar[Collection[str]] = ("query", "document")

    def calls_at_once(self) -> int:
        """All of a query's."""
        return self.k

    async def order(self, query: Text, documents: Sequence[Text], prompt: Prompt, asker: Asker) -> list[int]:
        """Sort by grade; equal grades stay in the order of the first stage."""
        replies = await asker.texts(
            [
                Request(
                    purpose=PURPOSE,
                    prompt_version=prompt.version,
                    messages=prompt.messages(query=query.text, document=document.text),
                    choices=GRADES,
                    about={"query_id": query.problem_id, "document_id": document.problem_id},
                )
                for document in documents
            ]
        )
        return by_points([int(parse_choice(reply, GRADES)) for reply in replies])


SYSTEMS = (Pointwise,)
