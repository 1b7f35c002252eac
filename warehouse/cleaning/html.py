"""HTML: entities become characters, tags become Markdown or vanish, formulas stay untouched."""

from __future__ import annotations

import html
import re

from warehouse.cleaning.segments import outside_formulas

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_ATTRIBUTES = r"(?:\s+[A-Za-z_:][\w:.-]*\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+))*\s*/?"
_LONG = (
    "address|article|blockquote|body|center|code|col|colgroup|dd|del|div|dl|dt|em|figcaption|figure|font|form|"
    "head|header|hr|html|iframe|input|ins|kbd|li|link|main|mark|math-container|meta|nav|ol|pre|samp|script|"
    "section|small|span|strike|strong|style|sub|sup|table|tbody|td|tfoot|th|thead|tr|tt|ul|var|br|img|h[1-6]"
)
_TAG = re.compile(rf"<(/?)({_LONG}|a|b|i|p|q|s|u){_ATTRIBUTES}>", re.IGNORECASE)
_HIDDEN = re.compile(r"<!--.*?-->|<(script|style)\b[^>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_SCRIPTS = re.compile(r"<(sup|sub)>([^<>]{1,40})</\1>", re.IGNORECASE)
_SOURCE = re.compile(r"\bsrc\s*=\s*[\"']?([^\s\"'>]+)", re.IGNORECASE)
_BREAKS = frozenset(("br", "p", "div", "tr", "table", "blockquote", "hr", "ul", "ol", "pre", "section", "center"))


def decode_entities(text: str) -> str:
    """Decode entities that end in a semicolon.

    A decoded "<" before a letter, "/" or "!" gets a space behind it, so that it is never read as a tag.
    """
    if "&" not in text:
        return text
    while (decoded := _ENTITY.sub(_entity, text)) != text:
        text = decoded
    return text


def strip_tags(text: str) -> str:
    """Turn HTML tags into line breaks, list signs, sub- and superscripts and image references."""
    if "<" not in text:
        return text
    return outside_formulas(text, _strip)


def _entity(found: re.Match[str]) -> str:
    decoded = html.unescape(found.group())
    after = found.string[found.end() : found.end() + 1]
    return "< " if decoded == "<" and (after.isalpha() or after in ("/", "!")) else decoded


def _strip(words: str) -> str:
    # Removing one tag may bring the halves of another together: repeat until nothing changes.
    while True:
        changed = _SCRIPTS.sub(_script, _HIDDEN.sub("", words))
        changed = _TAG.sub(_tag, changed)
        if changed == words:
            return words
        words = changed


def _script(found: re.Match[str]) -> str:
    return ("^{" if found.group(1).lower() == "sup" else "_{") + found.group(2) + "}"


def _tag(found: re.Match[str]) -> str:
    closing, name = found.group(1), found.group(2).lower()
    if len(name) == 1 and name != "p" and f"</{name}" not in found.string.lower():
        return found.group()  # a < b > c is no bold letter
    if name == "img":
        source = _SOURCE.search(found.group())
        return f"[image: {source.group(1)}]" if source else "[image]"
    if name == "li":
        return "" if closing else "\n- "
    if name in ("td", "th"):
        return " " if closing else ""
    return "\n" if name in _BREAKS or re.fullmatch("h[1-6]", name) else ""
