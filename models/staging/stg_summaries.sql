with
    selected as (
        select *
        from
            {{ latest(source("landing", "summaries"), ["problem_id"], "variant = " ~ selected_variant("summaries")) }}
    ),

    current_texts as (select problem_id, content_hash from {{ ref("stg_problems") }})

select
    selected.problem_id,
    nfc_normalize(selected.core_idea) as core_idea,
    selected.supporting_ideas,
    selected.keywords,
    selected.no_core_idea,
    selected.confidence,
    selected.provider,
    selected.model,
    selected.prompt_version,
    selected.call_id,
    selected.variant
from selected
inner join current_texts using (problem_id, content_hash)
