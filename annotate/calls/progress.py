"""What a job has done so far: counted always, shown live on a terminal."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

from tqdm import tqdm

from annotate.providers.base import Reply
from annotate.providers.failures import meaning


@dataclass
class Counts:
    """Counts of one run of a call log.

    Attributes
    ----------
    asked
        Requests the job made (the same call asked twice counts twice).
    from_log
        Requests answered without sending anything.
    sent
        Attempts sent.
    good
        Requests with a usable reply, landed before or now.
    quarantined
        Requests whose replies failed too often; they wait for ``--retry-quarantined``.
    given_up
        Requests the service did not answer in this run; the next run tries them again.
    missing
        Requests without a usable reply in a run that may not send.
    failures
        Failed attempts of this run by kind.
    prices
        ``price_in`` and ``price_out`` of a million tokens and their ``currency``; empty = unknown.
    """

    asked: int = 0
    from_log: int = 0
    sent: int = 0
    good: int = 0
    quarantined: int = 0
    given_up: int = 0
    missing: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    prices: Mapping[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """Requests left without a usable reply: above 0 the job's exit code must not be 0."""
        return self.quarantined + self.given_up + self.missing

    @property
    def cost(self) -> float | None:
        """What this run's attempts cost, failed ones included; None without prices."""
        if not self.prices:
            return None
        return float(self.tokens_in * self.prices["price_in"] + self.tokens_out * self.prices["price_out"]) / 1e6

    @property
    def shown_cost(self) -> str:
        """The cost in a few characters, nothing without prices."""
        return "" if self.cost is None else f"{self.cost:,.2f} {self.prices['currency']}"

    @property
    def exit_code(self) -> int:
        """0 only when every request has a usable reply."""
        return 1 if self.failed else 0

    def as_dict(self) -> dict[str, Any]:
        """Return the counts for a job's summary."""
        return {
            "asked": self.asked,
            "from_log": self.from_log,
            "sent": self.sent,
            "good": self.good,
            "quarantined": self.quarantined,
            "given_up": self.given_up,
            "missing": self.missing,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            **({"cost": round(self.cost, 6), "currency": self.prices["currency"]} if self.cost is not None else {}),
            "failures": dict(sorted(self.failures.items())),
        }

    def __str__(self) -> str:
        text = (
            f"{self.good} of {self.asked} calls have a reply ({self.from_log} from the log, {self.sent} sent, "
            f"{self.tokens_in} tokens in, {self.tokens_out} out{self.shown_cost and ', ' + self.shown_cost})"
        )
        if self.failures:
            kinds = ", ".join(f"{n} x {kind} ({meaning(kind)})" for kind, n in self.failures.most_common())
            text += f"; failed attempts: {kinds}"
        if self.quarantined:
            text += f"; {self.quarantined} quarantined: ask again with --retry-quarantined"
        if self.given_up:
            text += f"; {self.given_up} without an answer from the service: run the same command again"
        if self.missing:
            text += f"; {self.missing} not in the log"
        return text


class Progress:
    """A line on stderr with rate, ETA, tokens and failures by kind; silent where stderr is no terminal.

    Parameters
    ----------
    show
        None: only on a terminal.
    """

    def __init__(self, counts: Counts, show: bool | None = None, file: TextIO | None = None) -> None:
        self._counts = counts
        disable = None if show is None else not show
        self._bar = tqdm(unit=" calls", file=file or sys.stderr, disable=disable, smoothing=0.05)

    def expect(self, requests: int) -> None:
        """Note that so many more requests are to come."""
        self._bar.total = (self._bar.total or 0) + requests

    def answered(self) -> None:
        """Note one more request answered."""
        if not self._bar.disable:
            counts = self._counts
            failures = " ".join(f"{kind}:{number}" for kind, number in counts.failures.most_common(4))
            shown = f"tokens {_short(counts.tokens_in)} in {_short(counts.tokens_out)} out"
            # Redrawing is left to the bar's own interval.
            self._bar.set_postfix_str(" ".join(filter(None, (shown, counts.shown_cost, failures))), refresh=False)
        self._bar.update()

    def close(self) -> None:
        """Finish the line."""
        self._bar.close()


def count_tokens(counts: Counts, reply: Reply) -> None:
    """Add the tokens a reply was billed for."""
    counts.tokens_in += reply.tokens_in or 0
    counts.tokens_out += reply.tokens_out or 0


def _short(number: int) -> str:
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return str(number)


def say(text: str) -> None:
    """Print a line to stderr without tearing a progress line."""
    tqdm.write(text, file=sys.stderr)
