-- Copies whose own text and whose survivor's text are still those that were compared.
with
    latest as (
        select *
        from
            {{ latest(source("landing", "duplicates"), ["problem_id"], "variant = " ~ selected_variant("duplicates")) }}
    ),

    texts as (select problem_id, content_hash from {{ ref("stg_problems") }})

select latest.problem_id, latest.group_id, latest.is_survivor, latest.kind, latest.similarity
from latest
inner join texts as own on own.problem_id = latest.problem_id and own.content_hash = latest.content_hash
inner join texts as survivor on survivor.problem_id = latest.group_id and survivor.content_hash = latest.survivor_hash
where latest.kind <> 'single'
