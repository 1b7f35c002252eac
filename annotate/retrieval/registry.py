"""Every retrieval system by name: the modules of ``systems`` and the entry points ``saber.systems``.

A system of one's own is one file. Inside this project it goes into ``annotate/retrieval/systems`` and lists
its classes in ``SYSTEMS``; in a package of one's own each class is an entry point of the group
``saber.systems``. Code is never loaded from anywhere else, in particular not from a model's repository.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from annotate.retrieval import systems as package
from annotate.retrieval.base import System
from warehouse.errors import SaberError
from warehouse.settings import Settings

GROUP = "saber.systems"


@cache
def own_systems() -> Mapping[str, type[System]]:
    """Return the systems of this project by name."""
    found: dict[str, type[System]] = {}
    for module in sorted(info.name for info in iter_modules(package.__path__)):
        for system in import_module(f"{package.__name__}.{module}").SYSTEMS:
            if system.name in found:
                raise SaberError(f"Two systems are called {system.name!r}; the second is in {module}.py.")
            found[system.name] = system
    return found


def resolve(name: str, settings: Settings) -> tuple[type[System], dict[str, str]]:
    """Return the system called `name` and the parameters that the name implies.

    The name of a profile ``[providers.NAME]`` of a dense model is a system too.
    """
    table = settings.providers.get(name, {})
    kinds = {"embeddings": "dense", "sentence-transformers": "sentence-transformers"}
    kind = kinds.get(str(table.get("kind", "")))
    if kind is not None and name not in own_systems():
        return system_class(kind), {"provider": name}
    return system_class(name), {}


def system_names() -> list[str]:
    """Return the names of all systems, installed ones included."""
    return sorted({*own_systems(), *(point.name for point in entry_points(group=GROUP))})


def system_class(name: str) -> type[System]:
    """Return the system called `name`.

    Raises
    ------
    SaberError
        When no system has the name, or the package that brings it cannot be loaded.
    """
    own = own_systems()
    if name in own:
        return own[name]
    points = [point for point in entry_points(group=GROUP) if point.name == name]
    if not points:
        raise SaberError(f"No retrieval system is called {name!r}. Known: {', '.join(system_names())}.")
    try:
        loaded = points[0].load()
    except Exception as error:
        raise SaberError(f"System {name!r} ({points[0].value}) cannot be loaded: {error}.") from error
    if not (isinstance(loaded, type) and issubclass(loaded, System) and getattr(loaded, "name", None) == name):
        raise SaberError(
            f"The entry point {name!r} ({points[0].value}) is no system of that name. "
            "It must be a subclass of annotate.retrieval.base.System whose name is that of the entry point."
        )
    return loaded
