"""Steps on single characters: lost backslashes, control and invisible characters, line ends, NFC."""

from __future__ import annotations

import re
import unicodedata

from warehouse.readers.text import LOST_BACKSLASH, REST_OF_COMMAND

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\ufdd0-\ufdef\ufffe\uffff]")
# Zero-width joiners stay: Indic scripts need them. Direction marks and soft hyphens carry nothing.
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


def restore_lost_backslashes(text: str) -> str:
    r"""Give commands back the backslash that unescaped JSON ate: form feed + "rac" -> ``\frac``."""
    return LOST_BACKSLASH.sub(lambda found: f"\\{REST_OF_COMMAND[found.group()[0]][0]}{found.group()[1:]}", text)


def normalise_line_ends(text: str) -> str:
    """Make every line end a line feed."""
    return re.sub("\r\n?|\u2028|\u2029|\x85", "\n", text)


def remove_control_characters(text: str) -> str:
    """Remove control characters other than tab and line feed."""
    return _CONTROL.sub("", text)


def remove_invisible_characters(text: str) -> str:
    """Remove byte order marks, zero-width spaces and soft hyphens; make odd spaces plain ones."""
    return _SPACES.sub(" ", _INVISIBLE.sub("", text))


def compose_unicode(text: str) -> str:
    """Bring the text into Unicode normalisation form C."""
    return unicodedata.normalize("NFC", text)


def tidy_white_space(text: str) -> str:
    """Strip the text and its line ends; leave at most one blank line between paragraphs."""
    text = re.sub(r"[ \t]+\n", "\n", text.replace("\t", " "))
    return re.sub(r"\n{3,}", "\n\n", text).strip()
