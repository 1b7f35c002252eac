-- Problems with the same topics share one set: the topic kernel works on sets.
{{ config(materialized="incremental") }}

with
    sets as (
        select distinct topics
        from (select list(topic_id order by topic_id) as topics from {{ ref("problem_topics") }} group by problem_id)
    ),

    kept as (
        {% if is_incremental() %}select set_index, topics from {{ this }}
        {% else %}select null::integer as set_index, topics from sets where false
        {% endif %}
    )

select
    ((select coalesce(max(set_index), -1) from kept) + row_number() over (order by topics))::integer as set_index,
    topics
from sets
where topics not in (select topics from kept)
