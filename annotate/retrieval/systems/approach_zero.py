"""Approach Zero, a search engine for formulas and words, through its package pya0 (optional)."""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from annotate.retrieval.base import Context, FloatArray, Query, Scored, System, Task, Text
from annotate.retrieval.tokenisers import segments
from udfs.tokens import unicode_words
from warehouse.cli.common import note
from warehouse.errors import SaberError

if TYPE_CHECKING:
    from typing import Self

    from warehouse.settings import Settings

_MOST_KEYWORDS = 128  # the engine breaks down on longer queries
_OPEN, _CLOSE = "[imath]", "[/imath]"


@dataclass(frozen=True)
class ApproachZero(System):
    """Structural matches of formulas together with words, by the engine Approach Zero.

    A query is its distinct formulas and words, formulas first, at most `keywords` of them. Documents that the
    engine does not find score 0; formulas that its parser does not read are no part of its index. The engine
    runs in a process of its own: a query at which it breaks down is left out and makes the run incomplete.

    Attributes
    ----------
    keywords
        Most formulas and words of a query, from 1 to 128.
    """

    name: ClassVar[str] = "approach-zero"
    uses_statistics: ClassVar[bool] = True
    keywords: int = _MOST_KEYWORDS

    @classmethod
    def configured(cls, settings: Settings, parameters: Mapping[str, Any]) -> Self:
        """Check that the engine is there."""
        system = cls(**parameters)
        if not 1 <= system.keywords <= _MOST_KEYWORDS:
            raise SaberError(f"keywords of approach-zero must be from 1 to {_MOST_KEYWORDS}.")
        if importlib.util.find_spec("pya0") is None:
            raise SaberError("The system approach-zero needs the package pya0. Install it: pip install pya0")
        return system

    def provenance(self, context: Context, setting: str, scope: str) -> dict[str, Any]:
        """Record the engine's version."""
        return {"pya0": version("pya0")}

    def run(self, task: Task) -> Iterator[Scored]:
        """Search for every query among all documents, or among its own where statistics come from these."""
        if task.idf == "candidates":
            for query in task.queries:
                begun = time.perf_counter()
                with Engine([task.documents[at] for at in query.documents]) as engine:
                    found = self._search(engine, query)
                if found is not None:
                    yield Scored(query, query.documents, found, time.perf_counter() - begun)
            return
        with Engine(task.documents) as engine:
            for query in task.queries:
                begun = time.perf_counter()
                found = self._search(engine, query)
                if found is not None:
                    yield Scored(query, query.documents, found[query.documents], time.perf_counter() - begun)

    def _search(self, engine: Engine, query: Query) -> FloatArray | None:
        try:
            return engine.scores(keywords_of(query.text.text)[: self.keywords])
        except EOFError:
            note(f"approach-zero broke down at query {query.text.problem_id}, which is left out.")
            return None


def keywords_of(text: str) -> list[dict[str, str]]:
    """Return the distinct formulas, then the distinct words of a text, as the engine wants them."""
    formulas: dict[str, None] = {}
    words: dict[str, None] = {}
    for is_formula, segment in segments(text):
        if is_formula:
            formulas.setdefault(segment.strip())
        else:
            words.update(dict.fromkeys(unicode_words(segment)))
    kinds = [(formula, "tex") for formula in formulas if formula] + [(word, "term") for word in words]
    return [{"str": keyword, "type": kind, "field": "content"} for keyword, kind in kinds]


def content_of(text: str) -> str:
    """Return a text with its formulas between the engine's marks."""
    bare = text.replace(_OPEN, " ").replace(_CLOSE, " ")
    return " ".join(f"{_OPEN}{part}{_CLOSE}" if is_formula else part for is_formula, part in segments(bare))


class Engine:
    """The engine over some documents, in a process of its own; use it as a context manager.

    Raises
    ------
    SaberError
        When it breaks down at a document, which is named.
    """

    def __init__(self, documents: Sequence[Text]) -> None:
        self._documents = documents
        self._folder = tempfile.TemporaryDirectory(prefix="approach-zero-")

    def __enter__(self) -> Engine:
        self._start()
        for document in self._documents:
            try:
                self._ask("add", content_of(document.text))
            except EOFError:
                self.__exit__()
                raise SaberError(f"Approach Zero broke down at document {document.problem_id}.") from None
        self._ask("finish", None)
        return self

    def __exit__(self, *_: object) -> None:
        self._pipe.close()
        self._process.join()
        self._folder.cleanup()

    def scores(self, keywords: Sequence[Mapping[str, str]]) -> FloatArray:
        """Return the scores of all documents, 0 for what is not found.

        Raises
        ------
        EOFError
            When the engine breaks down; it is started again for the next query.
        """
        scores = np.zeros(len(self._documents))
        if not keywords or not len(scores):
            return scores
        try:
            hits = self._ask("search", (list(keywords), len(scores)))
        except EOFError:
            self._pipe.close()
            self._process.join()
            self._start()
            self._ask("finish", None)
            raise
        for number, score in hits:
            scores[number] = score
        return scores

    def _start(self) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawning.Pipe()
        self._process = spawning.Process(target=_serve, args=(theirs, f"{self._folder.name}/index"), daemon=True)
        self._process.start()
        theirs.close()  # so that a death of the process ends the pipe

    def _ask(self, what: str, given: Any) -> Any:
        try:
            self._pipe.send((what, given))
            return self._pipe.recv()
        except (BrokenPipeError, ConnectionResetError):
            raise EOFError from None


def _serve(pipe: Connection, folder: str) -> None:
    """Index what comes, then search; the other side closes the pipe to end it."""
    # The engine's parser writes every formula it cannot read to the terminal.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    import pya0

    writing = writer = reading = None
    number = 0
    while True:
        try:
            what, given = pipe.recv()
        except EOFError:
            return
        if what == "add":
            if writer is None:
                writing = pya0.index_open(folder, "w")
                writer = pya0.index_writer(writing)
            pya0.writer_add_doc(writer, given, url=str(number))
            number += 1
            pipe.send(number)
        elif what == "finish":
            if writer is not None:
                pya0.writer_flush(writer)
                pya0.writer_close(writer)
                pya0.index_close(writing)
            reading = pya0.index_open(folder, "r") if os.path.exists(folder) else None
            pipe.send(None)
        else:
            keywords, top = given
            found = json.loads(pya0.search(reading, keywords, topk=top, verbose=False))
            pipe.send([(int(hit["field_url"]), float(hit["score"])) for hit in found["hits"]])


SYSTEMS = (ApproachZero,)
