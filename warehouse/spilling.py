"""How much a dbt run has spilled to disk: DuckDB writes what exceeds its memory limit beside the warehouse file."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from pathlib import Path

_SECONDS = 0.1


class SpillWatch:
    """Looks at DuckDB's temporary folder until stopped and remembers the most it held.

    Parameters
    ----------
    folder
        The folder; it exists only while DuckDB spills.
    """

    def __init__(self, folder: Path) -> None:
        self.most = 0
        """Bytes, the largest size seen; what came and went between two looks a tenth of a second apart is missed."""
        self._folder = folder
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        """End the watch and return the most bytes seen."""
        self._stopped.set()
        self._thread.join()
        return self.most

    def _look(self) -> None:
        while True:
            self.most = max(self.most, _size(self._folder))
            if self._stopped.wait(_SECONDS):
                return


def watch_run(database: Path) -> None:
    """Watch this process and say at its end what was spilled: always if anything was, else where a limit was set."""
    limit = os.environ.get("SABER_MEMORY_LIMIT")
    watch = SpillWatch(database.with_name(f"{database.name}.tmp"))

    def say() -> None:
        if line := told(watch.stop(), limit):
            print(line, file=sys.stderr)

    atexit.register(say)


def told(spilled: int, limit: str | None) -> str | None:
    """Return the line for the user; None where there is nothing to say."""
    if spilled:
        under = f"the memory limit of {limit}" if limit else "DuckDB's memory limit of 2GB"
        return f"spilled up to {spilled / 1e6:,.0f} MB to disk under {under}; SABER_MEMORY_LIMIT sets it"
    return f"stayed within the memory limit of {limit} without spilling to disk" if limit else None


def _size(folder: Path) -> int:
    total = 0
    try:
        for entry in os.scandir(folder):
            total += entry.stat().st_size
    except OSError:  # the folder, or a file in it, has gone meanwhile
        pass
    return total
