"""Listwise reranking: the model orders windows of documents, from the end of the list to its head."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from annotate.calls import parse_structured, structured
from annotate.prompts import Prompt
from annotate.providers.base import Reply, Request
from annotate.retrieval.base import Text
from annotate.retrieval.rerank.base import PURPOSE, Asker, Reranker
from warehouse.errors import SaberError

if TYPE_CHECKING:
    from typing import Self

    from warehouse.settings import Settings


@dataclass(frozen=True)
class Listwise(Reranker):
    """A language model orders the first documents of a landed run, a window of them a call.

    The window slides from the end to the head, so that a good document can climb all the way. Source: Sun et al.,
    Is ChatGPT good at search? (2023).

    Attributes
    ----------
    window, step
        Documents a call, and how far the window moves.
    """

    name: ClassVar[str] = "listwise"
    places: ClassVar[Collection[str]] = ("query", "documents", "count")
    window: int = 20
    step: int = 10

    @classmethod
    def configured(cls, settings: Settings, parameters: Mapping[str, Any]) -> Self:
        """Check that windows overlap or touch."""
        system = super().configured(settings, parameters)
        if not 1 <= system.step <= system.window or system.window < 2:
            raise SaberError("listwise needs a window of at least 2 and a step from 1 to the window.")
        return system

    def calls_at_once(self) -> int:
        """One: a window needs the order of the one before."""
        return 1

    def validate(self, request: Request, reply: Reply) -> str | None:
        """Refuse what is no order of exactly the texts shown."""
        kind = structured(request, reply)
        if kind is None and request.schema is not None:
            order = parse_structured(reply.text or "", request.schema)["order"]
            if sorted(order) != list(range(1, len(order) + 1)):
                return "no_permutation"
        return kind

    async def order(self, query: Text, documents: Sequence[Text], prompt: Prompt, asker: Asker) -> list[int]:
        """Slide the window over the list once."""
        current = list(range(len(documents)))
        for start in window_starts(len(documents), self.window, self.step):
            shown = current[start : start + self.window]
            request = self._request(query, [documents[at] for at in shown], prompt)
            assert request.schema is not None
            numbers = parse_structured(await asker.text(request), request.schema)["order"]
            current[start : start + self.window] = [shown[int(number) - 1] for number in numbers]
        return current

    def _request(self, query: Text, documents: Sequence[Text], prompt: Prompt) -> Request:
        count = len(documents)
        listed = "\n\n".join(
            f"BEGIN TEXT {number}\n{document.text}\nEND TEXT {number}" for number, document in enumerate(documents, 1)
        )
        number = {"type": "integer", "minimum": 1, "maximum": count}
        return Request(
            purpose=PURPOSE,
            prompt_version=prompt.version,
            messages=prompt.messages(query=query.text, documents=listed, count=str(count)),
            schema={
                "type": "object",
                "properties": {"order": {"type": "array", "items": number, "minItems": count, "maxItems": count}},
                "required": ["order"],
                "additionalProperties": False,
            },
            about={"query_id": query.problem_id, "document_ids": [document.problem_id for document in documents]},
        )


def window_starts(n: int, window: int, step: int) -> list[int]:
    """Return where the windows begin, the last of the list first; the final one is the head of the list."""
    starts = list(range(max(n - window, 0), 0, -step))
    return [*starts, 0]


SYSTEMS = (Listwise,)
