"""The task lists of all annotators, with the texts they show."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from annotate.web.judgments import Judged, Task
from annotate.web.pool import Pair, Pool, read_benchmark, read_pool, schema
from annotate.web.sampling import choose_pairs, in_order_of_showing
from warehouse.cli.common import open_snapshot
from warehouse.errors import SaberError
from warehouse.identity import content_hash, pair_hash
from warehouse.settings import Settings
from warehouse.variants import human_variant

MOST_ANNOTATORS = 100


@dataclass(frozen=True)
class Plan:
    """How many tasks an annotator gets, how many of them are shared, and the seed of every draw."""

    tasks: int
    overlap: int
    seed: int


@dataclass(frozen=True)
class Text:
    """A problem as it is shown."""

    statement: str
    solution: str
    content_hash: str


@dataclass(frozen=True)
class TaskList:
    """The tasks of one annotator by id, in the order of presentation, and the texts they show."""

    tasks: Mapping[str, Task]
    texts: Mapping[str, Text]


class Workbench:
    """Makes and keeps the annotators' task lists.

    The snapshot is opened for each reading and closed again: a build may replace it at any time.

    Parameters
    ----------
    settings
        Settings; the snapshot lies in their home.
    plan
        Size of the lists and seed.

    Raises
    ------
    SaberError
        When there is nothing to judge.
    """

    def __init__(self, settings: Settings, plan: Plan) -> None:
        self.plan = plan
        self.pool: Pool = read_pool(settings, plan.tasks, plan.seed)
        self.variant = human_variant(self.pool.variant)
        self._settings = settings
        self._lists: dict[str, TaskList] = {}
        self._lock = threading.Lock()

    def task_list(self, annotator: str, judged: Mapping[Pair, Judged]) -> TaskList:
        """Return the annotator's tasks, made at the first asking; `judged` pairs keep their place and order.

        Raises
        ------
        SaberError
            When the benchmark was rebuilt as another one, or too many annotators have come.
        """
        with self._lock:
            if annotator not in self._lists:
                if len(self._lists) >= MOST_ANNOTATORS:
                    raise SaberError(f"{MOST_ANNOTATORS} annotators have come since the start. Start the page again.")
                self._lists[annotator] = self._make(annotator, judged)
            return self._lists[annotator]

    @property
    def annotators(self) -> list[str]:
        """Names of those who have a list, as they are spelled."""
        return list(self._lists)

    def existing(self, annotator: str) -> TaskList | None:
        """Return the list made before for this annotator."""
        return self._lists.get(annotator)

    def _make(self, annotator: str, judged: Mapping[Pair, Judged]) -> TaskList:
        plan = self.plan
        pairs = choose_pairs(self.pool, plan.tasks, plan.overlap, plan.seed, annotator, judged)
        texts = self._texts({problem for pair in pairs for problem in (pair.query_id, pair.lower_id, pair.higher_id)})
        tasks: dict[str, Task] = {}
        for pair in pairs:
            order = in_order_of_showing(pair, plan.seed, annotator)
            if pair in judged:
                # Under another seed the coin may differ; one pair must not be judged as two.
                order = judged[pair].first_id, judged[pair].second_id
            # A problem withdrawn since it was judged has no text to show.
            if {pair.query_id, *order} <= texts.keys():
                task = _task(pair.query_id, *order, texts)
                tasks[task.task_id] = task
        return TaskList(tasks, texts)

    def _texts(self, problem_ids: set[str]) -> dict[str, Text]:
        with open_snapshot(self._settings) as connection:
            if read_benchmark(connection, self._settings) != (self.pool.benchmark, self.pool.variant):
                raise SaberError("The benchmark was built anew with other settings. Stop the page and start it anew.")
            rows = connection.execute(
                f"select problem_id, coalesce(statement, ''), coalesce(solution, ''), content_hash "
                f"from {schema(self._settings, 'staging')}.stg_problems where problem_id in (select unnest($ids))",
                {"ids": sorted(problem_ids)},
            ).fetchall()
        return {problem: Text(*shown) for problem, *shown in rows}


def _task(query_id: str, first_id: str, second_id: str, texts: Mapping[str, Text]) -> Task:
    seen = pair_hash(*(texts[problem].content_hash for problem in (query_id, first_id, second_id)))
    return Task(content_hash(query_id, first_id, second_id, seen), query_id, first_id, second_id, seen)
