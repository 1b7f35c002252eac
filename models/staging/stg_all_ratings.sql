-- Ratings of every variant, for comparing schedules and judges; stg_ratings has the selected one. A variant has one
-- judge a query: what another one said there before (the offline judge compares techniques or texts) is replaced.
with
    latest as (
        select *
        from
            {{
                latest(
                    source("landing", "ratings"),
                    ["benchmark", "query_id", "document_id", "schedule", "variant"],
                )
            }}
    ),

    texts as (select problem_id, content_hash from {{ ref("stg_problems") }})

select
    latest.benchmark,
    latest.query_id,
    latest.document_id,
    latest.judge,
    latest.schedule,
    latest.provider,
    latest.model,
    latest.rating,
    latest.log_strength,
    latest.std_error,
    latest.variant
from latest
inner join texts as query on query.problem_id = latest.query_id
inner join texts as document on document.problem_id = latest.document_id
where latest.content_hash = left(sha256(concat_ws(':', query.content_hash, document.content_hash)), 32)
