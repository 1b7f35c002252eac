"""BBCode of the AoPS forum: hidden blocks, lists, emphasis, links, quotes."""

from __future__ import annotations

import re
from collections.abc import Callable

_HIDE = re.compile(r"\[hide(?:=([^\]\n]*))?\](.*?)\[/hide\]", re.IGNORECASE | re.DOTALL)
_CREDIT = re.compile(r"\b(?:source|sources|origin|credit|author|proposed|from)\b", re.IGNORECASE)
_LIST = re.compile(r"\[list(?:=([^\]\n]*))?\]((?:(?!\[/?list[\]=]).)*)\[/list\]", re.IGNORECASE | re.DOTALL)
_PAIRED = re.compile(
    r"\[(i|b|u|s|em|center|left|right|code|quote|size|color|url|email|youtube|spoiler|font|indent)(?:=([^\]\n]*))?\]"
    r"((?:(?!\[/?\1[\]=]).)*)\[/\1\]",
    re.IGNORECASE | re.DOTALL,
)
_DANGLING = re.compile(r"(?:\s*\[/?[biu]\])+\s*\Z")
_IMAGE = re.compile(r"\[img[^\]\n]*\](.*?)\[/img\]", re.IGNORECASE | re.DOTALL)
_ATTACHMENT = re.compile(r"\[attach(?:ment)?(?:=[^\]\n]*)?\](.*?)\[/attach(?:ment)?\]", re.IGNORECASE | re.DOTALL)
_FORMULA = re.compile(r"\[(?:tex|latex)\](.*?)\[/(?:tex|latex)\]", re.IGNORECASE | re.DOTALL)


def hidden_blocks(text: str) -> list[str]:
    """Contents of the hidden blocks of a text."""
    return [found.group(2).strip() for found in _HIDE.finditer(text)]


def drop_hidden_blocks(text: str) -> str:
    """Take hidden blocks out of a statement: they hold credits, hints or the solution."""
    return _until_stable(lambda t: _HIDE.sub("", t), text) if "[" in text else text


def open_hidden_blocks(text: str) -> str:
    """Open the hidden blocks of a solution, save those that only name the source."""
    return _until_stable(lambda t: _HIDE.sub(_opened, t), text) if "[" in text else text


def plain_bbcode(text: str) -> str:
    """Turn lists into Markdown lists and drop paired marks around text; images become references.

    Only pairs count: ``[ABC]`` is an area and ``a[i]`` an index, not BBCode.
    """
    if "[/" not in text:
        return text
    text = _FORMULA.sub(lambda found: f"${found.group(1).strip()}$", text)
    text = _ATTACHMENT.sub(r"[image: \1]", _IMAGE.sub(r"[image: \1]", text))
    text = _until_stable(lambda t: _LIST.sub(_list, t), text)
    return _until_stable(lambda t: _PAIRED.sub(lambda found: found.group(3), t), text)


def drop_dangling_marks(text: str) -> str:
    """Drop an emphasis mark that opens at the end of a text, or closes there without having been opened."""
    return _DANGLING.sub("", text)


def _opened(found: re.Match[str]) -> str:
    title, inner = found.group(1) or "", found.group(2).strip()
    only_credit = _CREDIT.search(title) and len(inner) < 200
    return "" if only_credit else f"\n{inner}\n"


def _list(found: re.Match[str]) -> str:
    numbered = found.group(1) is not None
    before, *entries = found.group(2).split("[*]")
    lines = [before.strip()] if before.strip() else []
    for number, entry in enumerate((entry.strip() for entry in entries), start=1):
        lines.append(f"{number}. {entry}" if numbered else f"- {entry}")
    return "\n" + "\n".join(lines) + "\n"


def _until_stable(change: Callable[[str], str], text: str) -> str:
    while (changed := change(text)) != text:
        text = changed
    return text
