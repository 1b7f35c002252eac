-- What a person should look at. An item about an older text, or of a withdrawn source, is no longer shown.
with
    items as (
        select *
        from {{ latest(source("landing", "review_items"), ["source", "document", "step", "reason"]) }}
        where state = 'open'
    )

select
    items.source,
    items.document,
    items.step,
    items.reason,
    items.detail,
    items.first_line,
    items.last_line,
    problems.problem_id,
    problems.statement,
    items.call_id
from items
left join {{ ref("stg_problems") }} as problems on problems.problem_id = items.document
left join {{ ref("stg_retracted_sources") }} as retracted on retracted.source = items.source
where
    retracted.source is null
    and (problems.problem_id is null or items.content_hash is null or items.content_hash = problems.content_hash)
