"""The section of scores: by system with intervals, and by domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.report import figures
from warehouse.report.facts import OVERALL, Facts
from warehouse.report.markup import Markup, join, tag
from warehouse.report.tables import heat, panel, section
from warehouse.texts import MAIN_SETTING


def scores_section(facts: Facts) -> Markup:
    """Return interval plots by setting and the main setting's scores by domain."""
    rows = [row for row in facts.leaderboard if row["benchmark"] == facts.benchmark and row["scope"] == "candidates"]
    spread = [row[OVERALL] for row in rows if row[OVERALL] is not None]
    spread += [end for row in rows for end in (*(_interval(row, facts) or ()), *(_wide(row) or ()))]
    spread += [row["chance"] for row in rows if row.get("chance") is not None]
    low, high = figures.limits(spread)
    panels = []
    for setting, of_setting in _by_setting(rows):
        points = [figures.Point(row["system"], row[OVERALL], _interval(row, facts), _wide(row)) for row in of_setting]
        chance = next((row["chance"] for row in of_setting if row.get("chance") is not None), None)
        panels.append(panel(setting, figures.intervals(f"nDCG@10 by system, {setting}", points, low, high, chance)))
    by_domain = [
        join(tag("h3", f"By domain, {setting}"), heat(of_setting, facts))
        for setting, of_setting in _by_setting(rows)
        if facts.domains and (setting == MAIN_SETTING or len(_by_setting(rows)) == 1)
    ]
    empty = None if rows else tag("p", "No runs over the candidates yet.", class_="note")
    note = tag("p", " ".join(_key(rows, facts)), class_="note")
    return section(
        "scores", "Scores by system and domain", note, tag("div", panels, class_="panels"), by_domain, empty
    )


def _key(rows: Sequence[dict[str, Any]], facts: Facts) -> list[str]:
    """Say what the marks of the interval plots are, those that are drawn."""
    told = ["Mean nDCG@10 over queries."]
    if any(_interval(row, facts) for row in rows):
        told.append("Thick: 95 % interval over resampled queries.")
    if any(_wide(row) for row in rows):
        told.append("Thin: the same with the ratings refitted on resampled judgments.")
    if any(row.get("chance") is not None for row in rows):
        told.append("Dashed: a random order.")
    return told


def _interval(row: dict[str, Any], facts: Facts) -> tuple[float, float] | None:
    return facts.intervals.get((row["run_id"], OVERALL))


def _wide(row: dict[str, Any]) -> tuple[float, float] | None:
    low, high = row.get("rating_low"), row.get("rating_high")
    return None if low is None or high is None else (low, high)


def _by_setting(rows: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    names = list(dict.fromkeys(row["setting"] for row in rows))
    return [(name, [row for row in rows if row["setting"] == name]) for name in names]
