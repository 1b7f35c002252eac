"""What imported rows are held to: the problems that have landed, the ontology, the benchmark, what was given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import duckdb

from warehouse.errors import SaberError
from warehouse.identity import pair_hash, variant_hash
from warehouse.imports.records import Fault
from warehouse.landing import Landing
from warehouse.marts import Marts
from warehouse.ontologies import Edge, Topic, unfold
from warehouse.settings import Settings
from warehouse.variants import OntologyInUse, Variants, benchmark_variant, ontology_in_use, selected_variants

HUMAN = "human"


@dataclass(frozen=True)
class Given:
    """What the command line says of the rows; a row's own columns win.

    Attributes
    ----------
    as_selected
        Land under the variant that the settings select, so that the marts read the rows.
    source
        Prefix of the ids of a collection from elsewhere: ``source/query:ID`` and ``source/document:ID``.
    """

    provider: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    judge: str | None = None
    schedule: str | None = None
    benchmark: str | None = None
    system: str | None = None
    setting: str | None = None
    scope: str | None = None
    idf: str | None = None
    source: str | None = None
    leaderboard: str | None = None
    measure: str | None = None
    origin: str | None = None
    gains: bool = False
    as_selected: bool = False


class Context:
    """The warehouse as imports see it; everything is read when first needed."""

    def __init__(self, settings: Settings, given: Given) -> None:
        self.settings = settings
        self.given = given
        self.landing = Landing(settings.home)
        self.files: tuple[str, ...] = ()
        """``name@digest`` of every file of this import, set by the job."""

    @cached_property
    def hashes(self) -> dict[str, str]:
        """{problem id: content hash} of the problems that have landed and are not withdrawn."""
        with duckdb.connect() as connection:
            rows = connection.execute(
                f"""
                with
                    latest as (
                        select problem_id, source, content_hash from ({self.landing.scan_sql("problems")})
                        qualify row_number() over (partition by problem_id order by sequence desc) = 1
                    ),
                    retracted as (
                        select source from ({self.landing.scan_sql("tombstones")})
                        group by source having arg_max(action, sequence) = 'retract'
                    )
                select problem_id, content_hash from latest where source not in (select source from retracted)
                """
            ).fetchall()
        return dict(rows)

    @cached_property
    def ontology(self) -> OntologyInUse:
        """The ontology in use."""
        return ontology_in_use(self.settings, self.landing)

    @cached_property
    def selected(self) -> Variants:
        """The variants that the settings select."""
        return selected_variants(self.settings, self.ontology)

    @cached_property
    def topics(self) -> dict[str, Topic]:
        """{topic id: topic} of the ontology in use."""
        if not self.ontology.name:
            raise SaberError("No ontology has landed yet. Land it first: saber ingest ontology PATH --name NAME")
        rows = self.landing.read("ontology_edges").select(["ontology", "parent", "child", "label"]).to_pylist()
        edges = [
            Edge(row["parent"], row["child"], row["label"] or row["child"])
            for row in rows
            if row["ontology"] == self.ontology.name
        ]
        return {topic.topic_id: topic for topic in unfold(edges, self.settings.ontology.max_topics)}

    @cached_property
    def candidates(self) -> dict[str, set[str]]:
        """{query id: its candidates} of the benchmark as built.

        Raises
        ------
        SaberError
            When it has not been built, or was built under other settings.
        """
        with Marts(self.settings) as marts:
            rows = marts.rows(f"select query_id, document_id, variant from {marts.name('benchmark.candidates')}")
        wanted = benchmark_variant(self.settings, self.ontology)
        if {row["variant"] for row in rows} != {wanted}:
            raise SaberError(
                "The candidates were not drawn under the settings in force. Bring them up to date: dbt build"
            )
        found: dict[str, set[str]] = {}
        for row in rows:
            found.setdefault(row["query_id"], set()).add(row["document_id"])
        return found

    @cached_property
    def eligible(self) -> set[str]:
        """Ids of the eligible problems as built."""
        with Marts(self.settings) as marts:
            rows = marts.rows(f"select problem_id from {marts.name('signals.eligible_problems')}")
        return {row["problem_id"] for row in rows}

    def imported_qrels(self, benchmark: str) -> tuple[str, dict[str, set[str]]]:
        """Return (variant, {query id: its judged documents}) of an imported benchmark's latest qrels."""
        rows = [row for row in self.landing.read("qrels").to_pylist() if row["benchmark"] == benchmark]
        if not rows:
            raise SaberError(
                f"No qrels of benchmark {benchmark!r} have landed. Land them first: saber import qrels PATH"
            )
        variant = max(rows, key=lambda row: row["sequence"])["variant"]
        found: dict[str, set[str]] = {}
        for row in rows:
            if row["variant"] == variant:
                found.setdefault(row["query_id"], set()).add(row["document_id"])
        return variant, found

    def hash_of(self, problem_id: str, role: str) -> str:
        """Return the content hash of a problem that must have landed."""
        if problem_id not in self.hashes:
            raise Fault(f"{role} {problem_id!r} is no problem that has landed")
        return self.hashes[problem_id]

    def seen(self, landed: str | None, *hashes: str) -> str:
        """Return the hash of the texts a row saw; one that the row names must be of the present texts."""
        present = hashes[0] if len(hashes) == 1 else pair_hash(*hashes)
        if landed is not None and landed != present:
            raise Fault("it saw another text than the one that has landed (content_hash differs)")
        return present

    def pair_must_compete(self, query_id: str, *document_ids: str) -> None:
        """Refuse documents that are no candidates of the query, for rows that land as selected."""
        if query_id not in self.candidates:
            raise Fault(f"{query_id!r} is no query of the benchmark")
        for document_id in document_ids:
            if document_id not in self.candidates[query_id]:
                raise Fault(f"{document_id!r} is no candidate of query {query_id!r}")

    def variant(self, kind: str, row: dict[str, Any], *names: str) -> str:
        """Hash the provenance of an imported row: its kind and the named columns."""
        return variant_hash({"stage": kind, "origin": "import", **{name: row.get(name) for name in names}})
