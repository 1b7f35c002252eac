"""What building the pairs of this corpus will take, from a sample of the work itself.

On the tables of the linear part a hundredth of the pair blocks is computed and scaled up; thresholds that are still
to come from the data are estimated on a few thousand problems.
"""

from __future__ import annotations

import os
import resource
import sys
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from udfs.jaccard_histogram import row_classes
from udfs.pair_density import Density, is_dense
from udfs.pair_estimate import Estimate, estimate_summary_pairs, estimate_topic_pairs
from udfs.signal_build import domain_names, drawn, problems, summary_index, topic_space
from udfs.streamed_pairs import sets_at_once
from udfs.threshold_estimate import ThresholdEstimate, estimate_thresholds
from warehouse.errors import SaberError
from warehouse.plan_home import Generation, LinearPart, engine_limit_mib, last_generation, linear_part
from warehouse.settings import Settings

SAMPLED_PROBLEMS = 6_000
"""Problems on which thresholds are estimated."""
_NOTHING = Estimate(0, 0.0, 0.0, 0, 0)

# Measured on generated corpora of 60,000 and 283,000 problems.
_SECONDS_A_COUNTED_PAIR = 2e-7
_BYTES_OF_A_WAREHOUSE = 5e6
_BYTES_A_PROBLEM = 230
_BYTES_A_STORED_PAIR = 4.0
_MEMORY_A_DISK_BYTE = 4.0


@dataclass(frozen=True)
class Thresholds:
    """Thresholds the plan reckons with; None where nothing would qualify."""

    topic: float | None
    summary: float | None
    origin: str


@dataclass(frozen=True)
class Step:
    """One row of the plan; None where there is nothing to count."""

    name: str
    n_compared: int | None
    n_pairs: int | None
    cpu_seconds: float
    workers: int = 1

    @property
    def seconds(self) -> float:
        """Wall time when the threads have cores of their own."""
        return self.cpu_seconds / self.workers


@dataclass(frozen=True)
class Plan:
    """What is expected.

    Attributes
    ----------
    n_problems, n_new : int
        Eligible problems, and those whose pairs are still to be computed.
    thresholds : Thresholds
    storage : str
        stored or streamed.
    steps : tuple of Step
    memory_mib, memory_most_mib : float
        Expected peak, and the bound that the limits set.
    disk_mb : float
        The warehouse and its snapshot together.
    """

    n_problems: int
    n_new: int
    thresholds: Thresholds
    storage: str
    steps: tuple[Step, ...]
    memory_mib: float
    memory_most_mib: float
    disk_mb: float

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, steps with their wall time."""
        return {**asdict(self), "steps": [{**asdict(step), "seconds": step.seconds} for step in self.steps]}


def make_plan(settings: Settings, share: float = 0.01) -> Plan:
    """Run the linear part beside the warehouse and estimate the rest.

    Parameters
    ----------
    settings
        Of the home to plan for.
    share
        Share of the pair blocks to compute, in (0, 1].

    Raises
    ------
    SaberError
        When there are no eligible problems yet, or the linear part fails.
    """
    with linear_part(settings) as part:
        return _Planner(settings, part, share).plan()


class _Planner:
    def __init__(self, settings: Settings, part: LinearPart, share: float) -> None:
        self.settings, self.signals, self.part, self.share = settings, settings.signals, part, share
        self.n_problems = int(part.rows("signals.eligible_problems").count("*").fetchall()[0][0])
        if not self.n_problems:
            raise SaberError("No problem is eligible yet, so there are no pairs to plan. See: saber status")
        self._memory = self.signals.memory_mib << 20
        self._space = topic_space(*self._topics(), part.rows("signals.topic_sets"), self._memory)
        self._index = summary_index(part.rows("signals.summary_tokens"), self._memory)

    def plan(self) -> Plan:
        """Estimate everything."""
        before = last_generation(self.settings)
        n_new = max(self.n_problems - before.n_eligible, 0) if before else self.n_problems
        thresholds, steps = self._thresholds(before)
        topic, summary = self._pairs(thresholds, before.n_sets if before else 0, n_new)
        n_sets, workers = len(self._space.sets), self.signals.workers
        density = [
            (Density(0, 2 * found.n_compared, round(2 * found.n_pairs)), n)
            for found, n in ((topic, n_sets), (summary, self.n_problems))
        ]
        dense = is_dense(density, self.signals.max_stored_share, self.signals.stored_anyway)
        stored = before.storage == "stored" if before else not dense
        # A slice of the sets finds its pairs from one end, all slices together from both.
        whole = sets_at_once(n_sets, density[0][0].share, self._memory) >= n_sets
        passes = 1 if stored or whole else 2
        n_pairs = topic.n_pairs + summary.n_pairs
        steps += [
            Step(name, found.n_compared, round(found.n_pairs), passes * found.cpu_seconds, workers)
            for name, found in (("topic pairs, of topic sets", topic), ("summary pairs", summary))
        ]
        counting = Step("counts by class", None, None, passes * _SECONDS_A_COUNTED_PAIR * n_pairs)
        return Plan(
            n_problems=self.n_problems,
            n_new=n_new,
            thresholds=thresholds,
            storage="stored" if stored else "streamed",
            steps=(Step("topics, tokens, numbers", None, None, self.part.cpu_seconds), *steps, counting),
            **self._resources(n_pairs + (before.n_stored if before else 0) if stored else 0.0),
        )

    def _pairs(self, thresholds: Thresholds, known_sets: int, n_new: int) -> tuple[Estimate, Estimate]:
        topic = summary = _NOTHING
        comparison, n_sets = self.signals.comparison, len(self._space.sets)
        if thresholds.topic is not None and known_sets < n_sets:
            topic = estimate_topic_pairs(
                self._space, thresholds.topic, comparison, first_new_set=known_sets, share=self.share
            )
        if thresholds.summary is not None and n_new:
            summary = estimate_summary_pairs(
                self._index,
                thresholds.summary,
                comparison,
                first_new_row=self.n_problems - n_new,
                share=self.share,
            )
        return topic, summary

    def _resources(self, n_stored: float) -> dict[str, float]:
        disk = _BYTES_OF_A_WAREHOUSE + _BYTES_A_PROBLEM * self.n_problems + _BYTES_A_STORED_PAIR * n_stored
        # This process holds the sets and indices that the build needs. Kilobytes on Linux, bytes on macOS.
        here = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
        engine = engine_limit_mib(os.environ.get("SABER_MEMORY_LIMIT", "2GB"))
        return {
            "memory_mib": here + min(_MEMORY_A_DISK_BYTE * disk / 2**20, engine),
            "memory_most_mib": here + 2 * self.signals.memory_mib + engine,
            "disk_mb": 2 * disk / 1e6,
        }

    def _thresholds(self, before: Generation | None) -> tuple[Thresholds, list[Step]]:
        """Thresholds in force or expected, and the steps that will find them."""
        given = [self.signals.topic_threshold, self.signals.summary_threshold]
        if "data" not in given:
            return Thresholds(float(given[0]), float(given[1]), "saber.toml"), []
        if before is not None:
            return Thresholds(before.topic_threshold, before.summary_threshold, "kept from the first build"), []
        found = self._estimated_thresholds()
        topic, summary = (
            estimate if value == "data" else float(value)
            for value, estimate in zip(given, (found.topic, found.summary), strict=True)
        )
        n_compared, workers = self.n_problems * (self.n_problems - 1), self.signals.workers
        steps = [
            Step("histograms of both signals", n_compared, None, found.histogram_seconds, workers),
            Step("threshold curve", n_compared, None, found.curve_seconds, workers),
        ]
        n_sampled = min(SAMPLED_PROBLEMS, self.n_problems)
        return Thresholds(topic, summary, f"roughly, from {n_sampled:,} problems"), steps

    def _estimated_thresholds(self) -> ThresholdEstimate:
        """Build the sampled problems' own sets and indices, and run the procedure on them."""
        part, benchmark = self.part, self.settings.benchmark
        rows = part.rows("signals.problem_topic_sets")
        chosen = drawn(rows, "problem_index", "problem_id", benchmark.seed, SAMPLED_PROBLEMS)
        part.connection.register("chosen", pa.table({"problem_index": chosen}))
        part.connection.execute(
            f"""
            create temp table sampled as
            select problem_id, content_hash, set_index as known_set,
                (row_number() over (order by problem_index) - 1)::integer as problem_index,
                (dense_rank() over (order by set_index) - 1)::integer as set_index
            from {part.name("signals.problem_topic_sets")} semi join chosen using (problem_index)
            """
        )
        sets = part.connection.sql(
            f"""
            select sampled.set_index, any_value(topics) as topics, count(*)::integer as n_problems
            from sampled
            inner join {part.name("signals.topic_sets")} as sets on sets.set_index = sampled.known_set
            group by sampled.set_index
            """
        )
        tokens = part.connection.sql(
            f"""
            select sampled.problem_index, tokens
            from sampled inner join {part.name("signals.summary_tokens")} as tokens using (problem_id)
            """
        )
        sample = problems(part.connection.table("sampled"))
        names = domain_names(part.rows("ontology.domains"))
        membership = sample.membership(part.rows("signals.problem_domains"), names)
        classes = row_classes(membership)
        steps = np.arange(self.signals.grid_first, self.signals.grid_last + 1)
        return estimate_thresholds(
            topic_space(*self._topics(), sets, self._memory),
            sample.set_of_problem,
            summary_index(tokens, self._memory, classes.of_row),
            classes,
            membership,
            np.round(1 - 10 ** (-steps / 20.0), 6),
            benchmark.candidates_per_class,
            benchmark.min_eligible,
            self.n_problems,
            self.signals.workers,
        )

    def _topics(self) -> tuple[Any, Any]:
        return self.part.rows("ontology.topics"), self.part.rows("ontology.topic_information_content")
