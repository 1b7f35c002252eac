"""Read one setting in a Python model; SQL models use the macro of the same name."""

from __future__ import annotations

import json
from typing import Any

import duckdb


def setting(settings: duckdb.DuckDBPyRelation, name: str) -> Any:
    """Return the value of a setting from the relation of (name, JSON value).

    Raises
    ------
    ValueError
        When there is no setting of that name.
    """
    rows = dict(settings.project("name, value").fetchall())
    if name not in rows:
        raise ValueError(f"No setting {name!r} in saber.toml.")
    return json.loads(rows[name])


def headline(settings: duckdb.DuckDBPyRelation) -> str:
    """Return the measure that scores are means of, as the macro of the same name does."""
    return f"ndcg_{setting(settings, 'evaluation.gain')}@10"
