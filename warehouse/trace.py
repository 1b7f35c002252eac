"""From one graded relevance back to what a model said: rating, judgments, calls, raw replies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb

from warehouse.errors import SaberError
from warehouse.identity import pair_hash
from warehouse.landing import Landing
from warehouse.marts import Marts
from warehouse.schemas import TABLES
from warehouse.settings import Settings
from warehouse.variants import judgments_variant, ontology_in_use, ratings_variant

_CLOSE = 3
_OUTCOMES = {"first": ("won", "lost"), "second": ("lost", "won"), "tie": ("tied", "tied")}


@dataclass
class Chain:
    """Everything behind one graded relevance.

    Attributes
    ----------
    relevance
        The row of ``benchmark.qrels`` (or of the imported qrels) with the landed rating's further columns.
    judgments
        One a comparison that the document took part in, in the order of rounds: opponent, which was shown
        first, verdict, what it meant for the document, ballots and grades behind it, ids of calls.
    byes
        Rounds that the document sat out: judge, schedule, round, variant.
    calls
        {call id: its attempts in order, each with the raw reply}.
    """

    query: dict[str, Any]
    document: dict[str, Any]
    relevance: dict[str, Any]
    judgments: list[dict[str, Any]] = field(default_factory=list)
    byes: list[dict[str, Any]] = field(default_factory=list)
    calls: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the chain as plain dictionaries and lists."""
        return {
            "query": self.query,
            "document": self.document,
            "relevance": self.relevance,
            "judgments": self.judgments,
            "byes": self.byes,
            "calls": self.calls,
        }


def trace(settings: Settings, query_id: str, document_id: str) -> Chain:
    """Return the chain behind the relevance of one document to one query.

    The relevance comes from the snapshot, everything behind it from the landed files, so that a compaction since
    the last build does no harm.

    Raises
    ------
    SaberError
        When the pair has no relevance; the message names close ids.
    """
    landing = Landing(settings.home)
    with Marts(settings) as marts:
        relevance = _relevance(marts, query_id, document_id)
    with duckdb.connect() as connection:
        if relevance["origin"] == "candidates":
            relevance.update(_rating(connection, landing, relevance))
        judged = _judgments(connection, landing, relevance)
        byes = _byes(connection, landing, relevance)
        ids = {query_id, document_id, *(row[side] for row in judged for side in ("first_id", "second_id"))}
        problems = _problems(connection, landing, ids - {None})
        counted = _counted_variant(settings, landing, relevance)
        judgments = _comparisons(judged, document_id, problems, counted)
        calls = _calls(connection, landing, [call for row in judgments for call in row["call_ids"]])
    return Chain(_text(problems, query_id), _text(problems, document_id), relevance, judgments, byes, calls)


def _relevance(marts: Marts, query_id: str, document_id: str) -> dict[str, Any]:
    qrels = marts.name("benchmark.qrels")
    found = marts.rows(f"select * from {qrels} where query_id = ? and document_id = ?", [query_id, document_id])
    if found:
        return {**found[0], "origin": "candidates"}
    imported = marts.rows(
        f"select * from {marts.name('staging.stg_qrels')} where query_id = ? and document_id = ? order by all",
        [query_id, document_id],
    )
    if imported:
        return {**imported[0], "origin": imported[0]["origin"] or "imported"}
    if not marts.value(f"select count(*) from {qrels} where query_id = ?", [query_id]):
        close = _close(marts, f"select distinct query_id as id from {qrels}", query_id, [])
        raise SaberError(f"No query {query_id!r} has candidates. Close queries: {close}.")
    close = _close(marts, f"select document_id as id from {qrels} where query_id = $q", document_id, [query_id])
    raise SaberError(f"{document_id!r} is no candidate of query {query_id!r}. Close candidates: {close}.")


def _close(marts: Marts, ids: str, wanted: str, query: Sequence[str]) -> str:
    # An id typed without its source is the likeliest slip, so ids that end with it come first.
    given = {"wanted": wanted, **({"q": query[0]} if query else {})}
    rows = marts.rows(
        f"select id from ({ids}) order by ends_with(id, $wanted) desc, jaro_winkler_similarity(id, $wanted) desc, id "
        f"limit {_CLOSE}",
        given,
    )
    return ", ".join(row["id"] for row in rows) or "none"


def _rating(connection: duckdb.DuckDBPyConnection, landing: Landing, relevance: dict[str, Any]) -> dict[str, Any]:
    rows = _latest(
        connection,
        landing,
        "ratings",
        "benchmark = $benchmark and query_id = $query_id and document_id = $document_id "
        "and variant = $ratings_variant",
        {name: relevance[name] for name in ("benchmark", "query_id", "document_id", "ratings_variant")},
    )
    wanted = ("log_strength", "component", "separable", "n_comparisons", "ridge")
    return {name: rows[-1][name] for name in wanted} if rows else {}


def _judgments(
    connection: duckdb.DuckDBPyConnection, landing: Landing, relevance: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the latest rows about the document, and the grades of its opponents for ordinal judges."""
    return _latest(
        connection,
        landing,
        "judgments",
        "benchmark = $benchmark and query_id = $query_id "
        "and (first_id = $document_id or second_id = $document_id or kind = 'score')",
        {name: relevance[name] for name in ("benchmark", "query_id", "document_id")},
    )


def _byes(connection: duckdb.DuckDBPyConnection, landing: Landing, relevance: dict[str, Any]) -> list[dict[str, Any]]:
    rows = _latest(
        connection,
        landing,
        "byes",
        "benchmark = $benchmark and query_id = $query_id and document_id = $document_id",
        {name: relevance[name] for name in ("benchmark", "query_id", "document_id")},
    )
    return [{name: row[name] for name in ("judge", "schedule", "round", "variant")} for row in rows]


def _problems(
    connection: duckdb.DuckDBPyConnection, landing: Landing, ids: Iterable[str]
) -> dict[str, dict[str, Any]]:
    rows = _latest(connection, landing, "problems", "problem_id in (select unnest($ids))", {"ids": sorted(ids)})
    return {row["problem_id"]: row for row in rows}


def _calls(
    connection: duckdb.DuckDBPyConnection, landing: Landing, ids: Iterable[str]
) -> dict[str, list[dict[str, Any]]]:
    wanted = list(dict.fromkeys(ids))
    found: dict[str, list[dict[str, Any]]] = {call_id: [] for call_id in wanted}
    if not wanted:
        return found
    rows = _latest(connection, landing, "llm_calls", "call_id in (select unnest($ids))", {"ids": wanted})
    for row in sorted(rows, key=lambda row: row["attempt"]):
        found[row.pop("call_id")].append(row)
    return found


def _latest(
    connection: duckdb.DuckDBPyConnection, landing: Landing, table: str, where: str, given: dict[str, Any]
) -> list[dict[str, Any]]:
    keys = ", ".join(TABLES[table].key)
    result = connection.execute(
        f"select * exclude (schema_version) from ({landing.scan_sql(table)}) where {where} "
        f"qualify row_number() over (partition by {keys} order by sequence desc) = 1 order by sequence",
        given,
    )
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _counted_variant(settings: Settings, landing: Landing, relevance: dict[str, Any]) -> str | None:
    """Return the variant of the judgments that the rating was fitted to, None when it cannot be told."""
    variant = judgments_variant(settings, ontology_in_use(settings, landing))
    fitted_to_it = relevance.get("ratings_variant") == ratings_variant(settings, variant)
    return variant if fitted_to_it else None


def _comparisons(
    rows: Sequence[dict[str, Any]], document_id: str, problems: dict[str, dict[str, Any]], counted: str | None
) -> list[dict[str, Any]]:
    verdicts = [row for row in rows if row["kind"] != "score" and not row["vote"]]
    ballots = [row for row in rows if row["kind"] != "score" and row["vote"]]
    grades = [row for row in rows if row["kind"] == "score"]
    found = []
    for row in sorted(verdicts, key=lambda row: (row["judge"], row["schedule"], row["variant"], row["round"] or 0)):
        is_first = row["first_id"] == document_id
        same = ("judge", "schedule", "variant")
        votes = [one for one in ballots if all(one[c] == row[c] for c in (*same, "first_id", "second_id"))]
        pair = (row["first_id"], row["second_id"])
        graded = [one for one in grades if all(one[c] == row[c] for c in same) and one["first_id"] in pair]
        behind = [*([] if row["call_id"] is None else [row]), *votes, *(graded if row["call_id"] is None else [])]
        won, lost = _OUTCOMES.get(row["verdict"], ("invalid", "invalid"))
        is_current = _is_current(row, problems)
        is_counted = counted is not None and row["variant"] == counted and is_current and row["verdict"] != "invalid"
        found.append(
            {
                "round": row["round"],
                "opponent_id": row["second_id"] if is_first else row["first_id"],
                "shown": "first" if is_first else "second",
                "verdict": row["verdict"],
                "outcome": won if is_first else lost,
                "kind": row["kind"],
                **{name: row[name] for name in ("judge", "schedule", "annotator", "provider", "model")},
                **{name: row[name] for name in ("prompt_version", "score", "reason", "variant", "job_id")},
                "is_current": is_current,
                "is_counted": None if counted is None else is_counted,
                "ballots": [
                    {name: one[name] for name in ("vote", "first_id", "verdict", "score", "reason", "call_id")}
                    for one in behind
                    if one is not row
                ],
                "call_ids": list(dict.fromkeys(one["call_id"] for one in behind if one["call_id"])),
            }
        )
    return found


def _is_current(row: dict[str, Any], problems: dict[str, dict[str, Any]]) -> bool:
    """Say whether the texts that were judged are the present ones."""
    ids = (row["query_id"], row["first_id"], row["second_id"])
    hashes = [problems[one]["content_hash"] for one in ids if one in problems]
    return len(hashes) == len(ids) and bool(row["content_hash"] == pair_hash(*hashes))


def _text(problems: dict[str, dict[str, Any]], problem_id: str) -> dict[str, Any]:
    row = problems.get(problem_id, {"problem_id": problem_id})
    return {name: row.get(name) for name in ("problem_id", "source", "statement", "solution", "content_hash")}
