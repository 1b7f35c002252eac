"""Topic pairs in DuckDB: Lin by closure join, candidate sets by near topics, best matches by grouping."""

from bench.stage import Outcome, Stage, Workbench
from bench.tables import THRESHOLDS, connect

STATEMENTS = (
    """
    create temp table member as
    select set_index, n_problems, len(topics) as size, unnest(topics) as topic_id from topic_sets
    """,
    """
    create temp table lin as
    with
        above as (
            select c.descendant_id, c.ancestor_id, a.information_content as shared, t.information_content as own
            from topic_closure as c
            join topic_information_content as a on a.topic_id = c.ancestor_id
            join topic_information_content as t on t.topic_id = c.descendant_id
            where t.n_annotations > 0 and a.information_content > 0
        )
    select
        t.descendant_id as t,
        u.descendant_id as u,
        -- The lowest common ancestor is the most informative one.
        case
            when t.descendant_id = u.descendant_id then 1.0
            else 2 * max(t.shared) / (any_value(t.own) + any_value(u.own) + 1e-12)
        end as similarity
    from above as t join above as u on u.ancestor_id = t.ancestor_id
    group by t.descendant_id, u.descendant_id
    """,
    """
    create temp table candidate as
    select distinct a.set_index as x, b.set_index as y
    from lin
    join member as a on a.topic_id = t
    join member as b on b.topic_id = u
    where similarity >= $threshold and a.set_index <= b.set_index
    """,
    """
    create temp table found as
    with
        crossed as (
            select x, y, a.topic_id as t, b.topic_id as u, coalesce(similarity, 0) as similarity, a.size + b.size as n
            from candidate
            join member as a on a.set_index = x
            join member as b on b.set_index = y
            left join lin on lin.t = a.topic_id and lin.u = b.topic_id
        ),
        best as (
            select x, y, n, max(similarity) as best from crossed group by x, y, n, t
            union all
            select x, y, n, max(similarity) as best from crossed group by x, y, n, u
        )
    select x, y from best group by x, y, n having sum(best) / n >= $threshold
    """,
)
PROBLEM_PAIRS = """
    select sum(if(x = y, a.n_problems::bigint * (a.n_problems - 1) // 2, a.n_problems::bigint * b.n_problems))
    from found join topic_sets as a on a.set_index = x join topic_sets as b on b.set_index = y
"""


def run(workbench: Workbench) -> Outcome:
    """Run the statements in memory beside the corpus."""
    connection = connect(workbench.database, read_only=True)
    for statement in STATEMENTS:
        connection.execute(statement, {"threshold": THRESHOLDS["topic"]} if "$threshold" in statement else None)
    return Outcome(int(connection.execute(PROBLEM_PAIRS).fetchall()[0][0] or 0))


STAGE = Stage("topic_pairs: SQL joins", 30, run, peer_of="topic_pairs", largest=20_000, unit="pairs")
