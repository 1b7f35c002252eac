"""The audit section: what a reader should distrust, and how much of it there is."""

from __future__ import annotations

from typing import Any

from warehouse.report.facts import Facts
from warehouse.report.markup import Markup, tag
from warehouse.report.tables import table

_SIGNIFICANT = 0.05


def audit_section(facts: Facts) -> Markup:
    """Return checks with their outcome, then the tables behind them."""
    checks = [_check(*one) for one in _checks(facts)]
    return tag(
        "section",
        tag("h2", "Audit"),
        tag("ul", checks, class_="checks"),
        _position(facts),
        _calls(facts),
        _stale(facts),
        id="audit",
    )


def _checks(facts: Facts) -> list[tuple[str, bool | None, str]]:
    """Return (what, whether all is well, in words); None where the build cannot tell."""
    found: list[tuple[str, bool | None, str]] = []
    for name, count in facts.problems.items():
        told = "not in this build" if count is None else ("none" if count == 0 else f"{count:,}")
        found.append((name, None if count is None else count == 0, told))
    stale = sum(row["n_rows"] for row in facts.stale)
    found.append(("landed rows that no mart reads", stale == 0, "none" if stale == 0 else f"{stale:,}"))
    failed = sum(row["n_failed"] for row in facts.calls)
    attempts = sum(row["n_attempts"] for row in facts.calls)
    found.append(("failed attempts of calls", failed == 0, f"{failed:,} of {attempts:,}"))
    cut = sum(row["n_truncated"] for row in facts.calls)
    found.append(("replies cut off", cut == 0, "none" if cut == 0 else f"{cut:,}"))
    biased = [row for row in facts.position_bias if row["p_value"] is not None and row["p_value"] < _SIGNIFICANT]
    told = "none at the 5 % level" if not biased else f"{len(biased)} of {len(facts.position_bias)} judges"
    found.append(("position bias", not biased if facts.position_bias else None, told))
    unlicensed = sum("not stated" in (row["licence"] or "") for row in facts.sources)
    told = "none" if unlicensed == 0 else f"{unlicensed} of {len(facts.sources)}"
    found.append(("sources without a licence", unlicensed == 0 if facts.sources else None, told))
    missing = sum(row["n_missing"] for row in facts.leaderboard)
    found.append(("queries missing from runs", missing == 0, "none" if missing == 0 else f"{missing:,}"))
    degenerate = max((row["n_degenerate"] for row in facts.leaderboard), default=0)
    found.append(("queries without an ideal gain", degenerate == 0, "none" if degenerate == 0 else f"{degenerate:,}"))
    return found


def _check(what: str, is_well: bool | None, told: str) -> Markup:
    state, sign = {True: ("well", "✓"), False: ("look", "!"), None: ("unknown", "?")}[is_well]
    return tag(
        "li", tag("span", sign, class_="sign", aria_hidden="true"), tag("span", what), tag("b", told), class_=state
    )


def _position(facts: Facts) -> list[Any] | None:
    if not facts.position_bias:
        return None
    triads = {(row["judge"], row["model"], row["schedule"], row["variant"]): row for row in facts.triads}
    rows = []
    for row in facts.position_bias:
        circle = triads.get((row["judge"], row["model"], row["schedule"], row["variant"]), {})
        rows.append(
            (
                tag("bdi", row["judge"] or "–"), row["model"], row["schedule"],
                row["n_first"] + row["n_second"] + row["n_tie"] + row["n_invalid"], _percent(row["share_first"]),
                _p(row["p_value"]), row["n_tie"], row["n_invalid"], _percent(circle.get("share_intransitive")),
            )
        )  # fmt: skip
    columns = (
        "Judge",
        "Model",
        "Schedule",
        "Verdicts",
        "First shown wins",
        "p",
        "Ties",
        "Invalid",
        "Circular triads",
    )
    return [
        tag("h3", "Judges"),
        tag(
            "p",
            "p: exact two-sided binomial test of one half; circular triads: a over b, b over c, c over a.",
            class_="note",
        ),
        table(columns, rows, frozenset(range(3, 9))),
    ]


def _calls(facts: Facts) -> list[Any] | None:
    if not facts.calls:
        return None
    rows = [
        (
            row["purpose"], tag("bdi", row["served_model"] or row["model"] or "–"), row["prompt_version"],
            row["n_calls"], row["n_failed"], row["n_truncated"], row["tokens_in"], row["tokens_out"],
            row["median_latency_s"],
        )
        for row in facts.calls
    ]  # fmt: skip
    columns = ("Purpose", "Model", "Prompt", "Calls", "Failed", "Cut off", "Tokens in", "Tokens out", "Median s")
    parts: list[Any] = [tag("h3", "Calls to models"), table(columns, rows, frozenset(range(3, 9)))]
    if facts.failures:
        failures = [(row["purpose"], row["model"], row["outcome"], row["n_attempts"]) for row in facts.failures]
        parts += [
            tag("h3", "Failures by kind"),
            table(("Purpose", "Model", "Kind", "Attempts"), failures, frozenset((3,))),
        ]
    return parts


def _stale(facts: Facts) -> list[Any] | None:
    if not facts.stale:
        return None
    rows = [(row["landed_table"], row["reason"], row["n_rows"]) for row in facts.stale]
    return [tag("h3", "Landed rows that no mart reads"), table(("Table", "Reason", "Rows"), rows, frozenset((2,)))]


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
