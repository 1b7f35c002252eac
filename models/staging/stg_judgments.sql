with
    selected as (
        select *
        from
            {{
                latest(
                    source("landing", "judgments"),
                    ["benchmark", "query_id", "first_id", "second_id", "kind", "vote", "judge", "schedule", "annotator", "variant"],
                )
            }}
    ),

    texts as (select problem_id, content_hash from {{ ref("stg_problems") }}),

    checked as (
        select
            selected.*,
            left(
                sha256(concat_ws(':', query.content_hash, first.content_hash, second.content_hash)), 32
            ) as current_hash
        from selected
        inner join texts as query on query.problem_id = selected.query_id
        inner join texts as first on first.problem_id = selected.first_id
        left join texts as second on second.problem_id = selected.second_id
    )

select
    benchmark,
    query_id,
    first_id,
    second_id,
    kind,
    vote,
    judge,
    schedule,
    round,
    verdict,
    score,
    reason,
    annotator,
    provider,
    model,
    prompt_version,
    call_id,
    variant,
    variant = case
        when kind = 'human' then {{ selected_variant("human") }} else {{ selected_variant("judgments") }}
    end as is_selected,
    job_id
from checked
where content_hash = current_hash
