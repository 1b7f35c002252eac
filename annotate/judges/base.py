"""The interface of a judge, and the verdict it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from annotate.providers.base import Reply, Request

FIRST, SECOND, TIE, INVALID = "first", "second", "tie", "invalid"
VERDICTS = (FIRST, SECOND, TIE, INVALID)
Problem = Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """What a judge decided about one pair, or about one ballot of it.

    Attributes
    ----------
    verdict
        ``first``, ``second``, ``tie`` or ``invalid`` (no usable reply).
    score
        The grade behind it where the judge grades single candidates, else None.
    reason
        Why a verdict is invalid or a tie, in a few words; None for a plain verdict.
    """

    verdict: str
    score: float | None = None
    reason: str | None = None


class Judge(Protocol):
    """Something that compares two candidates for a query.

    Attributes
    ----------
    name
        What lands in the column ``judge``.
    kind
        ``pair`` when each ballot compares the two, ``score`` when it grades one of them.
    votes
        Ballots about one pair.
    prompt_version
        ``name@hash`` of the prompt file.
    """

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def votes(self) -> int: ...

    @property
    def prompt_version(self) -> str: ...

    def requests(self, query: Problem, first: Problem, second: Problem) -> list[Request]:
        """Return the ``votes`` calls about one pair, the candidates in the order in which they are shown."""
        ...

    def ballot(self, reply: Reply) -> Verdict:
        """Read one reply; a pure function of it, so that the call log can be parsed again."""
        ...

    def verdict(self, replies: Sequence[Reply]) -> Verdict:
        """Decide the pair from the replies to :meth:`requests`, in that order."""
        ...


def share_of_first(verdict: str) -> float | None:
    """Return the share of the win that goes to the candidate shown first, None for no valid verdict."""
    return {FIRST: 1.0, SECOND: 0.0, TIE: 0.5}.get(verdict)
