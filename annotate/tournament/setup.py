"""Who judges whom under which variant: what `saber judge` and `saber rate` prepare alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotate.judges.base import Judge
from annotate.judges.choice import model_judge, offline_judge, prompt_name
from annotate.prompts import with_prompt_file
from annotate.providers import make_provider
from annotate.providers.base import Provider
from annotate.tournament.asking import Provenance
from annotate.tournament.field import Field, read_field
from warehouse.cli.common import dbt_build, open_warehouse
from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.settings import Settings
from warehouse.variants import benchmark_variant, judgments_variant, ontology_in_use

OFFLINE = "offline"


@dataclass(frozen=True)
class Choice:
    """What the command line may choose; None = as the settings say."""

    judge: str | None = None
    schedule: str | None = None
    provider: str | None = None
    model: str | None = None
    base_url: Sequence[str] | None = None
    prompt_file: str | None = None
    answer_only: bool | None = None


@dataclass(frozen=True)
class Setup:
    """A tournament's parties.

    Attributes
    ----------
    field
        Queries, candidates and texts.
    judges
        The judge of each query.
    provenance
        Benchmark, schedule, variant, provider and model of every verdict.
    """

    settings: Settings
    landing: Landing
    field: Field
    judges: tuple[Judge, ...]
    provenance: Provenance
    provider: Provider

    @property
    def judge_names(self) -> list[str]:
        """The name of each query's judge."""
        return [judge.name for judge in self.judges]


def prepare(settings: Settings, choice: Choice) -> Setup:
    """Read the candidates and choose the judges; the warehouse file is closed again, since jobs take long.

    Raises
    ------
    SaberError
        When the warehouse was built under other settings, or provider or prompt cannot be used.
    """
    judging, landing = settings.judging, Landing(settings.home)
    kind = choice.judge or judging.judge
    schedule = choice.schedule or judging.schedule
    provider_name = choice.provider or judging.provider
    model = choice.model
    if model is None and provider_name == judging.provider:
        model = judging.model
    provider = make_provider(settings, provider_name, model, choice.base_url or None)
    settings = with_prompt_file(settings, prompt_name(kind), choice.prompt_file)
    ontology = ontology_in_use(settings, landing)
    with open_warehouse(settings) as connection:
        field = read_field(connection, settings.benchmark.name, settings.variant)
    if field.entrants and field.variant != benchmark_variant(settings, ontology):
        raise SaberError(
            "The candidates in the warehouse were drawn under other settings than saber.toml has now. "
            f"Bring them up to date: {dbt_build(settings.variant)}"
        )
    if provider_name == OFFLINE:
        judges = tuple(offline_judge(kind, field.of_query(one)) for one in field.entrants)
        version = None
    else:
        answer_only = judging.answer_only if choice.answer_only is None else choice.answer_only
        judge = model_judge(settings, kind, answer_only=answer_only)
        judges = (judge,) * len(field.entrants)
        version = judge.prompt_version
    variant = judgments_variant(settings, ontology, provider_name, provider.model, kind, schedule, version)
    provenance = Provenance(field.benchmark, schedule, variant, provider_name, provider.model)
    return Setup(settings, landing, field, judges, provenance, provider)
