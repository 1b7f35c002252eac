"""Summary pairs by the definition, with Python sets."""

from itertools import combinations

from bench.stage import Outcome, Stage, Workbench
from bench.tables import THRESHOLDS, connect


def run(workbench: Workbench) -> Outcome:
    """Compare every pair."""
    connection = connect(workbench.database, read_only=True)
    sets = [set(tokens) for (tokens,) in connection.execute("select tokens from summary_tokens").fetchall()]
    return Outcome(sum(len(a & b) >= THRESHOLDS["summary"] * len(a | b) for a, b in combinations(sets, 2)))


STAGE = Stage("summary_pairs: brute force", 40, run, peer_of="summary_pairs", largest=1_000, unit="pairs")
