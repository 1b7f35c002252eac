"""``--batch write|submit|collect`` of the job commands: a job through files of the Batch API instead of calls."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from annotate.providers.base import Provider, Request
from warehouse.cli.common import Job, note
from warehouse.landing import Landing

STEPS = ("write", "submit", "collect")
OnMissing = Callable[[Request], None]
RunFromLog = Callable[[OnMissing], dict[str, Any]]
"""Runs the job from the call log alone, tells each request it lacks, returns the job's counts with ``calls``."""


def add_way_flags(parser: argparse.ArgumentParser) -> None:
    """Add ``--dry-run`` and ``--batch``: other things to do with a job than to ask it now."""
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--dry-run", action="store_true", help="show calls, tokens, hours and cost; ask nothing")
    ways.add_argument(
        "--batch",
        choices=STEPS,
        help="go through files of the OpenAI Batch API: write what is missing, submit the files, collect replies",
    )


def run_batch(
    step: str,
    record: Job,
    landing: Landing,
    provider: Provider,
    run_from_log: RunFromLog,
    validate: Callable[..., str | None],
    policy: Any,
    later_calls: str,
) -> int:
    """Do one step, note its counts in the job's summary, and say what comes next.

    ``write`` and ``collect`` also run the job from the call log, so that what has all its replies lands.

    Parameters
    ----------
    later_calls
        Why one batch may not be enough, in a sentence: later calls follow from earlier replies.

    Returns
    -------
    int
        The exit code: 1 while replies failed, are quarantined or not back yet.
    """
    # Imported here: the HTTP client would make every other use of the commands slow to start.
    from annotate.calls.batch_steps import batch_step

    ran: dict[str, Any] = {}

    def run(on_missing: OnMissing) -> None:
        ran.update(run_from_log(on_missing))

    record.start()
    done = batch_step(step, landing, provider, record.job_id, run, validate, policy)
    if step == "collect":
        run(lambda request: None)
    calls = ran.get("calls", {})
    unusable = calls.get("quarantined", 0)
    failed = bool(unusable or (step == "collect" and (done["failed"] or done["waiting"])))
    record.summary.update(batch=step, **done, **{f"job_{name}": value for name, value in ran.items()})
    if failed:
        record.summary["incomplete"] = True
    for line in _next(step, done, calls.get("missing", 0), later_calls):
        note(line)
    if unusable:
        note(f"{unusable} calls failed too often and are quarantined: write them again with --retry-quarantined.")
    return int(failed)


def _next(step: str, done: dict[str, Any], missing: int, later_calls: str) -> list[str]:
    if step == "write":
        if done["calls"]:
            return [f"{done['calls']} calls are written to {done['folder']}. Next: --batch submit. {later_calls}"]
        if missing:
            return ["Nothing new to write: the missing calls are in files that wait for --batch submit or collect."]
        return ["Nothing to write: every call has landed."]
    if step == "submit":
        if done["files"]:
            return [f"{done['calls']} calls are with the service. Next, when it is done: --batch collect."]
        return ["Nothing to submit: write first, or the files are with the service already."]
    lines = []
    if done["waiting"]:
        lines.append(f"The service has not finished {done['waiting']} calls: collect again later.")
    if done["failed"]:
        lines.append(f"{done['failed']} replies are no good: --batch write asks them again, a few times at most.")
    if missing and not done["waiting"]:
        lines.append(f"Calls are still missing: --batch write. {later_calls}")
    return lines or ["Every call of the job has landed."]
