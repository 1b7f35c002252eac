"""Summary pairs by a self-join over tokens in DuckDB."""

from bench.stage import Outcome, Stage, Workbench
from bench.tables import THRESHOLDS, connect

QUERY = """
    with
        sets as (select problem_index, tokens, len(tokens) as size from summary_tokens),
        postings as (select problem_index, unnest(tokens) as token from sets),
        shared as (
            select a.problem_index as i, b.problem_index as j, count(*) as common
            from postings as a join postings as b on a.token = b.token and a.problem_index < b.problem_index
            group by all
        )
    select count(*)
    from shared join sets as a on a.problem_index = i join sets as b on b.problem_index = j
    where common / (a.size + b.size - common) >= $threshold
"""


def run(workbench: Workbench) -> Outcome:
    """Join postings, count, filter."""
    connection = connect(workbench.database, read_only=True)
    return Outcome(connection.execute(QUERY, {"threshold": THRESHOLDS["summary"]}).fetchall()[0][0])


STAGE = Stage("summary_pairs: SQL self-join", 40, run, peer_of="summary_pairs", largest=10_000, unit="pairs")
