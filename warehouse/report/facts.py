"""What the report tells, read from the snapshot; tables that a build lacks are named, not invented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from warehouse.marts import Marts
from warehouse.report import queries
from warehouse.report.distinctions import distinctions
from warehouse.report.provenance import Provenance, provenance
from warehouse.settings import Settings

Rows = list[dict[str, Any]]
OVERALL = "overall"


@dataclass
class Facts:
    """Everything on the page.

    Attributes
    ----------
    domains
        (domain, column of the leaderboard), in order.
    leaderboard
        Rows of ``evaluation.leaderboard`` with ``mean_latency_s``, and the ``distinction`` of runs of one system.
    intervals
        {(run id, domain): (low, high)}; the domain ``overall`` is the whole.
    ablation
        (class, rank, share of the class's candidates at this rank or above) over judged queries.
    classes
        One row a class: candidates, mean relevance, share among the ten most relevant.
    composition
        One row a domain: shares of corpus, queries and candidates, weight 1 shared by a problem's domains.
    missing
        What the snapshot lacks, a sentence each.
    """

    benchmark: str
    counts: dict[str, Any]
    domains: list[tuple[str, str]]
    leaderboard: Rows
    intervals: dict[tuple[str, str], tuple[float, float]]
    n_replicates: int | None
    ablation: Rows
    classes: Rows
    composition: Rows
    sources: Rows
    position_bias: Rows
    calls: Rows
    failures: Rows
    triads: Rows
    stale: Rows
    quotas: Rows
    problems: dict[str, int | None]
    provenance: Provenance
    missing: list[str] = field(default_factory=list)

    @property
    def judges(self) -> list[str]:
        """Judges behind the relevances of any benchmark on the leaderboard."""
        return sorted({row["judge"] for row in self.leaderboard if row["judge"]} | set(self.counts["judges"]))

    @property
    def flatters(self) -> bool:
        """Whether a judge compares words, which flatters lexical systems."""
        return any("offline-similarity" in judge for judge in self.judges)

    @property
    def is_offline(self) -> bool:
        """Whether no model has judged."""
        return any("offline" in judge for judge in self.judges)


class _Reader:
    """Reads relations that may not exist."""

    def __init__(self, marts: Marts) -> None:
        self.marts = marts
        self.missing: list[str] = []

    def rows(self, needs: Sequence[str], sql: str, what: str) -> Rows:
        """Return a query's rows, none (and a line in `missing`) when a relation it needs is absent."""
        absent = [name for name in needs if not self.marts.columns(name)]
        if absent:
            self.missing.append(f"{what}: {', '.join(absent)} is not in this build.")
            return []
        names = {name.replace(".", "_"): self.marts.name(name) for name in needs}
        return self.marts.rows(sql.format(**names))


def collect(settings: Settings) -> Facts:
    """Read the facts of a build.

    Raises
    ------
    SaberError
        When there is no snapshot, or it has no leaderboard.
    """
    with Marts(settings) as marts:
        reader = _Reader(marts)
        counts = _counts(marts, reader)
        intervals, n_replicates = _intervals(reader)
        return Facts(
            benchmark=settings.benchmark.name,
            counts=counts,
            domains=_domains(marts),
            leaderboard=_leaderboard(marts, reader),
            intervals=intervals,
            n_replicates=n_replicates,
            ablation=reader.rows(["benchmark.qrels"], queries.ABLATION, "Signal ablation"),
            classes=reader.rows(["benchmark.qrels"], queries.CLASSES, "Relevance by class"),
            composition=reader.rows(
                ["ontology.domains", "signals.problem_domains", "benchmark.queries", "benchmark.candidates"],
                queries.COMPOSITION,
                "Composition",
            ),
            sources=reader.rows(["analysis.corpus_counts", "staging.stg_problems"], queries.SOURCES, "Sources"),
            position_bias=reader.rows(
                ["analysis.position_bias"], "select * from {analysis_position_bias} order by all", "Position bias"
            ),
            calls=reader.rows(["analysis.call_audit"], queries.CALLS, "Calls"),
            failures=reader.rows(["analysis.call_failures"], queries.FAILURES, "Failures by kind"),
            triads=reader.rows(
                ["analysis.intransitive_triads"],
                "select * from {analysis_intransitive_triads} order by all",
                "Intransitive triads",
            ),
            stale=reader.rows(["analysis.stale_rows"], queries.STALE, "Stale rows"),
            quotas=reader.rows(["benchmark.query_quotas"], "select * from {benchmark_query_quotas}", "Quotas"),
            problems=_problems(marts),
            provenance=provenance(settings, marts),
            missing=reader.missing,
        )


def _counts(marts: Marts, reader: _Reader) -> dict[str, Any]:
    rows = reader.rows(["benchmark.qrels", "benchmark.queries"], queries.COUNTS, "Counts")
    found: dict[str, Any] = rows[0] if rows else {}
    corpus = reader.rows(["signals.corpus_eligibility"], queries.CORPUS, "Corpus")
    judgments = reader.rows(
        ["staging.stg_judgments"],
        "select count(*) as n_judgments from {staging_stg_judgments} where is_selected and vote = 0",
        "Judgments",
    )
    found = {**found, **(corpus[0] if corpus else {}), **(judgments[0] if judgments else {})}
    return {**found, "judges": list(found.get("judges") or [])}


def _domains(marts: Marts) -> list[tuple[str, str]]:
    rows = marts.rows(
        f"select domain, domain_column from {marts.name('ontology.domains')} group by all order by min(position)"
    )
    columns = marts.columns("evaluation.leaderboard")
    return [(row["domain"], row["domain_column"]) for row in rows if row["domain_column"] in columns]


def _leaderboard(marts: Marts, reader: _Reader) -> Rows:
    rows = marts.rows(f"select * from {marts.name('evaluation.leaderboard')}")
    latency = reader.rows(
        ["evaluation.systems"], "select run_id, mean_latency_s, params from {evaluation_systems}", "Latency"
    )
    further = {row["run_id"]: row for row in latency}
    if rows and "rank" not in rows[0]:
        reader.missing.append("Rank intervals: evaluation.leaderboard of this build has none.")
    order = {"statement-full": 0, "full-full": 1, "statement-statement": 2}
    found = [{**row, **further.get(row["run_id"], {})} for row in rows]
    told = distinctions(found)
    found = [{**row, "distinction": told.get(row["run_id"], "")} for row in found]
    return sorted(
        found,
        key=lambda row: (
            row["benchmark"], row["scope"], order.get(row["setting"], 3), -(row[OVERALL] or 0), row["run_id"],
        ),
    )  # fmt: skip


def _intervals(reader: _Reader) -> tuple[dict[tuple[str, str], tuple[float, float]], int | None]:
    rows = reader.rows(
        ["evaluation.bootstrap_intervals"],
        "select run_id, domain, low, high, n_replicates from {evaluation_bootstrap_intervals}",
        "Intervals",
    )
    found = {(row["run_id"], row["domain"]): (row["low"], row["high"]) for row in rows if row["low"] is not None}
    return found, max((row["n_replicates"] for row in rows), default=None)


def _problems(marts: Marts) -> dict[str, int | None]:
    """Count the rows of views that list what should not be; None where a view is absent."""
    views = {
        "unjudged candidates": "analysis.unjudged_candidates",
        "unreadable landed files": "analysis.unreadable_files",
        "violated invariants": "analysis.violations",
        "similarities on which both paths differ": "analysis.similarity_disagreements",
        "refused runs": "analysis.refused_runs",
        "waiting for review": "analysis.review_list",
    }
    return {
        name: int(marts.value(f"select count(*) from {marts.name(view)}")) if marts.columns(view) else None
        for name, view in views.items()
    }
