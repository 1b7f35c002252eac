"""The top-down traversal of the ontology for one problem, and the rows in which a finished one lands.

All nodes of a frontier are asked at once and many problems are under way together, so a server stays full and
the offline scorer sees large batches; no level of one problem waits for another problem. A traversal lands as a
whole or not at all: when one call of it fails, nothing of it is kept but the replies in the call log, from
which the next run takes it up again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from annotate.calls.validate import InvalidReply
from annotate.prompts import Prompt
from annotate.providers.base import Reply, Request
from annotate.topics.assignment import Batch, Visit, assess, most_specific, split_into_batches
from annotate.topics.requests import parse_scores, topic_request
from annotate.topics.tree import TopicTree

Ask = Callable[[Request], Awaitable[tuple[str, Reply]]]

LARGEST_BATCH = 100
"""Children asked about in one call; more are split. Long lists tire models and overflow small contexts."""


@dataclass(frozen=True)
class Rules:
    """What a traversal depends on beside the problem and the tree."""

    tau: float
    prompt: Prompt | None
    largest_batch: int = LARGEST_BATCH


@dataclass(frozen=True)
class VisitedTopic:
    """One visited topic: the outcome over its children and the call that scored each candidate."""

    topic: int
    children: tuple[int, ...]
    outcome: Visit
    node_call: str
    child_calls: tuple[str, ...]


@dataclass(frozen=True)
class Traversal:
    """A finished traversal of one problem; ``assigned`` are its most specific kept topics."""

    problem_id: str
    content_hash: str
    visits: tuple[VisitedTopic, ...]
    assigned: tuple[int, ...]


class CallFailed(Exception):  # noqa: N818 - ends one traversal, is no fault of the program
    """A call of the traversal has no usable reply; the text is the kind of failure."""


async def traverse(problem: Mapping[str, Any], tree: TopicTree, ask: Ask, rules: Rules) -> Traversal:
    """Assign topics to one problem.

    Raises
    ------
    CallFailed
        When a call stays without a usable reply.
    """
    visits: list[VisitedTopic] = []
    kept: list[int] = []
    frontier = [tree.start()]
    while frontier:
        level = await _gather([_visit(problem, topic, tree, ask, rules) for topic in frontier])
        visits.extend(level)
        chosen = [
            child
            for visited in level
            for child, keep in zip(visited.children, visited.outcome.kept, strict=True)
            if keep
        ]
        kept.extend(chosen)
        frontier = [topic for topic in chosen if tree.children[topic]]
    assigned = most_specific(kept, tree.parent)
    return Traversal(problem["problem_id"], problem["content_hash"], tuple(visits), tuple(assigned))


async def _visit(problem: Mapping[str, Any], topic: int, tree: TopicTree, ask: Ask, rules: Rules) -> VisitedTopic:
    children = tree.children[topic]
    is_start = topic == tree.start()
    batches = [[children[i] for i in part] for part in split_into_batches(len(children), rules.largest_batch)]
    asked = [part if is_start else [topic, *part] for part in batches]
    answers = await _gather([ask(topic_request(problem, tree, part, topic, rules.prompt)) for part in asked])
    scored: list[Batch] = []
    calls: list[str] = []
    for part, (call_id, reply) in zip(asked, answers, strict=True):
        if reply.error is not None:
            raise CallFailed(reply.error)
        try:
            raw = parse_scores(reply.text, len(part))
        except InvalidReply as invalid:
            raise CallFailed(invalid.kind) from None
        scored.append(Batch(None, raw) if is_start else Batch(float(raw[0]), raw[1:]))
        calls.extend([call_id] * len(scored[-1].children))
    return VisitedTopic(topic, children, assess(scored, rules.tau), answers[0][0], tuple(calls))


async def _gather(awaitables: Sequence[Awaitable[Any]]) -> list[Any]:
    """Await all, also when one fails: calls under way are paid for and have to land."""
    if len(awaitables) == 1:
        return [await awaitables[0]]
    results = await asyncio.gather(*awaitables, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, CallFailed):
            raise result
    for result in results:
        if isinstance(result, CallFailed):
            raise result
    return list(results)


def to_rows(traversals: Sequence[Traversal], tree: TopicTree, stamp: Mapping[str, str]) -> pa.Table:
    """Return the rows of ``topic_scores`` for whole traversals.

    One row per scored topic of a visit. The visited topic's own row has ``kept`` and ``assigned`` false: it was
    kept by the visit of its parent, whose row says whether it is assigned in the end.

    Parameters
    ----------
    stamp
        Values of the columns that are the same in all rows (traversal_id, provider, model, prompt_version,
        variant).
    """
    parts = [_Columns(traversal, visited) for traversal in traversals for visited in traversal.visits]
    sizes = np.array([len(part.topic) for part in parts], dtype=np.int64)
    topic_ids = pa.array(tree.topic_ids, pa.string())
    topic = np.concatenate([part.topic for part in parts]) if parts else np.empty(0, np.int64)
    visited = np.repeat(np.array([part.visited for part in parts], dtype=np.int64), sizes)
    score = np.concatenate([part.score for part in parts]) if parts else np.empty(0)
    raw = np.concatenate([part.raw for part in parts]) if parts else np.empty(0)
    columns: dict[str, pa.Array] = {
        "problem_id": _repeat([part.problem_id for part in parts], sizes),
        "visited_topic_id": topic_ids.take(pa.array(visited)),
        "topic_id": topic_ids.take(pa.array(topic)),
        "raw_score": pa.array(raw),
        "score": pa.array(score, mask=np.isnan(score)),
        "kept": pa.array(np.concatenate([part.kept for part in parts]) if parts else [], pa.bool_()),
        "assigned": pa.array(np.concatenate([part.assigned for part in parts]) if parts else [], pa.bool_()),
        "call_id": pa.array([call for part in parts for call in part.calls], pa.string()),
        "content_hash": _repeat([part.content_hash for part in parts], sizes),
    }
    columns |= {name: pa.repeat(pa.scalar(value, pa.string()), len(topic)) for name, value in stamp.items()}
    return pa.table(columns)


class _Columns:
    """The rows of one visit, column by column, the visited topic first where it was a candidate."""

    def __init__(self, traversal: Traversal, visited: VisitedTopic) -> None:
        outcome = visited.outcome
        own = [visited.topic] if outcome.node_raw is not None else []
        own_raw = [outcome.node_raw] if outcome.node_raw is not None else []
        own_score = [outcome.node_score] if outcome.node_score is not None else []
        self.problem_id, self.content_hash = traversal.problem_id, traversal.content_hash
        self.visited = visited.topic
        self.topic = np.array([*own, *visited.children], dtype=np.int64)
        self.raw = np.array([*own_raw, *outcome.raw], dtype=np.float64)
        self.score = np.array([*own_score, *outcome.score], dtype=np.float64)
        self.kept = np.concatenate((np.zeros(len(own), dtype=bool), outcome.kept))
        assigned = set(traversal.assigned)
        # A child has one parent, so it is a candidate child in one visit only.
        self.assigned = self.kept & np.array([topic in assigned for topic in self.topic], dtype=bool)
        self.calls = ([visited.node_call] if own else []) + list(visited.child_calls)


def _repeat(values: Sequence[str], sizes: np.ndarray[Any, Any]) -> pa.Array:
    return pa.array(values, pa.string()).take(pa.array(np.repeat(np.arange(len(values)), sizes)))
