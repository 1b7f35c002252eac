"""The report: one self-contained HTML page about a build, readable without a network and on a phone."""

from __future__ import annotations

from warehouse.report.facts import collect
from warehouse.report.page import render
from warehouse.settings import Settings


def make_report(settings: Settings) -> str:
    """Return the page of the build in the snapshot."""
    return render(collect(settings))


__all__ = ["collect", "make_report", "render"]
