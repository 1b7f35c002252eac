-- Problems with the same topics share one set: the topic kernel works on sets.
with
    sets as (
        select problem_id, list(topic_id order by topic_id) as topics
        from {{ ref("problem_topics") }}
        group by problem_id
    ),

    counted as (select topics, count(*)::integer as n_problems from sets group by topics)

select (row_number() over (order by topics) - 1)::integer as set_index, topics, n_problems
from counted
