"""The review list: what a job would have to guess is landed for a person to look at.

An item is open until the same step looks at the same document again and finds nothing, or a person settles it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import duckdb

from warehouse.landing import Landing
from warehouse.schemas import TABLES

TABLE = "review_items"
OPEN, SETTLED = "open", "settled"

Document = tuple[str, str, str]
"""Source, document and step."""


def review_item(
    source: str,
    document: str,
    step: str,
    reason: str,
    detail: str,
    content_hash: str | None = None,
    lines: tuple[int, int] | None = None,
    call_id: str | None = None,
    variant: str | None = None,
) -> dict[str, Any]:
    """Make an open item.

    Parameters
    ----------
    document
        Name of a file, or a ``problem_id``.
    step
        Who found it: ``read`` (ingestion), ``segment``, ``translate``, ...
    reason, detail
        What is the matter, in a few words that group, and in full.
    content_hash
        Of the text that was looked at: an item about an older text is no longer shown.
    lines
        First and last line of the document concerned, from 1.
    """
    first, last = lines or (None, None)
    return {
        "source": source,
        "document": document,
        "step": step,
        "reason": reason,
        "detail": detail,
        "state": OPEN,
        "first_line": first,
        "last_line": last,
        "call_id": call_id,
        "content_hash": content_hash,
        "variant": variant,
    }


def open_items(landing: Landing) -> list[dict[str, Any]]:
    """Return the open items that still matter, in the order in which they landed.

    An item about an older text of a problem, or of a withdrawn source, does not (as in ``analysis.review_list``).
    """
    columns = ", ".join(f'items."{name}"' for name, _ in TABLES[TABLE].columns)
    with duckdb.connect() as connection:
        cursor = connection.execute(
            _CURRENT.format(
                columns=columns,
                items=landing.scan_sql(TABLE),
                problems=landing.scan_sql("problems"),
                tombstones=landing.scan_sql("tombstones"),
            )
        )
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def land_items(
    landing: Landing, items: Iterable[dict[str, Any]], job_id: str, looked_at: Collection[Document] = ()
) -> int:
    """Land items, and settle open ones that the step no longer finds in the documents it looked at.

    Returns
    -------
    int
        Rows landed; a repeat lands nothing.
    """
    rows = list({_key(item): item for item in items}.values())
    keys = {_key(item) for item in rows}
    if looked_at:
        wanted = set(looked_at)
        for item in _ever_open(landing):
            if (item["source"], item["document"], item["step"]) in wanted and _key(item) not in keys:
                rows.append({**item, "state": SETTLED})
    return landing.append_new(TABLE, rows, job_id).rows if rows else 0


def settle(landing: Landing, documents: Collection[str], job_id: str, reason: str | None = None) -> list[str]:
    """Settle the open items of documents (of one reason, where it is named); return those that had any."""
    wanted = set(documents)
    rows = [
        {**item, "state": SETTLED}
        for item in _ever_open(landing)
        if item["document"] in wanted and (reason is None or item["reason"] == reason)
    ]
    landing.append_new(TABLE, rows, job_id)
    return sorted({row["document"] for row in rows})


def _ever_open(landing: Landing) -> list[dict[str, Any]]:
    names = [name for name, _ in TABLES[TABLE].columns]
    rows = landing.read(TABLE).to_pylist()
    return [{name: row[name] for name in names} for row in rows if row["state"] == OPEN]


def _key(item: dict[str, Any]) -> tuple[str, str, str, str]:
    return item["source"], item["document"], item["step"], item["reason"]


_CURRENT = """
with
    items as (
        select *
        from ({items})
        qualify row_number() over (partition by source, document, step, reason order by sequence desc) = 1
    ),
    texts as (select problem_id, arg_max(content_hash, sequence) as seen from ({problems}) group by problem_id),
    retracted as (
        select source from ({tombstones}) group by source having arg_max(action, sequence) = 'retract'
    )
select {columns}
from items
left join texts on texts.problem_id = items.document
where
    items.state = 'open'
    and items.source not in (select source from retracted)
    and (texts.problem_id is null or items.content_hash is null or items.content_hash = texts.seen)
order by items.sequence
"""
