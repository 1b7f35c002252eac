"""Put formulas into LaTeX delimiters, with the text held to what it said before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from annotate.prompts import Prompt
from annotate.providers.base import Request
from annotate.sourcing.integrity import format_difference
from annotate.sourcing.replies import Objection, read_sections, written_sections
from annotate.sourcing.step import Change, Problem, purpose_of, texts_of
from warehouse.cleaning.segments import split

# Signs of mathematics that do not belong outside formulas.
_BARE = re.compile(
    r"\\(?:frac|dfrac|tfrac|sqrt|cdot|times|leq?|geq?|neq?|alpha|beta|gamma|theta|pi|sum|int|prod|lim|binom|angle|triangle)"
    r"(?![A-Za-z])"
    r"|(?<![<>=!-])[=<>](?![<>=!-])|[≤≥≠±×÷√∑∏∫∞∈∠²³⁴]"
    r"|\w\s*\^\s*[\w{(]|\b[A-Za-z]_\{?\w"
    r"|(?<![\w-])[A-Za-z0-9]\s*[+*/]\s*[A-Za-z0-9](?![\w-])"
)


@dataclass(frozen=True)
class FormatFormulas:
    """For problems with mathematics outside formulas."""

    name: str = "format"
    prompt_name: str = "sourcing_format"
    places: tuple[str, ...] = ("sections", "text")
    where: str = "true"

    @property
    def choices(self) -> dict[str, Any]:
        """Nothing to choose."""
        return {}

    def wants(self, problem: Problem) -> bool:
        """Whether a text has mathematics outside formulas."""
        return bool(_texts(problem))

    def request(self, problem: Problem, prompt: Prompt) -> Request:
        """Show the texts that need delimiters."""
        texts = _texts(problem)
        return Request(
            purpose=purpose_of(self.name),
            prompt_version=prompt.version,
            messages=prompt.messages(sections=", ".join(f"<{name}>" for name in texts), text=written_sections(texts)),
            payload={"problem": problem},
            about={"problem_id": problem["problem_id"]},
        )

    def read(self, problem: Problem, reply: str | None) -> Change:
        """Take the texts if nothing but delimiters and notation changed."""
        before = _texts(problem)
        after = read_sections(reply, list(before))
        for name, text in before.items():
            difference = format_difference(text, after[name])
            if difference:
                raise Objection("text_changed", f"in the {name}, {difference}")
        return Change(after, {"texts": list(after)})


def bare_mathematics(text: str) -> str | None:
    """The first mathematics outside formulas, None where there is none."""
    for is_formula, piece in split(text):
        found = None if is_formula else _BARE.search(piece)
        if found:
            return found[0]
    return None


def _texts(problem: Problem) -> dict[str, str]:
    texts = texts_of(problem, "statement", "solution")
    return {name: text for name, text in texts.items() if bare_mathematics(text)}
