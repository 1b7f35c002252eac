"""What tells two runs of one system apart: the parameters in which they differ, as the leaderboard shows them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

_LONG = 24


def distinctions(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return {run id: what it has otherwise} of runs that share benchmark, scope, setting and system.

    Parameters
    ----------
    rows
        benchmark, scope, setting, system, run_id, idf and params (JSON, may be absent) of each run.
    """
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["benchmark"], row["scope"], row["setting"], row["system"]].append(row)
    found: dict[str, str] = {}
    for group in groups.values():
        if len(group) > 1:
            described = {row["run_id"]: _described(row) for row in group}
            names = sorted(set().union(*described.values()))
            telling = [name for name in names if len({known.get(name) for known in described.values()}) > 1]
            for run_id, known in described.items():
                told = [f"{name} {_short(known.get(name))}" for name in telling]
                found[run_id] = ", ".join(told) or run_id.rpartition(".")[2]
    return found


def _described(row: Mapping[str, Any]) -> dict[str, str]:
    try:
        given = json.loads(row.get("params") or "{}")
    except ValueError:
        given = {}
    known = given if isinstance(given, dict) else {}
    return {name: json.dumps(value, ensure_ascii=False) for name, value in {**known, "idf": row.get("idf")}.items()}


def _short(value: str | None) -> str:
    if value in (None, "null", '""'):
        return "none"
    text = str(value)
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"
