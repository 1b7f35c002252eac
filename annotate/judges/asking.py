"""How judges word their requests: a prompt for models, facts for the offline provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate.judges.base import Problem
from annotate.prompts import Prompt
from annotate.providers.base import Request
from warehouse.identity import content_hash
from warehouse.variants import ANSWER_ONLY


@dataclass(frozen=True)
class Asking:
    """Makes the requests of a judge.

    Attributes
    ----------
    prompt
        The prompt; None asks the offline provider, which reads the problems themselves.
    params
        Sampling parameters laid over the provider's defaults.
    answer_only
        Constrain the reply to the boxed answer, without profiles (for models too small to write them).
    """

    prompt: Prompt | None
    params: Mapping[str, Any] = field(default_factory=dict)
    answer_only: bool = False

    @property
    def version(self) -> str:
        """``name@hash`` of the prompt, marked when only the answer is asked for."""
        if self.prompt is None:
            return "judge@offline"
        return self.prompt.version + (ANSWER_ONLY if self.answer_only else "")

    def request(
        self,
        judge: str,
        problems: Mapping[str, Problem],
        texts: Mapping[str, str],
        answers: tuple[str, ...],
        sample: int = 0,
    ) -> Request:
        """Word one call about ``problems`` (role to problem), filling ``texts`` into the prompt's places."""
        about = {f"{role}_id": problem["problem_id"] for role, problem in problems.items()}
        if self.prompt is None:
            facts = ", ".join(
                f"{role} {problem['content_hash']}/{_facts_hash(problem)}" for role, problem in problems.items()
            )
            return Request(
                purpose="judge",
                prompt_version=self.version,
                # The call's identity must hold all that decides the reply: the texts and labels by their
                # hashes, and the name of the judge, which says whether technique labels are compared.
                messages=({"role": "user", "content": f"{judge}: {facts}"},),
                sample=sample,
                payload={**problems, "judge": judge.removesuffix("-majority").removesuffix("-ordinal")},
                about=about,
            )
        return Request(
            purpose="judge",
            prompt_version=self.version,
            messages=self.prompt.messages(**texts),
            params=self.params,
            choices=answers if self.answer_only else None,
            sample=sample,
            about=about,
        )


def _facts_hash(problem: Problem) -> str:
    """Hash what the offline provider reads of a problem beside its text."""
    return content_hash(problem.get("metadata"), *(problem.get("topics") or ()))[:8]


def shown(role: str, problem: Problem) -> dict[str, str]:
    """Return the texts of a problem under the names of a prompt's places."""
    return {
        f"{role}_statement": problem["statement"] or "",
        f"{role}_solution": problem["solution"] or "(no solution is known)",
    }
