"""Who is asked in a sourcing step, in which words, and under which variant its results are noted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotate.calls.policy import Policy
from annotate.prompts import Prompt, load_prompt, with_prompt_file
from annotate.providers import make_provider
from annotate.providers.base import Provider
from warehouse.errors import SaberError
from warehouse.identity import variant_hash
from warehouse.landing import Landing
from warehouse.settings import Settings

OFFLINE = "offline"
_CANNOT = {
    "best-solution": "tell which of several solutions is right",
    "translate": "translate",
    "segment": "read a document (one with headings such as 'Problem 1' is read by: saber ingest problems)",
    "format": "tell formulas from words",
    "complete": "judge whether a text is complete",
}


@dataclass(frozen=True)
class Asking:
    """Everything a step needs to ask."""

    settings: Settings
    landing: Landing
    provider: Provider
    provider_name: str
    prompt: Prompt
    variant: str
    policy: Policy


def prepare(
    settings: Settings,
    step: str,
    prompt_name: str,
    places: Sequence[str],
    choices: Mapping[str, Any],
    provider: str | None = None,
    model: str | None = None,
    base_url: Sequence[str] | None = None,
    prompt_file: str | None = None,
    concurrency: int | None = None,
    retry_quarantined: bool = False,
) -> Asking:
    """Prepare a step; provider and model default to those of the annotation settings.

    Raises
    ------
    SaberError
        For the offline provider, which has no model to do any of these steps, and whatever
        :func:`make_provider` and :func:`load_prompt` refuse.
    """
    annotation = settings.annotation
    name = provider or annotation.provider
    if model is None and name == annotation.provider:
        model = annotation.model
    if name == OFFLINE:
        raise SaberError(
            f"The offline provider cannot {_CANNOT[step]}: it has no model. Name one that has: "
            "--provider server --model M --base-url URL, or a profile of saber.toml."
        )
    who = make_provider(settings, name, model, base_url or None)
    settings = with_prompt_file(settings, prompt_name, prompt_file)
    prompt = load_prompt(settings, prompt_name, places)
    variant = variant_hash(
        {
            "stage": f"source {step}",
            "provider": name,
            "model": who.model,
            "prompt": prompt.version,
            "choices": dict(choices),
        }
    )
    policy = getattr(who, "policy", None) or Policy()
    policy = replace(policy, concurrency=concurrency or policy.concurrency, retry_quarantined=retry_quarantined)
    return Asking(settings, Landing(settings.home), who, name, prompt, variant, policy)
