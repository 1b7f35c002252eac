with
    sets as (
        select problem_id, list(topic_id order by topic_id) as topics
        from {{ ref("problem_topics") }}
        group by problem_id
    )

select sets.problem_id, problems.problem_index, topic_sets.set_index
from sets
inner join {{ ref("topic_sets") }} as topic_sets using (topics)
inner join {{ ref("eligible_problems") }} as problems using (problem_id)
