"""Which judge judges which query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.judges.asking import Asking
from annotate.judges.base import Judge, Problem
from annotate.judges.ordinal import PLACES as ORDINAL_PLACES
from annotate.judges.ordinal import OrdinalJudge
from annotate.judges.pairwise import PLACES as PAIRWISE_PLACES
from annotate.judges.pairwise import PairwiseJudge
from annotate.prompts import load_prompt
from annotate.providers.offline_judge import judge_name
from warehouse.settings import Settings

KINDS = ("pairwise", "majority", "ordinal")
BALLOTS = 5


def prompt_name(kind: str) -> str:
    """Return the settings' name of a judge's prompt."""
    return "judge_ordinal" if kind == "ordinal" else "judge_pairwise"


def model_judge(
    settings: Settings, kind: str, params: Mapping[str, Any] | None = None, answer_only: bool = False
) -> Judge:
    """Return a judge that asks a model with the prompt of the settings.

    Raises
    ------
    SaberError
        When the prompt cannot be used.
    """
    places = ORDINAL_PLACES if kind == "ordinal" else PAIRWISE_PLACES
    prompt = load_prompt(settings, prompt_name(kind), places)
    return _judge(kind, kind, Asking(prompt, params or {}, answer_only))


def offline_judge(kind: str, problems: Sequence[Problem]) -> Judge:
    """Return the judge of the offline provider for one query and all its candidates.

    One query has one judge: technique labels are compared only where the query and every candidate have them.
    """
    name = judge_name(*problems) + ("" if kind == "pairwise" else f"-{kind}")
    return _judge(kind, name, Asking(None))


def _judge(kind: str, name: str, asking: Asking) -> Judge:
    if kind not in KINDS:
        raise ValueError(f"Unknown judge {kind!r}; there are {', '.join(KINDS)}.")
    if kind == "ordinal":
        return OrdinalJudge(name, asking)
    return PairwiseJudge(name, asking, votes=BALLOTS if kind == "majority" else 1)
