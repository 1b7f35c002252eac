"""Chance level: a score from the seed and the ids alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from annotate.retrieval.base import FloatArray, IntArray, System, Task, Text
from warehouse.identity import uniform

if TYPE_CHECKING:
    from typing import Self

    from warehouse.settings import Settings


@dataclass(frozen=True)
class Random(System):
    """Chance level.

    Scores are uniform in [0, 1), the same on every machine and for every order of queries.

    Attributes
    ----------
    seed
        ``retrieval.seed`` of the settings unless given.
    """

    name: ClassVar[str] = "random"
    seed: int = 0

    @classmethod
    def configured(cls, settings: Settings, parameters: Mapping[str, Any]) -> Self:
        """Take the seed from the settings unless it is given."""
        return cls(**{"seed": settings.retrieval.seed, **parameters})

    def index(self, documents: Sequence[Text], queries: Sequence[Text], task: Task) -> _Draws:
        """Keep the ids."""
        return _Draws(self.seed, documents)


@dataclass(frozen=True)
class _Draws:
    seed: int
    documents: Sequence[Text]

    def scores(self, query: Text, positions: IntArray) -> FloatArray:
        ids = (self.documents[at].problem_id for at in positions)
        return np.array([uniform(self.seed, query.problem_id, document_id) for document_id in ids])


SYSTEMS = (Random,)
