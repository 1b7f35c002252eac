"""What is asked about a solution, and how a broken rule is put to the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from annotate.prompts import Prompt
from annotate.providers.base import Request
from annotate.summaries.reading import SCHEMA, RuleBroken

PLACES = ("statement", "solution")


def summary_request(problem: Mapping[str, Any], prompt: Prompt | None) -> Request:
    """Ask for the summary of one solution; without a prompt, the offline provider is asked by content hash."""
    about = {"problem_id": problem["problem_id"]}
    if prompt is None:
        return Request(
            purpose="summary",
            prompt_version="summary@offline",
            messages=({"role": "user", "content": f"extractive summary of text {problem['content_hash']}"},),
            payload={"problem": problem},
            about=about,
        )
    return Request(
        purpose="summary",
        prompt_version=prompt.version,
        messages=prompt.messages(statement=problem["statement"] or "", solution=problem["solution"] or ""),
        schema=SCHEMA,
        about=about,
    )


def corrected(request: Request, reply: str, broken: RuleBroken, call_id: str) -> Request:
    """Ask again with the earlier reply and the rule it broke; another call, which says what it corrects."""
    objection = (
        f"This answer breaks a rule: {broken}. Give the whole JSON object again with this mended and everything "
        "else as good as before. Answer with the JSON object alone."
    )
    messages = (
        *request.messages,
        {"role": "assistant", "content": reply},
        {"role": "user", "content": objection},
    )
    about = {**request.about, "corrects": call_id, "violation": broken.kind}
    return replace(request, messages=messages, about=about)
