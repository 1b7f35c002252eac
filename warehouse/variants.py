"""What each stage's rows depend on, hashed: a row of another variant is never mixed into a mart.

The jobs stamp their rows with these hashes and the dbt plugin selects by them, so both sides compute them here.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb

from warehouse.errors import SaberError
from warehouse.identity import variant_hash
from warehouse.landing import Landing
from warehouse.settings import ROOT, Settings

DEDUPLICATION_VERSION = 1
"""Raised when the rules of `warehouse.deduplication` change, so that older rows are another variant."""

ANSWER_ONLY = "+answer-only"
"""Marks the prompt version of judges that are held to the boxed answer, without technique profiles."""


@dataclass(frozen=True)
class OntologyInUse:
    """The landed ontology that the marts read.

    Attributes
    ----------
    name
        Its name, "" when none has landed.
    fingerprint
        Hash of its edges, so that an edited ontology is another variant.
    branches
        Labels of the children of the root(s), in order.
    """

    name: str
    fingerprint: str
    branches: tuple[str, ...]


@dataclass(frozen=True)
class Variants:
    """The variant of each stage that the settings select."""

    duplicates: str
    topics: str
    summaries: str
    signals: str
    benchmark: str
    judgments: str
    ratings: str
    human: str


def ontology_in_use(settings: Settings, landing: Landing) -> OntologyInUse:
    """Return the ontology named in the settings, else the one landed last.

    Raises
    ------
    SaberError
        When the settings name an ontology that has not landed.
    """
    source = (
        f"select * from ({landing.scan_sql('ontology_edges')}) "
        "qualify row_number() over (partition by ontology, parent, child order by sequence desc) = 1"
    )
    with duckdb.connect() as connection:
        connection.execute(f"create temp table edges as {source}")
        named = settings.ontology.name
        if named:
            found = connection.execute("select 1 from edges where ontology = ? limit 1", [named]).fetchall()
            if not found:
                raise SaberError(
                    f"saber.toml names the ontology {named!r}, which has not landed. "
                    f"Land it: saber ingest ontology PATH --name {named}"
                )
        else:
            last = connection.execute("select arg_max(ontology, sequence) from edges").fetchall()
            named = (last and last[0][0]) or ""
        rows = connection.execute(
            "select coalesce(parent, ''), child, coalesce(label, '') from edges where ontology = ? order by all",
            [named],
        ).fetchall()
    digest = hashlib.sha256()
    for row in rows:
        digest.update("\x1f".join(row).encode() + b"\x1e")
    roots = {child for parent, child, _ in rows if not parent}
    branches = tuple(sorted({label or child for parent, child, label in rows if parent in roots}))
    return OntologyInUse(named, digest.hexdigest()[:12], branches)


def domain_map(settings: Settings, ontology: OntologyInUse) -> dict[str, tuple[str, ...]]:
    """Return {domain: top-level branches}; without a table in the settings each branch is a domain."""
    given = settings.domains.get(ontology.name)
    if given:
        return dict(given)
    excluded = set(settings.ontology.excluded_branches)
    return {branch: (branch,) for branch in ontology.branches if branch not in excluded}


def prompt_version(settings: Settings, prompt: str) -> str:
    """Return ``name@hash`` of a prompt file, so that a changed prompt never reuses an old reply.

    Raises
    ------
    SaberError
        When the file named in the settings cannot be read.
    """
    path = prompt_path(settings, prompt)
    try:
        text = path.read_bytes()
    except OSError as error:
        raise SaberError(f"Prompt {prompt}: {path} cannot be read ({error.strerror}).") from error
    return f"{path.stem}@{hashlib.sha256(text).hexdigest()[:8]}"


def judge_prompt_version(settings: Settings, kind: str, answer_only: bool) -> str:
    """Return the prompt version of a judge of this kind; the boxed answer alone is another way of asking."""
    version = prompt_version(settings, "judge_ordinal" if kind == "ordinal" else "judge_pairwise")
    return version + (ANSWER_ONLY if answer_only else "")


def prompt_path(settings: Settings, prompt: str) -> Path:
    """Return the file of a prompt; relative paths count from the project's root."""
    named = Path(getattr(settings.prompts, prompt))
    return named if named.is_absolute() else ROOT / named


def topics_variant(
    settings: Settings, ontology: OntologyInUse, provider: str, model: str, version: str | None = None
) -> str:
    """Hash what a topic assignment depends on (texts apart: rows carry their hashes)."""
    return variant_hash(
        {
            "stage": "topics",
            "ontology": [ontology.name, ontology.fingerprint],
            "excluded": sorted(settings.ontology.excluded_branches),
            "threshold": settings.annotation.topic_threshold,
            **_model(settings, "topics", provider, model, version),
        }
    )


def summaries_variant(settings: Settings, provider: str, model: str, version: str | None = None) -> str:
    """Hash what a summary depends on."""
    return variant_hash({"stage": "summaries", **_model(settings, "summary", provider, model, version)})


def duplicates_variant(settings: Settings) -> str:
    """Hash what deduplication depends on."""
    corpus = settings.corpus
    return variant_hash(
        {
            "stage": "duplicates",
            "threshold": corpus.duplicate_threshold,
            "priority": list(corpus.source_priority),
            "version": DEDUPLICATION_VERSION,
        }
    )


def signals_variant(settings: Settings, ontology: OntologyInUse) -> str:
    """Hash what information content, thresholds and qualifying pairs depend on, the corpus apart.

    While it stays the same, a corpus that grows may keep them (``signals.growth = "frozen"``).
    """
    annotation, benchmark = settings.annotation, settings.benchmark
    return variant_hash(
        {
            "stage": "signals",
            "topics": topics_variant(settings, ontology, annotation.provider, annotation.model),
            "summaries": summaries_variant(settings, annotation.provider, annotation.model),
            "signals": _of_signals(settings, but="growth"),
            "partners": [benchmark.candidates_per_class, benchmark.min_eligible],
            "domains": {name: list(branches) for name, branches in domain_map(settings, ontology).items()},
        }
    )


def benchmark_variant(settings: Settings, ontology: OntologyInUse) -> str:
    """Hash what the queries and candidates depend on."""
    signals = _of_signals(settings)
    annotation = settings.annotation
    return variant_hash(
        {
            "stage": "benchmark",
            "topics": topics_variant(settings, ontology, annotation.provider, annotation.model),
            "summaries": summaries_variant(settings, annotation.provider, annotation.model),
            "corpus": _plain(asdict(settings.corpus)),
            "signals": signals,
            "benchmark": asdict(settings.benchmark),
            "domains": {name: list(branches) for name, branches in domain_map(settings, ontology).items()},
        }
    )


def judgments_variant(
    settings: Settings,
    ontology: OntologyInUse,
    provider: str | None = None,
    model: str | None = None,
    judge: str | None = None,
    schedule: str | None = None,
    version: str | None = None,
) -> str:
    """Hash what a tournament's judgments depend on; rounds are left out, since more rounds extend it."""
    judging = settings.judging
    kind, provider = judge or judging.judge, provider or judging.provider
    if provider == "offline":
        version = None
    elif version is None:
        version = judge_prompt_version(settings, kind, judging.answer_only)
    return variant_hash(
        {
            "stage": "judgments",
            "benchmark": benchmark_variant(settings, ontology),
            "judge": kind,
            "schedule": schedule or judging.schedule,
            "seed": judging.seed,
            "provider": provider,
            "model": model or judging.model,
            "prompt": version,
        }
    )


def human_variant(benchmark: str) -> str:
    """Hash what people's judgments depend on, given the variant of the candidates they were shown."""
    return variant_hash({"stage": "human", "benchmark": benchmark})


def ratings_variant(settings: Settings, judgments: str) -> str:
    """Hash what the ratings depend on, given the variant of their judgments."""
    ratings = settings.ratings
    return variant_hash({"stage": "ratings", "judgments": judgments, "ridge": ratings.ridge, "scale": ratings.scale})


def selected_variants(settings: Settings, ontology: OntologyInUse) -> Variants:
    """Return the variants that the marts read under these settings."""
    annotation = settings.annotation
    judgments = judgments_variant(settings, ontology)
    return Variants(
        duplicates=duplicates_variant(settings),
        topics=topics_variant(settings, ontology, annotation.provider, annotation.model),
        summaries=summaries_variant(settings, annotation.provider, annotation.model),
        signals=signals_variant(settings, ontology),
        benchmark=benchmark_variant(settings, ontology),
        judgments=judgments,
        ratings=ratings_variant(settings, judgments),
        human=human_variant(benchmark_variant(settings, ontology)),
    )


def _of_signals(settings: Settings, but: str | None = None) -> dict[str, Any]:
    """Settings of the signals that decide which pairs qualify."""
    indifferent = {"memory_mib", "workers", "whole_curve", "max_stored_share", "stored_anyway", but}
    if settings.signals.growth == "refresh":
        indifferent.add("growth")  # the rule before there was a choice: rows that landed under it stay valid
    return {key: value for key, value in asdict(settings.signals).items() if key not in indifferent}


def _model(settings: Settings, prompt: str, provider: str, model: str, version: str | None) -> dict[str, Any]:
    # The offline provider reads facts, not the prompt's words, so its rows do not depend on the prompt file.
    if provider != "offline" and version is None:
        version = prompt_version(settings, prompt)
    return {"provider": provider, "model": model, "prompt": None if provider == "offline" else version}


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
