"""What a stage is, and where they are found: every module of bench/stages and bench/peers defines one `STAGE`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Workbench:
    """What a stage works on.

    Attributes
    ----------
    folder : Path
        A folder of this corpus; stages may leave files in it for later ones.
    n_problems : int
    """

    folder: Path
    n_problems: int

    @property
    def database(self) -> Path:
        """The file that stands for the warehouse (:mod:`bench.tables`)."""
        return self.folder / "bench.duckdb"


@dataclass(frozen=True)
class Outcome:
    """What a stage did.

    Attributes
    ----------
    pairs : int or None
        Pairs found, or rows made; None where the stage has nothing to count. A peer must find as many as the stage
        it stands beside.
    facts : dict
        Whatever else is worth a line, by name.
    """

    pairs: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage:
    """A piece of work that is timed by itself.

    Attributes
    ----------
    name : str
    order : int
        Stages run in this order, and may use what earlier ones left.
    run : callable
        Runs in a process of its own.
    peer_of : str or None
        The stage that does the same work, for other ways of doing it.
    largest : int or None
        The largest corpus it is run on, for work that grows out of bounds.
    once : bool
        Whether it does not depend on the corpus and is run for the first size alone.
    unit : str
        What `Outcome.pairs` counts.
    apart : bool
        Whether it is left out of the sum over the stages.
    """

    name: str
    order: int
    run: Callable[[Workbench], Outcome]
    peer_of: str | None = None
    largest: int | None = None
    once: bool = False
    unit: str = "rows"
    apart: bool = False


def stages() -> list[Stage]:
    """All stages and peers in their order; a new one is a new module, nothing else."""
    found: list[Stage] = []
    for package in ("bench.stages", "bench.peers"):
        path = importlib.import_module(package).__path__
        names = [module.name for module in pkgutil.iter_modules(path)]
        found += [importlib.import_module(f"{package}.{name}").STAGE for name in names]
    repeated = {stage.name for stage in found if [s.name for s in found].count(stage.name) > 1}
    if repeated:
        raise ValueError(f"Several stages are called {', '.join(sorted(repeated))}. Rename all but one.")
    return sorted(found, key=lambda stage: (stage.order, stage.peer_of is not None, stage.name))
