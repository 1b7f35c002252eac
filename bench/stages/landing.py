"""Landing a million verdicts in one append: checked, numbered, compressed, synced and renamed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from bench.stage import Outcome, Stage, Workbench
from bench.verdicts import timed

_MOST_ROWS = 1_000_000
_ROWS_PER_PROBLEM = 50
_REASONS = ("The first shares the idea.", "The second shares the idea.", "Both are solved by the same lemma.")


def n_rows(workbench: Workbench) -> int:
    """Return a million rows from 20,000 problems on, fewer in proportion below."""
    return min(_MOST_ROWS, _ROWS_PER_PROBLEM * workbench.n_problems)


def judgments(rows: int) -> pa.Table:
    """Draw rows of the landed table ``judgments`` without its bookkeeping columns; hashes do not compress."""
    draw = np.random.default_rng(5)
    ids = pa.array([f"problem-{number:06d}" for number in range(20_000)])
    drawn = draw.integers(0, len(ids), (3, rows))
    digests = [pa.array(_hashes(draw, rows)) for _ in range(2)]
    columns = {
        "benchmark": _constant("bench", rows),
        "query_id": ids.take(pa.array(np.sort(drawn[0]))),
        "first_id": ids.take(pa.array(drawn[1])),
        "second_id": ids.take(pa.array(drawn[2])),
        "kind": _constant("pair", rows),
        "vote": pa.array(np.zeros(rows, np.int32)),
        "judge": _constant("pairwise", rows),
        "schedule": _constant("swiss", rows),
        "round": pa.array(draw.integers(1, 21, rows).astype(np.int32)),
        "verdict": pa.array(["first", "second", "tie"]).take(pa.array(draw.integers(0, 3, rows))),
        "reason": pa.array(_REASONS).take(pa.array(draw.integers(0, len(_REASONS), rows))),
        "model": _constant("m", rows),
        "call_id": digests[0],
        "content_hash": digests[1],
        "variant": _constant("0123456789ab", rows),
    }
    return pa.table(columns)


def _constant(text: str, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.string()), rows)


def _hashes(draw: np.random.Generator, rows: int) -> list[str]:
    """Random digests of 32 hexadecimal digits."""
    digits = draw.bytes(16 * rows).hex()
    return [digits[start : start + 32] for start in range(0, len(digits), 32)]


def run(workbench: Workbench) -> Outcome:
    """Append, and count what the landing reads back."""
    from warehouse.landing import Landing

    rows = judgments(n_rows(workbench))
    landing = Landing(workbench.folder / "landed")
    _, seconds = timed(lambda: landing.append("judgments", rows, "bench"))
    return Outcome(sum(file.rows for file in landing.files("judgments")), dict(seconds))


STAGE = Stage("landing", 84, run, once=True, apart=True)
