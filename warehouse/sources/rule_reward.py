"""Tables for training with rule-based rewards (verl): prompts wrapped in instructions, bare answers.

The "solution" of such a table is often the final answer alone: then the problem has no solution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.cleaning.credits import strip_instructions
from warehouse.readers import Row
from warehouse.sources.draft import Draft, answer_of
from warehouse.sources.generic import Generic


class RuleReward(Generic):
    """Takes instructions off the prompt and the answer from ``reward_model.ground_truth``."""

    name = "rule-reward"

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By the reward model's column."""
        return "reward_model" in columns

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Strip instructions; tell a bare answer from a solution."""
        reward = self.cell(fields, "reward_model")
        truth = answer_of(reward.get("ground_truth")) if isinstance(reward, dict) else None
        draft.statement = strip_instructions(draft.statement) if draft.statement else None
        draft.answer = draft.answer or truth
        if draft.solution is not None and draft.solution.strip() == (truth or "").strip():
            draft.solution = None
        draft.metadata.pop("prompt", None)
