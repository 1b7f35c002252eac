"""Reciprocal-rank fusion of landed runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from annotate.retrieval.base import Context, Scored, System, Task
from annotate.retrieval.landed import find_run, read_rankings
from warehouse.errors import SaberError

if TYPE_CHECKING:
    from typing import Self

    from warehouse.settings import Settings


@dataclass(frozen=True)
class ReciprocalRankFusion(System):
    """Fusion of landed runs by their ranks.

    Score = Σ over the runs of 1 / (k + rank), nothing from a run that does not rank the document. Source: Cormack,
    Clarke and Büttcher, Reciprocal rank fusion outperforms Condorcet and individual rank learning methods (2009).
    A query that one of the runs lacks is left out and makes the run incomplete.

    Attributes
    ----------
    runs
        Systems, or run ids, separated by commas; each in the setting and scope of this run.
    k
        The constant; 60 in the source.
    """

    name: ClassVar[str] = "rrf"
    runs: str = ""
    k: int = 60

    @classmethod
    def configured(cls, settings: Settings, parameters: Mapping[str, Any]) -> Self:
        """Check that there are runs to fuse."""
        system = cls(**parameters)
        if len(set(system.named)) < 2:
            raise SaberError("The system rrf fuses two runs or more: --param rrf.runs=bm25,minilm")
        if system.k < 0:
            raise SaberError(f"k of rrf must not be negative, it is {system.k}.")
        return system

    @property
    def named(self) -> list[str]:
        """The runs as they were given."""
        return [name for name in (part.strip() for part in self.runs.split(",")) if name]

    @property
    def title(self) -> str:
        """The systems fused."""
        return "rrf-" + "+".join(name.split(".")[0] for name in self.named)

    def provenance(self, context: Context, setting: str, scope: str) -> dict[str, Any]:
        """Record which state of which runs is fused, so that a run ranked again is fused again."""
        found = [find_run(context, name, setting, scope) for name in self.named]
        return {"fused": {run.run_id: run.last_sequence for run in found}}

    def run(self, task: Task) -> Iterator[Scored]:
        """Fuse query by query."""
        found = [find_run(task.context, name, task.setting, task.scope) for name in self.named]
        rankings = [read_rankings(task.context, run, task) for run in found]
        for query in task.queries:
            begun = time.perf_counter()
            orders = [ranking.get(query.text.problem_id) for ranking in rankings]
            scores: dict[int, list[float]] = {}
            for order in orders:
                for rank, position in enumerate(order or (), 1):
                    scores.setdefault(position, []).append(1.0 / (self.k + rank))
            if all(order is not None for order in orders):
                positions = np.array(sorted(scores), dtype=np.int64)
                # Smallest first: the order of the runs must not decide a tie by rounding.
                totals = np.array([sum(sorted(scores[at])) for at in positions.tolist()])
                yield Scored(query, positions, totals, time.perf_counter() - begun)


SYSTEMS = (ReciprocalRankFusion,)
