"""."""

from __future__ import annotations

from warehouse.cli.common import Subparsers


def register(commands: Subparsers) -> None:
    """."""
