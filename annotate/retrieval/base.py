"""What a retrieval system is: something that scores documents for query texts.

A system is a frozen dataclass; its fields are its parameters, and they are recorded with every run. Most
systems only say how to index texts (:meth:`System.index`); one that needs more than one text at a time (a
reranker, a fusion of runs) overrides :meth:`System.run`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from warehouse.errors import SaberError

if TYPE_CHECKING:
    from typing import Self

    from warehouse.landing import Landing
    from warehouse.settings import Settings

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


class Text(NamedTuple):
    """The text of one problem, as the setting of a run shows it, and the hash of the whole problem."""

    problem_id: str
    text: str
    content_hash: str = ""


@dataclass(frozen=True)
class Query:
    """One query of a run.

    Attributes
    ----------
    text
        Its id and text.
    documents
        Positions (in :attr:`Task.documents`, ascending) of the documents to score.
    """

    text: Text
    documents: IntArray


@dataclass(frozen=True)
class Context:
    """What a system may need from the warehouse: settings, landed tables, the job it runs in.

    Attributes
    ----------
    variant
        Variant of the benchmark, under which runs land.
    """

    settings: Settings
    landing: Landing
    job_id: str
    variant: str


@dataclass(frozen=True)
class Task:
    """The queries of one run that are to be ranked.

    Attributes
    ----------
    setting
        ``statement-statement``, ``statement-full`` or ``full-full`` (query text - document text).
    scope
        ``candidates``: the documents of a query are its candidates; ``corpus``: all eligible problems.
    idf
        ``corpus``: statistics of terms come from `documents`; ``candidates``: from the query's documents
        alone; ``none``: the system uses none.
    top
        How many documents of a query land at most.
    documents
        Distinct problems in ascending order of their ids.
    """

    setting: str
    scope: str
    idf: str
    top: int
    documents: Sequence[Text]
    queries: Sequence[Query]
    context: Context


@dataclass(frozen=True)
class Scored:
    """Scores of the documents of one query; the order of `positions` is free.

    Attributes
    ----------
    positions
        Positions of the scored documents in :attr:`Task.documents`, shape (n,).
    scores
        Higher is better, shape (n,).
    seconds
        Time the query took once documents had been indexed.
    """

    query: Query
    positions: IntArray
    scores: FloatArray
    seconds: float


class Index(Protocol):
    """Documents made ready for scoring."""

    def scores(self, query: Text, positions: IntArray) -> FloatArray:
        """Score the documents at `positions` for one query, shape (len(positions),)."""
        ...


class RestrictableIndex(Index, Protocol):
    """An index of a system that uses statistics of its documents' terms."""

    def restricted(self, positions: IntArray) -> RestrictableIndex:
        """Return the index over the documents at `positions` alone, numbered from 0."""
        ...


@dataclass(frozen=True)
class System:
    """A retrieval system; fields of a subclass are its parameters.

    Attributes
    ----------
    name
        How the command line and the leaderboard call it.
    uses_statistics
        Whether scores depend on a collection's statistics (document frequencies, lengths), so that it
        matters where they come from.
    """

    name: ClassVar[str]
    uses_statistics: ClassVar[bool] = False

    @classmethod
    def configured(cls, settings: Settings, parameters: Mapping[str, Any]) -> Self:
        """Return the system with the given parameters, the rest from settings and defaults."""
        return cls(**parameters)

    @property
    def title(self) -> str:
        """What the leaderboard calls it; several models of one kind have titles of their own."""
        return self.name

    @property
    def parameters(self) -> dict[str, Any]:
        """What identifies the system beside its name; part of the run's id."""
        return dataclasses.asdict(self)

    def provenance(self, context: Context, setting: str, scope: str) -> dict[str, Any]:
        """Return what else is recorded (versions, runs it reads); a run with another provenance is ranked again."""
        return {}

    def index(self, documents: Sequence[Text], queries: Sequence[Text], task: Task) -> Index:
        """Make `documents` ready for scoring; `queries` are known so that they can be prepared together."""
        raise NotImplementedError(f"{type(self).__name__} defines neither index nor run")

    def run(self, task: Task) -> Iterator[Scored]:
        """Score every query of `task`; a query left out makes the run incomplete."""
        yield from self.scored(self.index(task.documents, [query.text for query in task.queries], task), task)

    def scored(self, index: Any, task: Task) -> Iterator[Scored]:
        """Score every query of `task` with an index made before."""
        for query in task.queries:
            begun = time.perf_counter()
            if task.idf == "candidates":
                # The query's own documents are the whole collection, so making their index is part of answering.
                everything = np.arange(len(query.documents), dtype=np.int64)
                scores = index.restricted(query.documents).scores(query.text, everything)
            else:
                scores = index.scores(query.text, query.documents)
            yield Scored(query, query.documents, scores, time.perf_counter() - begun)


def with_parameters(kind: type[System], settings: Settings, given: Mapping[str, str]) -> System:
    """Make a system from parameters as a command line gives them.

    Raises
    ------
    SaberError
        For a parameter the system does not have, or a value of the wrong type.
    """
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise SaberError(f"System {kind.name} has no parameter {name!r}. It has: {known}.")
        values[name] = _parsed(kind.name, name, str(fields[name].type), text)
    return kind.configured(settings, values)


def _parsed(system: str, name: str, kind: str, text: str) -> Any:
    try:
        if "int" in kind:
            return int(text)
        if "float" in kind:
            number = float(text)
            if not np.isfinite(number):
                raise ValueError
            return number
        if "bool" in kind:
            return {"true": True, "false": False}[text.lower()]
    except (ValueError, KeyError) as error:
        raise SaberError(f"Parameter {name} of system {system} must be of type {kind}, not {text!r}.") from error
    return text
