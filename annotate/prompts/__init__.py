"""Prompt files: plain Markdown with a ``## system`` and a ``## user`` section and ``{{ name }}`` places.

Text above the first section is for people and is not sent. Places are filled in one pass, so braces, quotes
or ``{{`` inside a problem reach the model as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from warehouse.errors import SaberError
from warehouse.settings import Settings
from warehouse.variants import prompt_path, prompt_version

_SECTION = re.compile(r"^## (system|user)[ \t]*$", re.MULTILINE)
_PLACE = re.compile(r"\{\{ ?([a-z_]+) ?\}\}")


@dataclass(frozen=True)
class Prompt:
    """A prompt ready to be filled in; ``version`` is ``name@hash`` of its file."""

    version: str
    sections: tuple[tuple[str, str], ...]

    def messages(self, **texts: str) -> tuple[Mapping[str, str], ...]:
        """Fill the places in and return chat messages."""
        return tuple(
            {"role": role, "content": _PLACE.sub(lambda place: texts[place[1]], body)} for role, body in self.sections
        )


def parse_prompt(text: str, version: str, places: Collection[str], shown: str) -> Prompt:
    """Read a prompt file's text.

    Raises
    ------
    SaberError
        When there is no user section, or the places in it are not exactly ``places``.
    """
    parts = _SECTION.split(text.replace("\r\n", "\n"))
    sections = tuple((role, body.strip()) for role, body in zip(parts[1::2], parts[2::2], strict=True))
    roles = [role for role, _ in sections]
    if roles not in (["user"], ["system", "user"]):
        raise SaberError(f"Prompt {shown} needs the sections '## system' (optional) and '## user', in this order.")
    found = {name for _, body in sections for name in _PLACE.findall(body)}
    if found != set(places):
        odd = ", ".join(sorted(found ^ set(places)))
        raise SaberError(f"Prompt {shown} must have each of its places and no other: look at {odd}.")
    return Prompt(version, sections)


def load_prompt(settings: Settings, name: str, places: Collection[str]) -> Prompt:
    """Load the prompt called ``name`` in the settings (``topics``, ``summary``, ...)."""
    version = prompt_version(settings, name)
    path = prompt_path(settings, name)
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise SaberError(f"Prompt {path} is not UTF-8 text. Save it as UTF-8.") from error
    return parse_prompt(text, version, places, str(path))


def with_prompt_file(settings: Settings, name: str, file: str | None) -> Settings:
    """Return settings in which the prompt called ``name`` is another file (``--prompt FILE``)."""
    if file is None:
        return settings
    path = str(Path(file).expanduser().resolve())
    return replace(settings, prompts=replace(settings.prompts, **{name: path}))
