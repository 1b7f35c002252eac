with recursive
    topics as (select topic_id, parent_id from {{ ref("topics") }}),

    closure as (
        select topic_id as descendant_id, topic_id as ancestor_id, 0 as distance
        from topics

        union all

        select closure.descendant_id, topics.parent_id as ancestor_id, closure.distance + 1 as distance
        from closure
        inner join topics on topics.topic_id = closure.ancestor_id
        where topics.parent_id is not null
    )

select descendant_id, ancestor_id, distance
from closure
