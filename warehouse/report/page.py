"""The page itself: sections in the order a reader asks, one style sheet, one script, a policy that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from itertools import groupby
from typing import Any

from warehouse.report import figures
from warehouse.report.audit import audit_section
from warehouse.report.facts import Facts
from warehouse.report.markup import Markup, raw, tag
from warehouse.report.scores import scores_section
from warehouse.report.tables import leaderboard, panel, section, table

_CLASSES = {"topic_only": "topic only", "summary_only": "summary only", "both": "both signals"}
_SECTIONS = (
    ("leaderboard", "Leaderboard"), ("scores", "Scores"), ("signals", "Signals"), ("corpus", "Corpus"),
    ("audit", "Audit"), ("provenance", "Provenance"),
)  # fmt: skip


def render(facts: Facts) -> str:
    """Return the whole page."""
    style, script = _asset("style.css"), _asset("script.js")
    policy = (
        f"default-src 'none'; style-src 'sha256-{_digest(style)}'; script-src 'sha256-{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{facts.benchmark}: report"),
        tag("style", raw(style)),
    )
    body = tag(
        "body",
        _header(facts),
        tag("nav", [tag("a", title, href=f"#{name}") for name, title in _SECTIONS], aria_label="sections"),
        tag(
            "main",
            _leaderboards(facts),
            scores_section(facts),
            _signals(facts),
            _corpus(facts),
            audit_section(facts),
            _provenance(facts),
        ),
        tag("script", raw(script)),
    )
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def _header(facts: Facts) -> Markup:
    counts = facts.counts
    per_query = counts.get("n_candidates", 0) / counts["n_queries"] if counts.get("n_queries") else None
    judged = counts.get("n_judged", 0) / counts["n_candidates"] if counts.get("n_candidates") else None
    tiles = (
        ("queries", counts.get("n_queries")),
        ("candidates a query", None if per_query is None else f"{per_query:.0f}"),
        ("eligible problems", counts.get("n_eligible")),
        ("judgments", counts.get("n_judgments")),
        ("candidates judged", None if judged is None else f"{100 * judged:.0f} %"),
        ("runs", len(facts.leaderboard)),
    )
    told = ", ".join(facts.judges) or "none yet"
    return tag(
        "header",
        tag("p", "Mathematical retrieval benchmark", class_="kicker"),
        tag("h1", tag("bdi", facts.benchmark)),
        tag(
            "p",
            "Relevance by ",
            tag("bdi", told),
            f". Build {facts.provenance.build_id}, {facts.provenance.at}.",
            class_="lead",
        ),
        _warning(facts),
        tag("dl", [tag("div", tag("dt", name), tag("dd", _tile(value))) for name, value in tiles], class_="tiles"),
    )


def _warning(facts: Facts) -> Markup | None:
    if facts.flatters:
        return tag(
            "p",
            tag("strong", "Read these scores as a test of the pipeline, not of the systems. "),
            "The judge offline-similarity compares words and topics, so it flatters lexical systems. "
            "A model as judge: ",
            tag("code", "saber judge --provider server"),
            class_="warning",
            role="note",
        )
    if facts.is_offline:
        return tag(
            "p",
            tag("strong", "No model has judged. "),
            "The relevances come from an offline judge: they show how the pipeline works, not which system is best.",
            class_="warning",
            role="note",
        )
    return None


def _leaderboards(facts: Facts) -> Markup:
    parts: list[Any] = [tag("p", _reading(facts), class_="note")]
    settings = list(dict.fromkeys(row["setting"] for row in facts.leaderboard))
    if len(settings) > 1:
        buttons = [
            tag("button", title, type="button", data_filter=value, aria_pressed="true" if not value else "false")
            for title, value in (("all settings", ""), *((one, one) for one in settings))
        ]
        parts.append(tag("div", buttons, class_="filter", role="group", aria_label="setting"))
    groups = groupby(facts.leaderboard, key=lambda row: (row["benchmark"], row["scope"]))
    for (benchmark, scope), rows in groups:
        listed = list(rows)
        name = f"{benchmark}, {'reranking of candidates' if scope == 'candidates' else 'search in the whole corpus'}"
        judge = ", ".join(sorted({row["judge"] for row in listed if row["judge"]})) or "none"
        told = f"{listed[0]['n_queries']} queries, judge "
        parts += [
            tag("h3", tag("bdi", name)),
            tag("p", told, tag("bdi", judge), class_="note"),
            leaderboard(listed, facts, name),
        ]
    if not facts.leaderboard:
        parts.append(tag("p", "No runs yet: saber retrieve --system bm25, then dbt build.", class_="note"))
    return section("leaderboard", "Leaderboard", *parts)


def _reading(facts: Facts) -> str:
    gain = "linear" if any(row.get("gain") == "lin" for row in facts.leaderboard) else "exponential"
    told = f"nDCG@10 with {gain} gain, mean over queries; a domain's score is that of the queries that bear it. "
    if facts.intervals:
        told += f"Intervals: 95 %, percentile bootstrap over queries, {facts.n_replicates:,} replicates. "
    else:
        told += "This build has no bootstrap intervals. "
    return told + "Bold: best of its setting. A click on a column sorts."


def _signals(facts: Facts) -> Markup:
    names = [row["class"] for row in facts.classes]
    series = [
        (_class(name), [(row["rank"], row["share"]) for row in facts.ablation if row["class"] == name])
        for name in names
    ]
    means = [(_class(row["class"]), row["mean_relevance"], _mean(row["mean_relevance"])) for row in facts.classes]
    tens = [(_class(row["class"]), row["share_of_ten"], _percent(row["share_of_ten"])) for row in facts.classes]
    highest = max([row["mean_relevance"] or 0 for row in facts.classes] + [1.0])
    panels = [
        panel(
            "Rank by relevance",
            figures.curves(
                "Cumulative rank by class", series, "rank by relevance", "share of the class ranked so high"
            ),
        ),
        panel("Mean relevance", figures.bars("Mean relevance by class", means, highest * 1.05)),
        panel("Share of the ten most relevant", figures.bars("Share of the ten most relevant", tens, 1.0)),
    ]
    note = (
        "Candidates are drawn in three classes of equal size: similar by topics alone, by the solution's core idea "
        "alone, or by both. Dashed: what a signal without information would give."
    )
    return section("signals", "Signal ablation", tag("p", note, class_="note"), tag("div", panels, class_="panels"))


def _corpus(facts: Facts) -> Markup:
    rows = [
        (row["domain"], [row["corpus"] or 0.0, row["queries"] or 0.0, row["candidates"] or 0.0])
        for row in facts.composition
    ]
    panels = [
        panel("Domains", figures.grouped_bars("Composition by domain", ("corpus", "queries", "candidates"), rows))
    ]
    if len(facts.sources) > 1:
        largest = facts.sources[:10]
        counted = [(s["source"], float(s["n_problems"]), f"{s['n_problems']:,}") for s in largest]
        panels.append(
            panel("Problems by source", figures.bars("Problems by source", counted, counted[0][1] * 1.1, False))
        )
    quotas = [
        (q["domain"], q["quota"], q["received_weight"], q["shortfall"], q["n_queries"], q["n_pool"])
        for q in facts.quotas
    ]
    sources = [
        (tag("bdi", s["source"]), s["n_problems"], s["n_eligible"] or 0, s["left_out"], s["licence"])
        for s in facts.sources
    ]
    return section(
        "corpus",
        "Corpus",
        tag("p", "A problem of several domains counts as a share of each.", class_="note"),
        tag("div", panels, class_="panels"),
        tag("h3", "Quotas of queries"),
        table(("Domain", "Quota", "Received", "Shortfall", "Queries", "Pool"), quotas, frozenset(range(1, 6))),
        tag("h3", "Sources"),
        table(("Source", "Problems", "Eligible", "Left out", "Licence"), sources, frozenset((1, 2))),
    )


def _provenance(facts: Facts) -> Markup:
    origin = facts.provenance
    basics = [("build", origin.build_id), ("code", origin.commit or "not a checkout"), *origin.packages.items()]
    makers = [
        (m["stage"], m["provider"], m["model"], m["prompt_version"], m["judge"], m["n_rows"]) for m in origin.makers
    ]
    settings = [(name, json.dumps(value, ensure_ascii=False)) for name, value in sorted(origin.settings.items())]
    jobs = [(j["job_id"], j["command"], j["state"], j["at"], j["seconds"]) for j in origin.jobs]
    return section(
        "provenance",
        "Provenance",
        table(("What", "Value"), basics),
        tag("h3", "Models and prompts"),
        table(("Stage", "Provider", "Model", "Prompt", "Judge", "Rows"), makers, frozenset((5,))),
        tag("h3", "Variants"),
        table(("Stage", "Variant"), sorted(origin.variants.items())),
        _folded("Settings and seeds", table(("Setting", "Value"), settings)),
        _folded("Latest jobs", table(("Job", "Command", "State", "At", "Seconds"), jobs)),
        [tag("p", "Not in this build. ", line, class_="note") for line in facts.missing],
    )


def _folded(title: str, content: Markup) -> Markup:
    return tag("details", tag("summary", title), content)


def _tile(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _class(name: str | None) -> str:
    return _CLASSES.get(name or "", name or "no class")


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _asset(name: str) -> str:
    return resources.files("warehouse.report").joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
