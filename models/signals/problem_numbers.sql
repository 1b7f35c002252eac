-- A number stands for one state of a problem: its texts, core idea and topics. When one of them changes the problem
-- receives another number, since the pairs of the old one no longer hold; when it changes back, the old one again.
{{ config(materialized="incremental", unique_key="problem_index", incremental_strategy="delete+insert") }}

with
    topics as (
        select problem_id, list(topic_id order by topic_id) as topics
        from {{ ref("problem_topics") }}
        group by problem_id
    ),

    eligible as (
        select eligibility.problem_id, problems.content_hash, summaries.core_idea, sets.set_index
        from {{ ref("corpus_eligibility") }} as eligibility
        inner join {{ ref("stg_problems") }} as problems using (problem_id)
        inner join {{ ref("stg_summaries") }} as summaries using (problem_id)
        inner join topics using (problem_id)
        inner join {{ ref("topic_set_numbers") }} as sets using (topics)
        where eligibility.is_eligible
    ),

    kept as (
        {% if is_incremental() %}
            select problem_index, problem_id, content_hash, core_idea, set_index, is_current from {{ this }}
        {% else %}select null::integer as problem_index, *, false as is_current from eligible where false
        {% endif %}
    ),

    next_number as (select coalesce(max(problem_index) + 1, 0) as problem_index from kept),

    numbered as (
        select
            eligible.*,
            coalesce(
                kept.problem_index,
                next_number.problem_index
                - 1
                + row_number() over (partition by kept.problem_index is null order by eligible.problem_id)
            )::integer as problem_index
        from eligible
        cross join next_number
        left join kept using (problem_id, content_hash, core_idea, set_index)
    )

select problem_index, problem_id, content_hash, core_idea, set_index, true as is_current
from numbered
where problem_index not in (select problem_index from kept where is_current)

union all

select problem_index, problem_id, content_hash, core_idea, set_index, false as is_current
from kept
where is_current and problem_index not in (select problem_index from numbered)
