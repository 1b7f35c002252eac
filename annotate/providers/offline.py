"""The offline provider: answers every job of the pipeline on a laptop, without any model.

Topics by a lexical scorer, summaries by extraction, judgments by comparing technique labels or texts. Replies
have the form that the prompts ask of models, so the same parsers and checks read them. A request for it carries
the facts in ``payload`` and only names them in its messages; everything it answers lands as provider ``offline``.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np

from annotate.calls.policy import Policy
from annotate.providers.base import Reply, Request, failed
from annotate.providers.offline_judge import OfflineJudge
from annotate.providers.offline_summary import summarise
from annotate.providers.offline_topics import LexicalScorer, Scores
from annotate.topics.tree import TopicTree
from warehouse.errors import SaberError

MODEL = "lexical-1"
"""Names the rules by which replies are made: a change of any of them needs another name, since landed replies
are never asked for again."""

_SCORED_BYTES = 128 << 20
_BLOCK = 256
_TOPIC_FACTS = {"problem", "tree", "visited", "candidates"}


class OfflineProvider:
    """Provider ``offline``. Calls made at the same time are answered as one batch, so that topics are scored in
    matrices although the call log asks for one reply at a time.
    """

    name = "offline"
    endpoint = "offline"
    policy = Policy(concurrency=_BLOCK)

    def __init__(self, model: str = MODEL) -> None:
        if model != MODEL:
            raise SaberError(f"The offline provider has no model {model!r}. Leave --model out: it is {MODEL}.")
        self.model = model
        self._topics: _TopicScores | None = None
        self._judge = OfflineJudge()
        self._waiting: list[tuple[Request, asyncio.Future[Reply]]] = []

    async def complete(self, request: Request) -> Reply:
        """Answer one request together with those that are asked in the same turn of the event loop."""
        answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, answer))
        await asyncio.sleep(0)
        if self._waiting:
            batch, self._waiting = self._waiting, []
            for (_, future), reply in zip(batch, self.answer([asked for asked, _ in batch]), strict=True):
                if not future.cancelled():
                    future.set_result(reply)
        return await answer

    async def complete_many(self, requests: Sequence[Request]) -> AsyncIterator[tuple[int, Reply]]:
        """Answer many requests in blocks, in order."""
        for begin in range(0, len(requests), _BLOCK):
            for index, reply in enumerate(self.answer(requests[begin : begin + _BLOCK]), begin):
                yield index, reply
            await asyncio.sleep(0)

    def answer(self, requests: Sequence[Request]) -> list[Reply]:
        """Answer a batch; a request without usable facts gets a reply with an error, never an exception."""
        begun = time.perf_counter()
        self._score_topics([r for r in requests if r.purpose == "topics" and r.payload.keys() >= _TOPIC_FACTS])
        texts = [self._text(request) for request in requests]
        if self._topics is not None:
            self._topics.forget()
        share = (time.perf_counter() - begun) / max(1, len(requests))
        return [self._reply(text, share) for text in texts]

    def _text(self, request: Request) -> str | None:
        facts = request.payload
        if request.purpose == "topics" and facts.keys() >= _TOPIC_FACTS:
            return json.dumps(self._scorer(facts["tree"]).reply(facts))
        if request.purpose == "summary" and "problem" in facts:
            problem = facts["problem"]
            return json.dumps(summarise(problem["statement"] or "", problem["solution"] or ""), ensure_ascii=False)
        if request.purpose == "judge" and {"query", "first", "second"} <= facts.keys():
            return self._judge.compare(facts)
        if request.purpose == "judge" and {"query", "document"} <= facts.keys():
            return self._judge.grade(facts)
        return None

    def _reply(self, text: str | None, latency_s: float) -> Reply:
        if text is None:
            return failed("invalid_request", detail="the offline provider has no facts to answer from")
        return Reply(text, "stop", self.model, None, None, None, latency_s)

    def _score_topics(self, requests: Sequence[Request]) -> None:
        for request in requests:
            self._scorer(request.payload["tree"]).want(request.payload["problem"])
        if self._topics is not None:
            self._topics.score_wanted()

    def _scorer(self, tree: TopicTree) -> _TopicScores:
        if self._topics is None or self._topics.version != tree.version:
            self._topics = _TopicScores(tree)
        return self._topics


class _TopicScores:
    """Scores of recently asked problems against all topics: a traversal asks for one problem several times."""

    def __init__(self, tree: TopicTree) -> None:
        self.version = tree.version
        self._scorer = LexicalScorer(tree)
        self._inner_column = {int(topic): column for column, topic in enumerate(self._scorer.inner)}
        self._start = tree.start()
        self._limit = max(_BLOCK, _SCORED_BYTES // (4 * len(tree)))
        self._scored: OrderedDict[str, tuple[Scores, Scores]] = OrderedDict()
        self._wanted: dict[str, tuple[str, str]] = {}

    def want(self, problem: Any) -> None:
        """Note that the scores of ``problem`` are about to be read."""
        key = problem["content_hash"]
        if key in self._scored:
            self._scored.move_to_end(key)
        else:
            self._wanted[key] = (problem["statement"] or "", problem["solution"] or "")

    def score_wanted(self) -> None:
        """Score the noted problems as one block and forget the least recently asked ones."""
        if not self._wanted:
            return
        seen, stop = self._scorer.score(list(self._wanted.values()))
        for row, key in enumerate(self._wanted):
            self._scored[key] = (seen[row].copy(), stop[row].copy())
        self._wanted.clear()

    def reply(self, facts: Any) -> dict[str, float]:
        """Return {candidate number: raw score in [0, 1]} for one visited topic."""
        seen, stop = self._scored[facts["problem"]["content_hash"]]
        visited, candidates = facts["visited"], facts["candidates"]
        scores = seen[list(candidates)]
        if candidates[0] == visited:
            scores[0] = stop[self._inner_column[visited]]
        # The square root keeps the runner-up near the best: a model's scores are no word counts.
        raw = np.minimum(1.0, 0.5 * np.sqrt(scores, dtype=np.float64)).round(4).tolist()
        return {str(number): score for number, score in enumerate(raw, 1)}

    def forget(self) -> None:
        """Drop the scores of the problems asked about longest ago, down to the limit on memory."""
        while len(self._scored) > self._limit:
            self._scored.popitem(last=False)
