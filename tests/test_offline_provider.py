"""The offline provider as a provider: batches, forms of the replies, requests it cannot answer."""

from __future__ import annotations

import asyncio
from typing import Any

from annotate.providers.base import Reply, Request
from annotate.providers.offline import OfflineProvider
from annotate.summaries.reading import read_summary
from annotate.summaries.requests import summary_request
from annotate.topics.requests import parse_scores, topic_request
from annotate.topics.traversal import Rules, traverse
from annotate.topics.tree import build_tree
from warehouse.ontologies import Edge, unfold

EDGES = [Edge(None, "M", "M")] + [
    Edge(parent, child, child)
    for parent, child in [
        ("M", "Geometry"),
        ("M", "NumberTheory"),
        ("Geometry", "Triangles"),
        ("Geometry", "Circles"),
        ("NumberTheory", "PrimeNumbers"),
        ("NumberTheory", "Congruences"),
    ]
]
TREE = build_tree(unfold(EDGES))
TEXTS = ["A triangle.", "Two circles touch.", "A prime number.", "Solve the congruences.", "Nothing at all."]
SOLUTION = "We apply the lemma on remainders."
PROBLEMS = [
    {"problem_id": f"p{n}", "content_hash": f"h{n}", "statement": text, "solution": SOLUTION, "metadata": None}
    for n, text in enumerate(TEXTS)
]


def requests() -> list[Request]:
    topics = [
        topic_request(problem, TREE, [*([visited] if visited else []), *TREE.children[visited]], visited, None)
        for problem in PROBLEMS
        for visited in range(len(TREE))
        if TREE.children[visited]
    ]
    judged = {"query": PROBLEMS[0], "first": PROBLEMS[1], "second": PROBLEMS[2]}
    judge = Request("judge", "judge@offline", ({"role": "user", "content": "x"},), payload=judged)
    return [*topics, *[summary_request(problem, None) for problem in PROBLEMS], judge]


def stable(reply: Reply) -> tuple[Any, ...]:
    return reply.text, reply.error, reply.finish_reason, reply.served_model


def test_one_at_a_time_together_and_in_a_batch_give_the_same_replies() -> None:
    asked = requests()

    async def together() -> list[Reply]:
        provider = OfflineProvider()
        return list(await asyncio.gather(*(provider.complete(request) for request in asked)))

    async def many() -> list[Reply]:
        return [reply async for _, reply in OfflineProvider().complete_many(asked)]

    single = [stable(asyncio.run(OfflineProvider().complete(request))) for request in asked]
    assert [stable(reply) for reply in asyncio.run(together())] == single
    assert [stable(reply) for reply in asyncio.run(many())] == single


def test_replies_pass_the_parsers_of_models_replies() -> None:
    for request, reply in zip(requests(), OfflineProvider().answer(requests()), strict=True):
        if request.purpose == "topics":
            assert parse_scores(reply.text, len(request.payload["candidates"])).max() <= 1
        elif request.purpose == "summary":
            read_summary(reply.text)
        else:
            assert reply.text is not None
            assert reply.text.endswith(("\\boxed{1}", "\\boxed{2}"))


def test_traversals_end_where_the_text_points() -> None:
    async def run() -> list[list[str]]:
        provider = OfflineProvider()

        async def ask(request: Request) -> tuple[str, Reply]:
            return "c", await provider.complete(request)

        found = await asyncio.gather(*(traverse(problem, TREE, ask, Rules(0.85, None)) for problem in PROBLEMS))
        return [[TREE.topic_ids[topic] for topic in one.assigned] for one in found]

    triangle, circle, prime, congruence, _ = asyncio.run(run())
    assert triangle == ["Geometry/Triangles"]
    assert circle == ["Geometry/Circles"]
    assert "NumberTheory/PrimeNumbers" in prime
    assert congruence == ["NumberTheory/Congruences"]


def test_scores_forgotten_for_want_of_memory_are_computed_again(monkeypatch: Any) -> None:
    monkeypatch.setattr("annotate.providers.offline._SCORED_BYTES", 0)
    monkeypatch.setattr("annotate.providers.offline._BLOCK", 2)
    provider = OfflineProvider()
    first = [stable(reply) for reply in provider.answer(requests())]
    again = [stable(provider.answer([request])[0]) for request in reversed(requests())]
    assert again == list(reversed(first))


def test_a_request_without_facts_is_refused_not_guessed() -> None:
    bare = {"prompt_version": "v", "messages": ({"role": "user", "content": "hello"},)}
    for purpose in ("topics", "summary", "judge", "poem"):
        reply = asyncio.run(OfflineProvider().complete(Request(purpose=purpose, **bare)))
        assert (reply.text, reply.error) == (None, "invalid_request")
