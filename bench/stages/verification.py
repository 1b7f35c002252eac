"""Both signals of 300 random problems once more in SQL, against everything the kernels found for them.

Where pairs are streamed, the problems are queries, whose partners are there nevertheless.
"""

from bench.stage import Outcome, Stage, Workbench
from bench.tables import THRESHOLDS, connect

CHOSEN = """
    create temp table chosen as
    select problem_index, set_index, tokens
    from problem_topic_sets join summary_tokens using (problem_id, problem_index)
    where not $streamed or problem_index in (select query_index from streamed_partners)
    order by md5('verification' || problem_id) limit 300
"""
TOPICS = (
    "create temp table member as select set_index, len(topics) as size, unnest(topics) as topic_id from topic_sets",
    """
    create temp table asked as
    select set_index, size, topic_id from member where set_index in (select set_index from chosen)
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
        case
            when t.descendant_id = u.descendant_id then 1.0
            else 2 * max(t.shared) / (any_value(t.own) + any_value(u.own) + 1e-12)
        end as similarity
    from above as t join above as u on u.ancestor_id = t.ancestor_id
    where t.descendant_id in (select topic_id from asked)
    group by t.descendant_id, u.descendant_id
    """,
    # An average cannot reach the threshold unless one match does.
    """
    create temp table expected as
    with
        candidate as (
            select distinct a.set_index as x, b.set_index as y
            from lin join asked as a on a.topic_id = t join member as b on b.topic_id = u
            where similarity >= $threshold
        ),
        crossed as (
            select x, y, a.topic_id as t, b.topic_id as u, coalesce(similarity, 0) as similarity
            from candidate
            join asked as a on a.set_index = x
            join member as b on b.set_index = y
            left join lin on lin.t = a.topic_id and lin.u = b.topic_id
        ),
        best as (
            select x, y, 0 as side, t as topic_id, max(similarity) as best from crossed group by x, y, t
            union all
            select x, y, 1 as side, u as topic_id, max(similarity) as best from crossed group by x, y, u
        ),
        -- In the order of the topics, one addition after another: the sum to the bit that the kernel computes.
        sides as (
            select x, y, side, list_sum(list(best order by topic_id)) as total, count(*) as n from best group by all
        ),
        averages as (
            select x, y, (any_value(total) filter (side = 0) + any_value(total) filter (side = 1)) / sum(n) as average
            from sides group by x, y
        )
    select x, y from averages where average >= $threshold
    """,
    """
    create temp table found as
    select first_set as x, second_set as y from topic_pairs where first_set in (select set_index from chosen)
    union
    select second_set as x, first_set as y from topic_pairs where second_set in (select set_index from chosen)
    """,
)
SUMMARIES = (
    """
    create or replace temp table expected as
    with
        asked as (select problem_index, len(tokens) as size, unnest(tokens) as token from chosen),
        postings as (select problem_index, len(tokens) as size, unnest(tokens) as token from summary_tokens),
        shared as (
            select a.problem_index as x, b.problem_index as y, a.size + b.size as sizes, count(*) as common
            from asked as a join postings as b on a.token = b.token and a.problem_index <> b.problem_index
            group by all
        )
    select x, y from shared where common / (sizes - common) >= $threshold
    """,
    """
    create or replace temp table found as
    select first_index as x, second_index as y from summary_pairs
    where first_index in (select problem_index from chosen)
    union
    select second_index as x, first_index as y from summary_pairs
    where second_index in (select problem_index from chosen)
    """,
)
# Sets become the problems that share them, as the streamed partners of a query are problems.
PROBLEMS_OF_SETS = """
    create or replace temp table expected as
    select chosen.problem_index as x, others.problem_index as y
    from chosen
    join expected on expected.x = chosen.set_index
    join problem_topic_sets as others on others.set_index = expected.y
    where others.problem_index <> chosen.problem_index
"""
STREAMED = """
    create or replace temp table found as
    select query_index as x, document_index as y from streamed_partners
    where class in ($class, 'both') and query_index in (select problem_index from chosen)
"""
COMPARED = """
    select count(*) filter (a.x is null or b.x is null), count(*)
    from found as a full join expected as b on a.x = b.x and a.y = b.y
"""


def run(workbench: Workbench) -> Outcome:
    """Compare; reported are the pairs that both ways found."""
    connection = connect(workbench.database, read_only=True)
    streamed = connection.execute("select max(storage) = 'streamed' from pair_density").fetchall()[0][0]
    connection.execute(CHOSEN, {"streamed": streamed})
    compared = 0
    for signal, statements in (("topic", TOPICS), ("summary", SUMMARIES)):
        for statement in statements:
            parameters = {"threshold": THRESHOLDS[signal]} if "$threshold" in statement else None
            connection.execute(statement, parameters)
        if streamed:
            if signal == "topic":
                connection.execute(PROBLEMS_OF_SETS)
            connection.execute(STREAMED, {"class": f"{signal}_only"})
        differing, pairs = connection.execute(COMPARED).fetchall()[0]
        if differing:
            raise AssertionError(f"{differing} of {pairs} {signal} pairs are not what SQL finds.")
        compared += pairs
    return Outcome(compared)


STAGE = Stage("verification", 65, run, unit="pairs equal", apart=True)
