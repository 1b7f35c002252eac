"""The annotation stages as functions: who answers, in which words, under which variant; run or parsed again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotate.calls.log import CallLog
from annotate.calls.policy import Policy
from annotate.calls.validate import Validator
from annotate.problems import PendingProblems, Work
from annotate.prompts import Prompt, load_prompt, with_prompt_file
from annotate.providers import make_provider
from annotate.providers.base import Provider, Request
from annotate.summaries import job as summary_job
from annotate.summaries.requests import PLACES as SUMMARY_PLACES
from annotate.topics import job as topic_job
from annotate.topics.requests import PLACES as TOPIC_PLACES
from annotate.topics.traversal import Rules
from annotate.topics.tree import TopicTree, load_tree
from warehouse.landing import Landing
from warehouse.settings import Settings
from warehouse.variants import ontology_in_use, summaries_variant, topics_variant

OFFLINE = "offline"


@dataclass(frozen=True)
class Stage:
    """One annotation stage, ready to run.

    Attributes
    ----------
    name
        ``topics`` or ``summaries``.
    prompt
        None for the offline provider, which reads facts instead of words.
    variant
        Hash of all that the rows depend on beside the texts.
    tree
        The ontology's topics, for the topic stage.
    """

    name: str
    settings: Settings
    landing: Landing
    provider: Provider
    provider_name: str
    prompt: Prompt | None
    variant: str
    tree: TopicTree | None = None

    @property
    def table(self) -> str:
        """The landed table of the stage's rows."""
        return topic_job.TABLE if self.name == "topics" else summary_job.TABLE

    @property
    def purpose(self) -> str:
        """The purpose of the stage's calls, which is also the name of its prompt."""
        return "topics" if self.name == "topics" else "summary"

    @property
    def validate(self) -> Validator:
        """The check of the stage's replies."""
        return topic_job.validate if self.name == "topics" else summary_job.validate

    @property
    def stamp(self) -> dict[str, str]:
        """Values of the columns that say where a row comes from."""
        return {
            "provider": self.provider_name,
            "model": self.provider.model,
            "prompt_version": self.prompt.version if self.prompt else f"{self.purpose}@offline",
            "variant": self.variant,
        }

    def pending(self) -> PendingProblems:
        """Open the problems that have no rows of this variant and text."""
        return PendingProblems(self.landing, self.settings, self.table, self.variant)


def make_stage(
    name: str,
    settings: Settings,
    provider: str | None = None,
    model: str | None = None,
    base_url: Sequence[str] | None = None,
    prompt_file: str | None = None,
) -> Stage:
    """Prepare the stage ``topics`` or ``summaries``; provider and model default to those of the settings.

    Raises
    ------
    SaberError
        For an unknown provider, an unreadable prompt, or no ontology.
    """
    annotation = settings.annotation
    provider = provider or annotation.provider
    if model is None and provider == annotation.provider:
        model = annotation.model
    landing = Landing(settings.home)
    who = make_provider(settings, provider, model, base_url or None)
    prompt_name, places = ("topics", TOPIC_PLACES) if name == "topics" else ("summary", SUMMARY_PLACES)
    settings = with_prompt_file(settings, prompt_name, prompt_file)
    prompt = None if provider == OFFLINE else load_prompt(settings, prompt_name, places)
    tree = None
    if name == "topics":
        ontology = ontology_in_use(settings, landing)
        tree = load_tree(landing, settings, ontology)
        variant = topics_variant(settings, ontology, provider, who.model)
    else:
        variant = summaries_variant(settings, provider, who.model)
    return Stage(name, settings, landing, who, provider, prompt, variant, tree)


def policy_of(stage: Stage, concurrency: int | None = None) -> Policy:
    """Return the provider's policy, with another number of calls at once where one is given."""
    policy: Policy = getattr(stage.provider, "policy", None) or Policy()
    return policy if concurrency is None else replace(policy, concurrency=concurrency)


def run_stage(
    stage: Stage,
    pending: PendingProblems,
    work: Work,
    job_id: str,
    limit: int | None = None,
    concurrency: int | None = None,
    retry_quarantined: bool = False,
    send: bool = True,
    on_missing: Callable[[Request], None] | None = None,
) -> dict[str, Any]:
    """Do the pending problems and return what was done; ``send`` false reads the call log and asks nothing.

    Parameters
    ----------
    limit
        Problems to do at most. Those whose calls are quarantined are passed over without counting, so that a
        repeated run goes on; they are counted as failed.
    on_missing
        Called with each request that is not in the log when nothing may be sent.

    Returns
    -------
    dict
        Counts of the stage, and under ``calls`` those of the call log. ``failed`` counts problems without rows.
    """
    policy = replace(policy_of(stage, concurrency), retry_quarantined=retry_quarantined)
    total = work.pending if limit is None else min(limit, work.pending)
    log = CallLog(
        stage.landing,
        stage.provider,
        job_id,
        policy=policy,
        validate=stage.validate,
        send=send,
        on_missing=on_missing,
        progress=False,
    )
    return asyncio.run(_run(stage, pending.records(), total, limit, job_id, log))


async def _run(
    stage: Stage, problems: Iterable[Mapping[str, Any]], total: int, limit: int | None, job_id: str, log: CallLog
) -> dict[str, Any]:
    try:
        async with log:
            job: topic_job.TopicJob | summary_job.SummaryJob
            if stage.tree is not None:
                rules = Rules(stage.settings.annotation.topic_threshold, stage.prompt)
                job = topic_job.TopicJob(stage.landing, log, stage.tree, rules, stage.stamp, job_id)
            else:
                job = summary_job.SummaryJob(stage.landing, log, stage.prompt, stage.stamp, job_id)
            outcome = await job.run(problems, total, limit)
    finally:
        close = getattr(stage.provider, "close", None)
        if close is not None:
            await close()
    return {**outcome.as_dict(), "calls": log.counts.as_dict()}
