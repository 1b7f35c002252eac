"""How a job asks: how much at once, how often again, when to stop."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.errors import SaberError


@dataclass(frozen=True)
class Policy:
    """Limits and patience of a job.

    Attributes
    ----------
    concurrency
        Calls in flight at once.
    requests_per_minute, tokens_per_minute
        Limits over any 60 seconds; None = none. Tokens are estimated before and corrected after a call.
    attempts
        Attempts at a call whose *reply* fails (:attr:`~annotate.providers.failures.Fault.REPLY`) before
        it is quarantined. Counted over all runs: a later run does not send a quarantined call again unless
        `retry_quarantined` grants as many attempts once more (or this number is raised).
    service_attempts
        Attempts at a call within one run while the *service* fails; the call is then given up for this run
        and the next run tries it again without being told.
    backoff_s, backoff_cap_s
        The n-th wait is drawn from [½, 1] · min(cap, backoff · 2ⁿ⁻¹) seconds; Retry-After can only lengthen
        it.
    retry_after_cap_s
        A server that asks for a longer pause than this stops the job with a message that says when to return.
    given_up_in_a_row
        So many calls given up with no success in between stop the job: the service is down.
    unusable_from_the_start
        So many calls quarantined before any usable reply stop the job: model and prompt do not fit each other, and
        going on would pay for nothing.
    on_model_change
        ``stop`` or ``accept``: what to do when another served model or fingerprint answers within a job.
    sync_interval_s
        Longest time a landed reply may wait for the disk, at most 1 second.
    journal_bytes, journal_records
        Size at which a journal is compacted into the landed table.
    """

    concurrency: int = 32
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    attempts: int = 3
    service_attempts: int = 10
    backoff_s: float = 1.0
    backoff_cap_s: float = 60.0
    retry_after_cap_s: float = 900.0
    given_up_in_a_row: int = 20
    unusable_from_the_start: int = 50
    retry_quarantined: bool = False
    on_model_change: str = "stop"
    sync_interval_s: float = 1.0
    journal_bytes: int = 32 << 20
    journal_records: int = 20_000

    def __post_init__(self) -> None:
        for name in (
            "concurrency",
            "attempts",
            "service_attempts",
            "given_up_in_a_row",
            "unusable_from_the_start",
            "journal_records",
        ):
            _require(getattr(self, name) >= 1, name, "at least 1")
        for name in ("requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            _require(value is None or value >= 1, name, "at least 1")
        for name in ("backoff_s", "backoff_cap_s", "retry_after_cap_s"):
            _require(getattr(self, name) >= 0, name, "not negative")
        _require(0 < self.sync_interval_s <= 1, "sync_interval_s", "in (0, 1]")
        _require(self.on_model_change in ("stop", "accept"), "on_model_change", "'stop' or 'accept'")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Policy:
        """Build a policy from a provider's table in the settings, leaving other keys alone."""
        names = {field.name for field in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in names})


def _require(holds: bool, name: str, what: str) -> None:
    if not holds:
        raise SaberError(f"The provider setting {name} must be {what}. Correct it in saber.toml.")
