"""New versions of problems: what a step changed, what stood there before, and the way back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from annotate.sourcing.candidates import steps_of
from annotate.sourcing.step import Change, metadata_of
from warehouse.identity import content_hash
from warehouse.landing import Landing

COLUMNS = (
    "problem_id",
    "source",
    "source_id",
    "statement",
    "solution",
    "answer",
    "language",
    "licence",
    "metadata",
    "content_hash",
)


def new_version(
    problem: Mapping[str, Any], step: str, change: Change, call_ids: list[str], variant: str
) -> dict[str, Any]:
    """Lay a change over a problem.

    The texts of before stay in ``metadata.original`` (of several changes the first), and ``metadata.steps`` says
    which call of which step made the version.
    """
    fields = {name: value for name, value in change.fields.items() if value != problem[name]}
    metadata = metadata_of(problem)
    if fields:
        metadata["original"] = {**{name: problem[name] for name in fields}, **metadata.get("original", {})}
    entry = {"step": step, "calls": call_ids, "variant": variant, "changed": sorted(fields), **change.notes}
    metadata["steps"] = [*steps_of(problem), entry]
    row = {**{name: problem[name] for name in COLUMNS}, **fields}
    row["content_hash"] = content_hash(row["statement"], row["solution"])
    row["metadata"] = json.dumps(metadata, ensure_ascii=False)
    return row


def versions_before(landing: Landing, step: str, source: str | None = None) -> list[dict[str, Any]]:
    """Return, for each problem that the step has changed, its last version without the step.

    Later steps go with it, since they worked on what this one had made.
    """
    history: dict[str, list[dict[str, Any]]] = {}
    for row in landing.read("problems", latest=False).to_pylist():
        if source is None or row["source"] == source:
            history.setdefault(row["problem_id"], []).append(row)
    before = []
    for versions in history.values():
        done = [any(entry.get("step") == step for entry in steps_of(version)) for version in versions]
        if done[-1] and not all(done):
            last = max(place for place, with_step in enumerate(done) if not with_step)
            before.append({name: versions[last][name] for name in COLUMNS})
    return before
