"""The card of an export: what it is, whose the texts are, how to read the numbers."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_WARNING = (
    "The judge `offline-similarity` compares words, so it flatters lexical systems: these relevances test a pipeline "
    "and say nothing of systems."
)
KNOWN_LICENCES = frozenset(
    (
        "apache-2.0", "mit", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-3.0",
        "cc-by-sa-3.0", "cc0-1.0", "odc-by", "bsd-3-clause", "gpl-3.0", "unlicense",
    )
)  # fmt: skip
"""Licences by the tags that dataset registries use."""


def card(
    manifest: Mapping[str, Any], sections: Sequence[tuple[str, str]], front: Mapping[str, Any] | None = None
) -> str:
    """Return the README of an export.

    Parameters
    ----------
    manifest
        What the export is.
    sections
        (heading, Markdown of our own writing) after the facts.
    front
        The YAML block at the top; JSON is YAML, so hostile names cannot leave their quotes.
    """
    head = "" if front is None else "---\n" + "".join(f"{k}: {json.dumps(v)}\n" for k, v in front.items()) + "---\n\n"
    judge = manifest["judge"] or "none yet"
    share = manifest["share_judged"]
    facts = [
        f"# {plain(manifest['benchmark'])}",
        "",
        f"{manifest['queries']} queries over {manifest['documents']} mathematical problems; "
        f"{manifest['judged_pairs']} graded pairs (share judged {share if share is None else round(share, 4)}), "
        f"relevance by the judge {plain(judge)}.",
        f"Setting {manifest['setting']} (query text - document text), scope {manifest['scope']}, variant "
        f"{plain(manifest['variant'])}, build {plain(manifest['build_id'])}, {manifest['package']}.",
        *(["", f"**{_WARNING}**"] if "offline-similarity" in judge else []),
    ]
    parts = ["\n".join(facts)]
    parts += [f"## {heading}\n\n{body}" for heading, body in (*sections, ("Relevance", _RELEVANCE))]
    parts.append(f"## Licences\n\n{licence_table(manifest['licences'])}")
    return head + "\n\n".join(parts) + "\n"


_RELEVANCE = (
    "Gains are integers, `round(1000 * (2^relevance - 1))`: the linear nDCG of any tool over them equals the "
    "exponential nDCG over the exact relevances to 1e-3. The exact relevances stand beside them. Pairs without a "
    "judgment have no gain. A query missing from a run counts as 0 in the warehouse; many tools leave it out."
)


def licence_table(licences: Mapping[str, Sequence[str]]) -> str:
    """Return a Markdown table of the licences of each source."""
    rows = [f"| {plain(source)} | {plain(', '.join(names))} |" for source, names in licences.items()]
    return "\n".join(
        ["The texts keep the licences of their sources.", "", "| source | licence |", "| --- | --- |", *rows]
    )


def licence_tag(licences: Mapping[str, Sequence[str]]) -> str:
    """Return the one licence all sources share, as a tag that registries know, else ``other``."""
    names = {re.sub(r"[^a-z0-9.]+", "-", name.strip().lower()) for several in licences.values() for name in several}
    return names.pop() if len(names) == 1 and names <= KNOWN_LICENCES else "other"


def plain(text: str) -> str:
    """Show a text in Markdown as it is: no mark-up, no HTML, no line break."""
    flat = " ".join("".join(c if c.isprintable() or c.isspace() else "�" for c in text).split())
    return re.sub(r"([\\`*_{}\[\]()#+!|~>$-])", r"\\\1", html.escape(flat, quote=False))
