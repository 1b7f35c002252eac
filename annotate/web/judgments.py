"""Human judgments in the landed table ``judgments``: written like any other, taken back by a later row."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from importlib import resources
from typing import Any

from annotate.judges.base import FIRST, INVALID, SECOND, TIE
from annotate.web.pool import Pair
from warehouse.cli.common import Job
from warehouse.landing import Landing

CHOICES = (FIRST, SECOND, TIE)
HUMAN = "human"
REMOVED = "removed by the annotator"


def instructions() -> list[tuple[str, str]]:
    """Return what annotators are told, as (heading, text)."""
    lines = _instructions_file().decode().splitlines()
    parts = (line.partition(": ") for line in lines if line.strip())
    return [(heading, text) for heading, _, text in parts]


def instructions_version() -> str:
    """Return ``instructions@hash``, which lands as ``prompt_version``: other words are another question."""
    return f"instructions@{hashlib.sha256(_instructions_file()).hexdigest()[:8]}"


def _instructions_file() -> bytes:
    return resources.files("annotate.web").joinpath("instructions.txt").read_bytes()


@dataclass(frozen=True)
class Task:
    """One question to one annotator.

    Attributes
    ----------
    task_id
        Hash of the ids and of the texts in the order shown, so that a page that shows older texts cannot
        land a judgment of the new ones.
    query_id, first_id, second_id
        Target and candidates in the order shown.
    content_hash
        ``identity.pair_hash`` of the texts in this order.
    """

    task_id: str
    query_id: str
    first_id: str
    second_id: str
    content_hash: str

    @property
    def pair(self) -> Pair:
        """The candidates without their order."""
        return Pair.of(self.query_id, self.first_id, self.second_id)


@dataclass(frozen=True)
class Judged:
    """The latest judgment of an annotator about a pair, as landed."""

    first_id: str
    second_id: str
    verdict: str
    content_hash: str


class HumanJudgments:
    """Reads and lands the judgments of people about one variant of a benchmark.

    Parameters
    ----------
    landing
        The warehouse's landing.
    benchmark, variant
        The benchmark, and the variant of its human judgments.
    job
        The job's record; it starts with the first judgment, so a page that was only looked at leaves no trace.
    """

    def __init__(self, landing: Landing, benchmark: str, variant: str, job: Job) -> None:
        self.landing = landing
        self.benchmark = benchmark
        self.variant = variant
        self.counts = {"judgments": 0, "removals": 0}
        self._job = job
        self._lock = threading.Lock()

    def by_annotator(self) -> dict[str, dict[Pair, Judged]]:
        """Return {annotator: {pair: latest judgment}}, removals left out."""
        # The names are compared here and never become part of the SQL.
        rows = self.landing.read("judgments", where="kind = 'human'").to_pylist()
        found: dict[str, dict[Pair, Judged]] = {}
        for row in rows:
            ours = (row["benchmark"], row["variant"]) == (self.benchmark, self.variant)
            if not ours or row["annotator"] is None:
                continue
            theirs = found.setdefault(row["annotator"], {})
            pair = Pair.of(row["query_id"], row["first_id"], row["second_id"])
            # Rows come in the order of landing, so a later one about the same pair replaces the earlier.
            if row["verdict"] in CHOICES:
                theirs[pair] = Judged(row["first_id"], row["second_id"], row["verdict"], row["content_hash"])
            else:
                theirs.pop(pair, None)
        return found

    def land(self, annotator: str, task: Task, verdict: str) -> None:
        """Land a verdict; it is durable when this returns."""
        self._append(self._row(annotator, task, verdict, None), "judgments")

    def remove(self, annotator: str, task: Task) -> None:
        """Take a verdict back: a later row says so, and nothing is deleted."""
        self._append(self._row(annotator, task, INVALID, REMOVED), "removals")

    def _append(self, row: dict[str, Any], kind: str) -> None:
        with self._lock:
            self._job.start()
            self.landing.append("judgments", [row], self._job.job_id)
            self.counts[kind] += 1

    def _row(self, annotator: str, task: Task, verdict: str, reason: str | None) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark,
            "query_id": task.query_id,
            "first_id": task.first_id,
            "second_id": task.second_id,
            "kind": HUMAN,
            "vote": 0,
            "judge": HUMAN,
            "schedule": HUMAN,
            "verdict": verdict,
            "reason": reason,
            "annotator": annotator,
            "provider": HUMAN,
            "prompt_version": instructions_version(),
            "content_hash": task.content_hash,
            "variant": self.variant,
        }
