"""What the tables are and where they live: schemas, landing, readers, settings, the ``saber`` command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warehouse.evaluation import evaluate

__all__ = ["evaluate"]


def __getattr__(name: str) -> Any:
    # Loaded when first asked for: the dbt plugin and every command import this package.
    if name == "evaluate":
        from warehouse.evaluation import evaluate as function

        return function
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
