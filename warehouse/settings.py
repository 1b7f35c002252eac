"""Settings: one ``saber.toml``, read by every command and by the dbt plugin.

Order, later wins: built-in defaults, ``saber.toml``, its ``[sample]`` table while the sample is the only corpus
landed, its ``[variants.NAME]`` table, explicit overrides (``dbt --vars``).
"""

from __future__ import annotations

import dataclasses
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warehouse.errors import SaberError
from warehouse.setting_ranges import in_range

ROOT = Path(__file__).resolve().parent.parent
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}\Z")


@dataclass(frozen=True)
class Corpus:
    languages: tuple[str, ...] = ()
    source_priority: tuple[str, ...] = ("official", "numina", "aops")
    duplicate_threshold: float = 0.8


@dataclass(frozen=True)
class Ontology:
    name: str = ""
    root: str = "Mathematics"
    max_topics: int = 200_000
    excluded_branches: tuple[str, ...] = ()


@dataclass(frozen=True)
class Annotation:
    provider: str = "offline"
    model: str = "lexical-1"
    topic_threshold: float = 0.85


@dataclass(frozen=True)
class Prompts:
    topics: str = "annotate/prompts/topics.md"
    summary: str = "annotate/prompts/summary.md"
    judge_pairwise: str = "annotate/prompts/judge_pairwise.md"
    judge_ordinal: str = "annotate/prompts/judge_ordinal.md"
    sourcing_best_solution: str = "annotate/prompts/sourcing_best_solution.md"
    sourcing_translate: str = "annotate/prompts/sourcing_translate.md"
    sourcing_segment: str = "annotate/prompts/sourcing_segment.md"
    sourcing_format: str = "annotate/prompts/sourcing_format.md"
    sourcing_complete: str = "annotate/prompts/sourcing_complete.md"


@dataclass(frozen=True)
class Signals:
    tokeniser: str = "unicode"
    comparison: str = "exact"
    topic_threshold: float | str = "data"
    summary_threshold: float | str = "data"
    grid_first: int = 6
    grid_last: int = 90
    whole_curve: int = 50_000
    max_stored_share: float = 0.01
    stored_anyway: int = 5_000_000
    growth: str = "refresh"
    memory_mib: int = 1024
    workers: int = 2


@dataclass(frozen=True)
class Benchmark:
    name: str = "saber-math"
    queries: int = 100
    candidates_per_class: int = 10
    min_eligible: int = 40
    seed: int = 20260


@dataclass(frozen=True)
class Judging:
    judge: str = "pairwise"
    provider: str = "offline"
    model: str = "lexical-1"
    schedule: str = "swiss"
    answer_only: bool = False
    rounds: int = 10
    seed: int = 20261


@dataclass(frozen=True)
class Ratings:
    ridge: float | str = 1.0
    scale: float = 5.0
    replicates: int = 0
    seed: int = 20262


@dataclass(frozen=True)
class Evaluation:
    cutoffs: tuple[int, ...] = (5, 10, 20)
    gain: str = "exp"
    formulas: str = "rules"
    tie_break: str = "document"
    bootstrap_replicates: int = 1000
    seed: int = 20263


@dataclass(frozen=True)
class Retrieval:
    systems: tuple[str, ...] = ("bm25", "tfidf", "jaccard", "random")
    idf: str = "corpus"
    seed: int = 20264


_CHOICES = {
    "signals.tokeniser": ("unicode", "published"),
    "signals.comparison": ("exact", "published"),
    "signals.growth": ("refresh", "frozen"),
    "judging.judge": ("pairwise", "majority", "ordinal"),
    "judging.schedule": ("swiss", "random", "exhaustive"),
    "evaluation.gain": ("exp", "lin"),
    "evaluation.tie_break": ("document", "trec"),
    "retrieval.idf": ("corpus", "candidates"),
}


@dataclass(frozen=True)
class Settings:
    """Every setting in force, by section.

    ``providers``, ``domains`` and ``sources`` are tables of the user's own names; ``sources`` says what is known of
    a source and not of its rows: licence and language.
    """

    home: Path
    variant: str = ""
    corpus: Corpus = field(default_factory=Corpus)
    ontology: Ontology = field(default_factory=Ontology)
    annotation: Annotation = field(default_factory=Annotation)
    prompts: Prompts = field(default_factory=Prompts)
    signals: Signals = field(default_factory=Signals)
    benchmark: Benchmark = field(default_factory=Benchmark)
    judging: Judging = field(default_factory=Judging)
    ratings: Ratings = field(default_factory=Ratings)
    evaluation: Evaluation = field(default_factory=Evaluation)
    retrieval: Retrieval = field(default_factory=Retrieval)
    domains: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    providers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def as_rows(self) -> dict[str, Any]:
        """Return the settings that shape the tables as {"section.key": value}, without home or providers."""
        rows: dict[str, Any] = {}
        for section in _SECTIONS:
            for key, value in dataclasses.asdict(getattr(self, section)).items():
                rows[f"{section}.{key}"] = list(value) if isinstance(value, tuple) else value
        return rows


_SECTIONS: dict[str, type] = {
    "corpus": Corpus,
    "ontology": Ontology,
    "annotation": Annotation,
    "prompts": Prompts,
    "signals": Signals,
    "benchmark": Benchmark,
    "judging": Judging,
    "ratings": Ratings,
    "evaluation": Evaluation,
    "retrieval": Retrieval,
}


def home_folder(home: Path | str | None = None) -> Path:
    """Return the warehouse home: the argument, else ``SABER_HOME``, else ``data/`` in the project's root."""
    chosen = Path(home or os.environ.get("SABER_HOME") or ROOT / "data").expanduser().resolve()
    if chosen.exists() and not chosen.is_dir():
        raise SaberError(f"{chosen} is a file, and a warehouse home is a folder. Name another in SABER_HOME.")
    return chosen


def load_settings(
    home: Path | str | None = None,
    variant: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    path: Path | None = None,
) -> Settings:
    """Read ``saber.toml`` (``SABER_SETTINGS`` names another file) and check every key and value.

    Parameters
    ----------
    home
        Warehouse home; see :func:`home_folder`.
    variant
        A name under ``[variants]`` to lay over the rest; ``SABER_VARIANT`` when not given.
    overrides
        {"section.key": value}, as given by ``dbt --vars``.

    Raises
    ------
    SaberError
        For an unknown section, key, variant or choice, or a value of the wrong type.
    """
    place = home_folder(home)
    file = path or Path(os.environ.get("SABER_SETTINGS") or ROOT / "saber.toml")
    try:
        document = tomllib.loads(file.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise SaberError(f"Settings file {file} cannot be read: {error}.") from error
    sample, variants = document.pop("sample", {}), document.pop("variants", {})
    layers = [document]
    if landed_sources(place) <= {"sample"}:  # also true of an empty warehouse
        layers.append(sample)
    chosen = variant if variant is not None else os.environ.get("SABER_VARIANT", "")
    if chosen:
        if not isinstance(chosen, str):  # --vars are YAML
            raise SaberError(f"The variant must be a name, not {chosen!r}.")
        if chosen not in variants and not overrides:
            known = ", ".join(sorted(variants)) or "none"
            raise SaberError(f"{file} has no [variants.{chosen}]. Known: {known}.")
        if not _NAME.match(chosen):
            raise SaberError(f"Variant name {chosen!r} must be lower case letters, digits, '-' or '_'.")
        if twins := [name for name in variants if name != chosen and _schema(name) == _schema(chosen)]:
            raise SaberError(
                f"{file}: variants {chosen} and {twins[0]} would share their schemas. Rename one of them."
            )
        layers.append(variants.get(chosen, {}))
    layers.append(_nest(overrides or {}))
    values: dict[str, Any] = {"domains": {}, "providers": {}, "sources": {}}
    for layer in layers:
        _lay(values, layer, file)
    return Settings(home=place, variant=chosen, **values)


def _schema(variant: str) -> str:
    """Return what the schemas of a variant end with, as macros/generate_schema_name.sql does."""
    return variant.replace("-", "_")


def _nest(flat: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    nested: dict[str, dict[str, Any]] = {}
    for name, value in flat.items():
        section, _, key = name.partition(".")
        nested.setdefault(section, {}).update(value if isinstance(value, Mapping) and not key else {key: value})
    return nested


def _lay(values: dict[str, Any], layer: Mapping[str, Any], file: Path) -> None:
    for section, content in layer.items():
        if not isinstance(content, Mapping):
            raise SaberError(f"{file}: {section} must be a table.")
        if section == "domains":
            for ontology, table in content.items():
                values["domains"][ontology] = {domain: tuple(branches) for domain, branches in table.items()}
        elif section == "providers":
            values["providers"].update(content)
        elif section == "sources":
            for source, table in content.items():
                values["sources"][source] = _checked_source(source, table, file)
        elif section in _SECTIONS:
            current = values.get(section) or _SECTIONS[section]()
            changes = {key: _checked(section, key, current, value, file) for key, value in content.items()}
            values[section] = dataclasses.replace(current, **changes)
        else:
            raise SaberError(f"{file}: unknown section [{section}]. Known: {', '.join(sorted(_SECTIONS))}.")


def _checked_source(source: str, table: Any, file: Path) -> dict[str, str]:
    known = ("licence", "language")
    if not isinstance(table, Mapping) or not all(isinstance(value, str) for value in table.values()):
        raise SaberError(f"{file}: [sources.{source}] must be a table of texts.")
    if unknown := sorted(set(table) - set(known)):
        raise SaberError(f"{file}: unknown setting sources.{source}.{unknown[0]}. Known: {', '.join(known)}.")
    return dict(table)


def _checked(section: str, key: str, current: Any, value: Any, file: Path) -> Any:
    names = {f.name: str(f.type) for f in dataclasses.fields(current)}
    if key not in names:
        raise SaberError(f"{file}: unknown setting {section}.{key}. Known: {', '.join(sorted(names))}.")
    kind, name = names[key], f"{section}.{key}"
    if kind.startswith("tuple"):
        if not isinstance(value, list | tuple):
            raise SaberError(f"{file}: {name} must be a list.")
        return tuple(value)
    if kind == "float | str":
        if isinstance(value, str) and value in ("data", "auto"):
            return value
        kind = "float"
    wanted = {"float": (int, float), "int": (int,), "str": (str,), "bool": (bool,)}[kind]
    if not isinstance(value, wanted) or isinstance(value, bool) is not (kind == "bool"):
        raise SaberError(f"{file}: {name} must be of type {kind}, not {value!r}.")
    if (choices := _CHOICES.get(name)) and value not in choices:
        raise SaberError(f"{file}: {name} must be one of {', '.join(choices)}, not {value!r}.")
    return in_range(name, float(value) if kind == "float" else value, file)


def landed_sources(home: Path) -> set[str]:
    """Return the sources of the problems that have landed, retracted ones included."""
    from warehouse.landing import Landing

    sources: set[str] = set()
    for file in Landing(home).files("problems"):
        if file.rows:
            sources.update(file.note.split("\n"))
    return sources
