"""What is asked at a visited topic, and how the reply is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from annotate.calls.validate import InvalidReply
from annotate.prompts import Prompt
from annotate.prompts.replies import only_object, unit_number
from annotate.providers.base import Request
from annotate.topics.assignment import FloatArray
from annotate.topics.tree import TopicTree

PLACES = ("statement", "solution", "area", "candidates")


def topic_request(
    problem: Mapping[str, Any], tree: TopicTree, candidates: Sequence[int], visited: int, prompt: Prompt | None
) -> Request:
    """Ask for the scores of ``candidates`` (the visited topic first, unless it is where the traversal starts).

    Candidates are numbered 1..n in the prompt, because labels repeat and models misspell them. Without a
    prompt the request is for the offline provider: it says which question is meant instead of asking it, as
    the scorer reads the payload and the log need not hold every problem's text dozens of times.
    """
    about = {"problem_id": problem["problem_id"], "visited_topic_id": tree.topic_ids[visited]}
    if prompt is None:
        question = (
            f"lexical topic scores for text {problem['content_hash']} at topic {tree.topic_ids[visited]} "
            f"of tree {tree.version}, candidates {_positions(candidates, visited)}"
        )
        return Request(
            purpose="topics",
            prompt_version="topics@offline",
            messages=({"role": "user", "content": question},),
            payload={"problem": problem, "tree": tree, "visited": visited, "candidates": tuple(candidates)},
            about={**about, "labels": [tree.labels[topic] for topic in candidates]},
        )
    listed = "\n".join(f"{number}. {tree.labels[topic]}" for number, topic in enumerate(candidates, 1))
    messages = prompt.messages(
        statement=problem["statement"] or "",
        solution=problem["solution"] or "",
        area=tree.path(visited),
        candidates=listed,
    )
    return Request(
        purpose="topics",
        prompt_version=prompt.version,
        messages=messages,
        schema=scores_schema(len(candidates)),
        about=about,
    )


def scores_schema(n_candidates: int) -> dict[str, Any]:
    """JSON schema of a reply with the scores of ``n_candidates`` numbered labels."""
    score = {"type": "number", "minimum": 0, "maximum": 1}
    numbers = [str(number) for number in range(1, n_candidates + 1)]
    return {
        "type": "object",
        "properties": dict.fromkeys(numbers, score),
        "required": numbers,
        "additionalProperties": False,
    }


def parse_scores(text: str | None, n_candidates: int) -> FloatArray:
    """Return the raw scores in [0, 1] of candidates 1..n, shape (n,).

    Raises
    ------
    InvalidReply
        When a number is missing, unknown or repeated, or a score is no finite number in [0, 1].
    """
    found = only_object(text)
    wanted = [str(number) for number in range(1, n_candidates + 1)]
    missing, unknown = set(wanted) - set(found), set(found) - set(wanted)
    if missing or unknown:
        parts = [f"{len(missing)} labels have no score"] if missing else []
        parts += [f"unknown label numbers {', '.join(sorted(unknown)[:5])}"] if unknown else []
        raise InvalidReply("wrong_keys", "; ".join(parts))
    return np.array([unit_number(found[number], f"the score of label {number}") for number in wanted])


def _positions(candidates: Sequence[int], visited: int) -> str:
    """Name the asked children compactly by their positions in the tree, ``node`` for the visited topic."""
    children = [topic for topic in candidates if topic != visited]
    node = "node+" if len(children) < len(candidates) else ""
    return f"{node}{children[0]}..{children[-1]}/{len(children)}"
