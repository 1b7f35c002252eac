"""Pairwise reranking: the model compares all pairs of documents, each in both orders."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

from annotate.calls import parse_choice
from annotate.prompts import Prompt
from annotate.providers.base import Request
from annotate.retrieval.base import Text
from annotate.retrieval.rerank.base import PURPOSE, Asker, Reranker, by_points

_PLACES = ("1", "2")


@dataclass(frozen=True)
class Pairwise(Reranker):
    """A language model compares all pairs of the first documents of a landed run, k(k − 1) calls a query.

    Each pair is shown in both orders, so a model that always prefers the first place gives every document the
    same. A document's points are the comparisons it wins. Source: Qin et al., Large language models are effective
    text rankers with pairwise ranking prompting (2023), all pairs.
    """

    name: ClassVar[str] = "pairwise"
    places: ClassVar[Collection[str]] = ("query", "first", "second")
    k: int = 10

    def calls_at_once(self) -> int:
        """All of a query's."""
        return self.k * (self.k - 1)

    async def order(self, query: Text, documents: Sequence[Text], prompt: Prompt, asker: Asker) -> list[int]:
        """Sort by points; equal points stay in the order of the first stage."""
        shown = list(permutations(range(len(documents)), 2))
        replies = await asker.texts(
            [
                Request(
                    purpose=PURPOSE,
                    prompt_version=prompt.version,
                    messages=prompt.messages(
                        query=query.text, first=documents[first].text, second=documents[second].text
                    ),
                    choices=_PLACES,
                    about={
                        "query_id": query.problem_id,
                        "first_id": documents[first].problem_id,
                        "second_id": documents[second].problem_id,
                    },
                )
                for first, second in shown
            ]
        )
        points = [0] * len(documents)
        for pair, reply in zip(shown, replies, strict=True):
            points[pair[_PLACES.index(parse_choice(reply, _PLACES))]] += 1
        return by_points(points)


SYSTEMS = (Pairwise,)
