-- A traversal is replaced as a whole: of a problem's traversals only the latest is read.
with
    selected as (
        select *
        from {{ source("landing", "topic_scores") }}
        where variant = {{ selected_variant("topics") }}
        qualify traversal_id = arg_max(traversal_id, sequence) over (partition by problem_id)
    ),

    current_texts as (select problem_id, content_hash from {{ ref("stg_problems") }})

select
    selected.problem_id,
    selected.visited_topic_id,
    selected.topic_id,
    selected.raw_score,
    selected.score,
    selected.kept,
    selected.assigned,
    selected.provider,
    selected.model,
    selected.prompt_version,
    selected.call_id,
    selected.variant
from selected
inner join current_texts using (problem_id, content_hash)
