{{ config(materialized="view") }}

with
    counted as (
        select set_index, count(*)::integer as n_problems from {{ ref("problem_topic_sets") }} group by set_index
    )

select numbers.set_index, numbers.topics, coalesce(counted.n_problems, 0)::integer as n_problems
from {{ ref("topic_set_numbers") }} as numbers
left join counted using (set_index)
