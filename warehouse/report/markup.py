"""HTML and SVG built by calls: every text and attribute is escaped on the way in, so nothing can be forgotten."""

from __future__ import annotations

import html
from typing import Any

_VOID = frozenset(("meta", "br", "hr", "col", "circle", "line", "path", "rect", "polyline"))


class Markup(str):
    """Text that is mark-up already; any other text is escaped when it becomes a child."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """Return an element.

    Parameters
    ----------
    name
        Element name, a literal of this package.
    *children
        Markup, lists of it, texts and numbers (escaped), None (left out).
    **attributes
        ``class_`` becomes ``class``, ``stroke_width`` ``stroke-width``; None and False leave the attribute out, True
        makes it empty.
    """
    shown = "".join(
        f" {_name(key)}" if value is True else f' {_name(key)}="{html.escape(clean(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID and not children:
        return Markup(f"<{name}{shown}>" if name in ("meta", "br", "hr", "col") else f"<{name}{shown}/>")
    return Markup(f"<{name}{shown}>{join(*children)}</{name}>")


def join(*children: Any) -> Markup:
    """Return children one after the other, escaped where they are no mark-up."""
    parts = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Markup):
            parts.append(str(child))
        elif isinstance(child, list | tuple):
            parts.append(str(join(*child)))
        else:
            parts.append(html.escape(clean(child)))
    return Markup("".join(parts))


def clean(value: Any) -> str:
    """Show control characters, and marks that reorder text, as replacement characters."""
    return "".join("�" if _is_unfit(sign) else sign for sign in str(value))


def raw(text: str) -> Markup:
    """Return a text of this package's own (style sheet, script) as mark-up."""
    return Markup(text)


def _is_unfit(sign: str) -> bool:
    code = ord(sign)
    is_control = (code < 32 and sign not in "\n\t") or 127 <= code < 160
    reorders = 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069
    return is_control or reorders or 0xD800 <= code <= 0xDFFF


def _name(key: str) -> str:
    return {"class_": "class", "for_": "for", "viewbox": "viewBox"}.get(key, key.replace("_", "-"))
