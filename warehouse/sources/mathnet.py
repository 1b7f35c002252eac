"""MathNet: olympiad problems of many countries and languages; images stay references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from warehouse.readers import Row
from warehouse.sources.draft import Draft
from warehouse.sources.generic import Generic

_LANGUAGES = {
    "english": "en",
    "chinese": "zh",
    "spanish": "es",
    "portuguese": "pt",
    "french": "fr",
    "german": "de",
    "italian": "it",
    "dutch": "nl",
    "romanian": "ro",
    "russian": "ru",
    "ukrainian": "uk",
    "polish": "pl",
    "hungarian": "hu",
    "japanese": "ja",
    "korean": "ko",
    "turkish": "tr",
    "mongolian": "mn",
    "croatian": "hr",
    "serbian": "sr",
    "slovenian": "sl",
    "macedonian": "mk",
    "bulgarian": "bg",
    "vietnamese": "vi",
}


class MathNet(Generic):
    """Keeps country, competition and topics; names languages by their two letters."""

    name = "mathnet"
    roles: ClassVar = {"statement": "problem_markdown", "solution": "solutions_markdown"}

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By the Markdown columns beside country or competition."""
        return "problem_markdown" in columns and bool({"country", "competition"} & columns)

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Shorten the language; keep of an image its name, never its bytes."""
        draft.language = _LANGUAGES.get((draft.language or "").lower(), draft.language)
        images = self.cell(fields, "images")
        if isinstance(images, list):
            draft.metadata["images"] = [_reference(image, place) for place, image in enumerate(images)]


def _reference(image: Any, place: int) -> Any:
    if isinstance(image, dict):
        return {key: value for key, value in image.items() if not isinstance(value, bytes)} or f"image {place}"
    return f"image {place}" if isinstance(image, bytes) else image
