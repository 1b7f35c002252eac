"""Translate problems into one language, with numbers, commands and variables held to those of the source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from annotate.prompts import Prompt
from annotate.providers.base import Request
from annotate.sourcing.integrity import translation_difference
from annotate.sourcing.replies import Objection, read_sections, written_sections
from annotate.sourcing.step import Change, Problem, purpose_of, texts_of
from warehouse.deduplication.languages import script_of
from warehouse.errors import SaberError

# Languages that problems are translated into: name in the prompt, whether it is written in Latin letters.
LANGUAGES: dict[str, tuple[str, bool]] = {
    "ar": ("Arabic", False), "bn": ("Bengali", False), "cs": ("Czech", True), "de": ("German", True),
    "en": ("English", True), "es": ("Spanish", True), "fr": ("French", True), "hu": ("Hungarian", True),
    "it": ("Italian", True), "ja": ("Japanese", False), "ko": ("Korean", False), "pl": ("Polish", True),
    "pt": ("Portuguese", True), "ro": ("Romanian", True), "ru": ("Russian", False), "tr": ("Turkish", True),
    "uk": ("Ukrainian", False), "vi": ("Vietnamese", True), "zh": ("Chinese", False),
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True)
class Translate:
    """For problems in another language than ``to``: by their language, or by their script where none is named."""

    to: str = "en"
    name: str = "translate"
    prompt_name: str = "sourcing_translate"
    places: tuple[str, ...] = ("language", "sections", "text")
    where: str = "true"

    def __post_init__(self) -> None:
        if self.to not in LANGUAGES:
            raise SaberError(f"There is no language {self.to!r} to translate into. Known: {', '.join(LANGUAGES)}.")

    @property
    def choices(self) -> dict[str, Any]:
        """The language."""
        return {"to": self.to}

    def wants(self, problem: Problem) -> bool:
        """Whether the problem is surely in another language."""
        named = (problem["language"] or "").casefold()[:2]
        if named:
            return named != self.to
        script = script_of(problem["statement"] or "")
        return LANGUAGES[self.to][1] and script not in ("LATIN", "GREEK", "")

    def request(self, problem: Problem, prompt: Prompt) -> Request:
        """Ask for all texts at once, so that the solution speaks of things by the statement's names."""
        texts = _texts(problem)
        return Request(
            purpose=purpose_of(self.name),
            prompt_version=prompt.version,
            messages=prompt.messages(
                language=LANGUAGES[self.to][0],
                sections=", ".join(f"<{name}>" for name in texts),
                text=written_sections(texts),
            ),
            payload={"problem": problem},
            about={"problem_id": problem["problem_id"], "to": self.to},
        )

    def read(self, problem: Problem, reply: str | None) -> Change:
        """Hold each text to its source."""
        before = _texts(problem)
        after = read_sections(reply, list(before))
        for name, text in before.items():
            difference = translation_difference(text, after[name], LANGUAGES[self.to][1])
            if difference:
                raise Objection("translation_differs", f"in the {name}, {difference}")
            if _WORD.search(text) and text.split() == after[name].split() and name != "answer":
                raise Objection("not_translated", f"the {name} is the same as before")
        return Change({**after, "language": self.to}, {"from": problem["language"], "to": self.to})


def _texts(problem: Problem) -> dict[str, str]:
    texts = texts_of(problem, "statement", "solution", "answer")
    # A number or a formula needs no translation.
    if "answer" in texts and not _WORD.search(re.sub(r"\\[A-Za-z]+", " ", texts["answer"])):
        del texts["answer"]
    return texts
