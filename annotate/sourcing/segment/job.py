"""The segmentation job: asks about every window of a document, puts the pieces together, lands problems or faults."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from annotate.calls.log import CallLog
from annotate.prompts import Prompt
from annotate.providers.base import Request
from annotate.sourcing.job import ask_with_correction, validator_of
from annotate.sourcing.replies import Objection
from annotate.sourcing.segment.assembly import Assembly, Fault, assemble, joined
from annotate.sourcing.segment.reading import SCHEMA, Piece, read_pieces
from annotate.sourcing.segment.records import Origin, SegmentOptions, left_out, problem_records
from annotate.sourcing.segment.windows import Window, windows
from annotate.sourcing.step import purpose_of
from annotate.work import work_through
from warehouse.documents import Document
from warehouse.landing import Landing
from warehouse.review import land_items, review_item
from warehouse.sources.landed import land_sourced

NAME = "segment"
PLACES = ("document", "first", "last", "lines")


@dataclass
class SegmentOutcome:
    """What a segmentation did.

    Attributes
    ----------
    documents
        Documents whose problems landed (or had landed before).
    for_review
        Documents that came to the review list.
    failed
        Documents with a window without a usable reply.
    problems, without_solution
        Problems landed new or changed, and of all problems found those without a solution.
    lines, lines_left_out
        Lines that are not empty, and those of them that belong to no problem.
    """

    documents: int = 0
    for_review: int = 0
    failed: int = 0
    problems: int = 0
    found: int = 0
    without_solution: int = 0
    lines: int = 0
    lines_left_out: int = 0
    mended: int = 0
    violations: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts for a job's summary."""
        return {
            **vars(self),
            "violations": dict(sorted(self.violations.items())),
            "failures": dict(sorted(self.failures.items())),
        }


def window_request(window: Window, prompt: Prompt) -> Request:
    """Ask for the pieces of one window."""
    return Request(
        purpose=purpose_of(NAME),
        prompt_version=prompt.version,
        messages=prompt.messages(
            document=window.document.name,
            first=str(window.first),
            last=str(window.last),
            lines=window.numbered,
        ),
        schema=SCHEMA,
        payload={"window": window},
        about={"document": window.document.name, "first": window.first, "last": window.last},
    )


validate = validator_of(read_pieces, "window")


class SegmentJob:
    """Cuts documents, several at a time."""

    def __init__(
        self, landing: Landing, log: CallLog, prompt: Prompt, variant: str, job_id: str, options: SegmentOptions
    ) -> None:
        self._landing, self._log, self._prompt = landing, log, prompt
        self._variant, self._job_id, self._options = variant, job_id, options
        self._taken: dict[str, str] = {}
        self._landing_lock = asyncio.Lock()
        self.outcome = SegmentOutcome()

    async def run(self, documents: Iterable[Document], total: int) -> SegmentOutcome:
        """Cut ``documents``; each lands as soon as it is done."""
        await work_through(documents, total, self._log, self._do, NAME)
        return self.outcome

    async def _do(self, document: Document) -> None:
        asked = windows(document, self._options.lines) if self._options.lines else windows(document)
        answers = await asyncio.gather(*map(self._ask, asked))
        calls = [call for made, _ in answers for call in made]
        broken: list[tuple[Window, Objection | str]] = []
        whole: list[tuple[Window, tuple[Piece, ...]]] = []
        for window, (_, found) in zip(asked, answers, strict=True):
            if isinstance(found, Objection | str):
                broken.append((window, found))
            else:
                whole.append((window, found))
        async with self._landing_lock:
            await self._log.sync()
            if broken:
                self._fail(document, broken)
            else:
                self._finish(document, whole, calls)

    async def _ask(self, window: Window) -> tuple[list[str], tuple[Piece, ...] | Objection | str]:
        return await ask_with_correction(
            self._log, window_request(window, self._prompt), lambda text: read_pieces(window, text), self.outcome
        )

    def _fail(self, document: Document, broken: list[tuple[Window, Objection | str]]) -> None:
        self.outcome.failed += 1
        faults = []
        for window, found in broken:
            kind = found.kind if isinstance(found, Objection) else found
            self.outcome.failures[kind] += 1
            if isinstance(found, Objection):
                faults.append(Fault(kind, str(found), (window.first, window.last)))
        self._review(document, faults)

    def _finish(self, document: Document, found: list[tuple[Window, tuple[Piece, ...]]], calls: list[str]) -> None:
        parts, faults = joined(found)
        assembly = assemble(parts, self._options.problems_only)
        assembly.faults[:0] = faults
        origin = Origin(document, self._options, calls, self._variant)
        if assembly.faults:
            self.outcome.for_review += 1
        else:
            self.outcome.documents += 1
        kept = self._kept(assembly)
        rows = problem_records(kept, origin, self._taken)
        self.outcome.found += len(rows)
        self.outcome.without_solution += sum(row["solution"] is None for row in rows)
        self.outcome.problems += land_sourced(self._landing, rows, self._job_id)
        stretches, lines = left_out(document, parts)
        self.outcome.lines += lines
        self.outcome.lines_left_out += sum(count for _, _, count in stretches)
        self._landing.append_new("source_rows", self._noted(document, stretches), self._job_id)
        self._review(document, assembly.faults)

    def _kept(self, assembly: Assembly) -> Assembly:
        """All pairs of a document without faults; of others none, or those whose solution is certain."""
        if not assembly.faults:
            return assembly
        certain = [pair for pair in assembly.pairs if pair.solutions] if self._options.keep_matched else []
        doubtful = {fault.reason for fault in assembly.faults} - {"counts differ", "solution without a problem"}
        return Assembly([] if doubtful else certain)

    def _review(self, document: Document, faults: list[Fault]) -> None:
        blank = [
            Fault("page without text", f"pages {', '.join(map(str, document.blank_pages))} hold no text to be read")
        ]
        items = [
            review_item(
                self._options.source,
                document.name,
                NAME,
                fault.reason,
                fault.detail,
                document.digest,
                fault.lines,
                variant=self._variant,
            )
            for fault in [*faults, *(blank if document.blank_pages else [])]
        ]
        land_items(self._landing, items, self._job_id, [(self._options.source, document.name, NAME)])

    def _noted(self, document: Document, stretches: list[tuple[int, int, int]]) -> list[dict[str, Any]]:
        return [
            {
                "source": self._options.source,
                "file": document.name,
                "row_number": first,
                "step": "segment: left out",
                "reason": f"lines {first} to {last} belong to no problem",
                "n_rows": count,
            }
            for first, last, count in stretches
        ]
