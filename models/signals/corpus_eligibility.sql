-- Eligible: a solution, a core idea and at least one topic; the first missing one is the reason.
with
    problems as (select problem_id, source, has_solution, language from {{ ref("stg_problems") }}),

    assigned as (
        select distinct scores.problem_id
        from {{ ref("stg_topic_scores") }} as scores
        inner join {{ ref("topics") }} as topics using (topic_id)
        where scores.assigned and not topics.is_excluded
    ),

    summaries as (select problem_id, core_idea, no_core_idea from {{ ref("stg_summaries") }}),

    copies as (select problem_id from {{ ref("stg_duplicates") }} where not is_survivor),

    languages as (select element as language from {{ setting_list("corpus.languages") }}),

    reasoned as (
        select
            problems.problem_id,
            problems.source,
            case
                when
                    (select count(*) from languages) > 0
                    and coalesce(problems.language, '') not in (select language from languages)
                then 'another language'
                when copies.problem_id is not null
                then 'copy of another problem'
                when not problems.has_solution
                then 'no solution'
                when summaries.problem_id is null
                then 'not summarised'
                when summaries.no_core_idea
                then 'no core idea'
                when coalesce(trim(summaries.core_idea), '') = ''
                then 'empty core idea'
                when assigned.problem_id is null
                then 'no topic'
            end as reason
        from problems
        left join copies using (problem_id)
        left join summaries using (problem_id)
        left join assigned using (problem_id)
    )

select problem_id, source, reason is null as is_eligible, reason
from reasoned
