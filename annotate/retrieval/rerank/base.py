"""What all rerankers share: the first stage, the model, the call log, and how an order becomes scores."""

from __future__ import annotations

import asyncio
import hashlib
from abc import abstractmethod
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from annotate.calls import CallLog, Counts, structured
from annotate.prompts import Prompt, parse_prompt
from annotate.providers import make_provider
from annotate.providers.base import Provider, Reply, Request
from annotate.retrieval.base import Context, Query, Scored, System, Task, Text
from annotate.retrieval.landed import find_run, read_rankings
from warehouse.cli.common import note
from warehouse.errors import SaberError

if TYPE_CHECKING:
    from typing import Self

    from warehouse.settings import Settings

PURPOSE = "rerank"


class NoOrder(Exception):  # noqa: N818 - not an error of the program: a reply is missing
    """A reply that an order needs did not come; the query is left out of the run."""


class Asker:
    """Asks for one query and adds up the time of the replies."""

    def __init__(self, log: CallLog) -> None:
        self._log = log
        self.seconds = 0.0

    async def text(self, request: Request) -> str:
        """Return the reply's words.

        Raises
        ------
        NoOrder
            When the call failed for good.
        """
        _, reply = await self._log.ask(request)
        self.seconds += reply.latency_s
        if reply.error is not None or reply.text is None:
            raise NoOrder
        return reply.text

    async def texts(self, requests: Sequence[Request]) -> list[str]:
        """Return the words of many replies, asked together, in the order of the requests."""
        results = await asyncio.gather(*map(self.text, requests), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, NoOrder):
                raise result
        if any(isinstance(result, BaseException) for result in results):
            raise NoOrder
        return [str(result) for result in results]


@dataclass(frozen=True)
class Reranker(System):
    """Reorders the first documents of a landed run by a language model.

    The rest follow in the order of that run. Scores are ranks from below: n for the first of n documents. A
    query's latency is the sum of its replies' times (they may have overlapped). A query with a call that failed
    for good is left out and makes the run incomplete.

    Attributes
    ----------
    first
        System or run id of the first stage, in the setting and scope of this run.
    k
        How many documents are reordered.
    provider, model
        Who is asked: a profile ``[providers.NAME]``, and a model in its stead.
    prompt
        File of a prompt in the place of the built-in one.
    """

    places: ClassVar[Collection[str]] = ()
    first: str = "bm25"
    k: int = 20
    provider: str = ""
    model: str = ""
    prompt: str = ""

    @classmethod
    def configured(cls, settings: Settings, parameters: Mapping[str, Any]) -> Self:
        """Check the parameters and fill the model in."""
        name = parameters.get("provider", "")
        if not name or name == "offline":
            raise SaberError(f"The system {cls.name} needs a model: --param {cls.name}.provider=NAME of saber.toml.")
        provider = make_provider(settings, name, parameters.get("model") or None)
        system = cls(**{**parameters, "model": provider.model})
        if system.k < 2:
            raise SaberError(f"k of {cls.name} must be at least 2, it is {system.k}.")
        system.load_prompt()
        return system

    @property
    def title(self) -> str:
        """Kind of reranker, who is asked, and the first stage."""
        return f"{self.name}-{self.provider}+{self.first.split('.')[0]}"

    @property
    def parameters(self) -> dict[str, Any]:
        """With the version of the prompt in the place of its file."""
        return {**super().parameters, "prompt": self.load_prompt().version}

    def provenance(self, context: Context, setting: str, scope: str) -> dict[str, Any]:
        """Record which state of the first stage is reordered."""
        run = find_run(context, self.first, setting, scope)
        return {"first_stage": {run.run_id: run.last_sequence}}

    def load_prompt(self) -> Prompt:
        """Read the prompt file."""
        path = Path(self.prompt).expanduser() if self.prompt else Path(__file__).parent / f"{self.name}.md"
        try:
            content = path.read_bytes()
            text = content.decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SaberError(f"The prompt {path} cannot be read: {error}.") from error
        version = f"{path.stem}@{hashlib.sha256(content).hexdigest()[:8]}"
        return parse_prompt(text, version, self.places, str(path))

    def run(self, task: Task) -> Iterator[Scored]:
        """Reorder query by query, many at a time."""
        provider = make_provider(task.context.settings, self.provider, self.model)
        # One loop for the whole run, driven from outside whenever the next query is asked for.
        with asyncio.Runner() as runner:
            arriving = self._arriving(task, provider)
            try:
                while True:
                    try:
                        yield runner.run(_next(arriving))
                    except StopAsyncIteration:
                        return
            finally:
                runner.run(_closed(arriving, provider))

    @abstractmethod
    async def order(self, query: Text, documents: Sequence[Text], prompt: Prompt, asker: Asker) -> list[int]:
        """Return the documents' indices, best first, given in the order of the first stage."""

    @abstractmethod
    def calls_at_once(self) -> int:
        """Return how many calls of one query can be under way together."""

    def validate(self, request: Request, reply: Reply) -> str | None:
        """Say what is wrong with a reply; None = nothing."""
        return structured(request, reply)

    async def _arriving(self, task: Task, provider: Provider) -> AsyncIterator[Scored]:
        run = find_run(task.context, self.first, task.setting, task.scope)
        rankings = read_rankings(task.context, run, task)
        prompt = self.load_prompt()
        log = CallLog(task.context.landing, provider, task.context.job_id, validate=self.validate)
        waiting = iter([query for query in task.queries if query.text.problem_id in rankings])
        # So many queries that the provider is never idle, not so many that their prompts fill the memory.
        window = 2 + 2 * log.policy.concurrency // self.calls_at_once()
        async with log:
            under_way: set[asyncio.Task[Scored | None]] = set()
            try:
                while True:
                    while len(under_way) < window and (query := next(waiting, None)) is not None:
                        order = rankings[query.text.problem_id]
                        under_way.add(asyncio.create_task(self._reordered(query, order, task, prompt, Asker(log))))
                    if not under_way:
                        break
                    done, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                    for finished in done:
                        scored = finished.result()
                        if scored is not None:
                            yield scored
            finally:
                for left in under_way:
                    left.cancel()
                if under_way:
                    await asyncio.wait(under_way)
        _explain(self.title, log.counts)

    async def _reordered(
        self, query: Query, order: Sequence[int], task: Task, prompt: Prompt, asker: Asker
    ) -> Scored | None:
        head = [task.documents[at] for at in order[: self.k]]
        try:
            better = await self.order(query.text, head, prompt, asker)
        except NoOrder:
            return None
        positions = np.array([*(order[at] for at in better), *order[self.k :]], dtype=np.int64)
        return Scored(query, positions, np.arange(len(positions), 0, -1, dtype=np.float64), asker.seconds)


def by_points(points: Sequence[float]) -> list[int]:
    """Return the indices of the most points first; of equal points the earlier, which the first stage preferred."""
    return sorted(range(len(points)), key=lambda at: (-points[at], at))


async def _next(arriving: AsyncIterator[Scored]) -> Scored:
    return await anext(arriving)


async def _closed(arriving: Any, provider: Provider) -> None:
    await arriving.aclose()
    close = getattr(provider, "close", None)
    if close is not None:
        await close()


def _explain(title: str, counts: Counts) -> None:
    if counts.failed:
        kinds = ", ".join(f"{kind}: {number}" for kind, number in sorted(counts.failures.items()))
        asked_again = (
            "; of calls that have failed too often none is asked again, unless the provider's profile says "
            "retry_quarantined = true"
            if counts.quarantined
            else ""
        )
        note(f"{title}: {counts.failed} calls have no usable reply ({kinds or 'quarantined before'}){asked_again}.")
