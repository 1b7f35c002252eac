"""Ranges of the numeric settings: a count below zero or a share above one is a slip of the pen."""

from pathlib import Path
from typing import Any

from warehouse.errors import SaberError

_ANY = float("inf")
# Only what no build can mean is refused; extreme but meaningful values pass.
RANGES: dict[str, tuple[float, float]] = {
    "corpus.duplicate_threshold": (0, 1),
    "ontology.max_topics": (1, _ANY),
    "annotation.topic_threshold": (0, 1),
    "signals.max_stored_share": (0, 1),
    "signals.stored_anyway": (0, _ANY),
    "signals.whole_curve": (0, _ANY),
    "signals.memory_mib": (1, _ANY),
    "signals.workers": (1, _ANY),
    "benchmark.queries": (1, _ANY),
    "benchmark.candidates_per_class": (1, _ANY),
    "benchmark.min_eligible": (0, _ANY),
    "judging.rounds": (1, _ANY),
    "ratings.ridge": (0, _ANY),
    "ratings.scale": (0, _ANY),
    "ratings.replicates": (0, _ANY),
    "evaluation.bootstrap_replicates": (0, _ANY),
}


def in_range(name: str, value: Any, file: Path) -> Any:
    """Return the value of a setting, once it is known to lie in the setting's range.

    Parameters
    ----------
    name
        Section and key, such as ``benchmark.candidates_per_class``.
    value
        Checked value; texts such as ``auto`` and settings without a range pass.
    file
        Settings file, named in the error.

    Raises
    ------
    SaberError
        When the number lies outside the range (NaN lies outside every range).
    """
    low, high = RANGES.get(name, (-_ANY, _ANY))
    if name not in RANGES or isinstance(value, str) or low <= value <= high:
        return value
    wanted = f"at least {low:g}" if high == _ANY else f"between {low:g} and {high:g}"
    raise SaberError(f"{file}: {name} must be {wanted}, not {value!r}.")
