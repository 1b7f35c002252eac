-- Draws from the posterior of the selected variant, of candidates whose texts have not changed.
with
    latest as (
        select *
        from
            {{
                latest(
                    source("landing", "rating_draws"),
                    ["benchmark", "query_id", "document_id", "judge", "schedule", "draw"],
                    "variant = " ~ selected_variant("ratings"),
                )
            }}
    ),

    texts as (select problem_id, content_hash from {{ ref("stg_problems") }}),

    -- hashed once a pair, not once a draw
    pairs as (
        select
            rated.benchmark,
            rated.query_id,
            rated.document_id,
            rated.judge,
            rated.schedule,
            left(sha256(concat_ws(':', query.content_hash, document.content_hash)), 32) as content_hash
        from {{ ref("stg_ratings") }} as rated
        inner join texts as query on query.problem_id = rated.query_id
        inner join texts as document on document.problem_id = rated.document_id
    )

select
    latest.benchmark,
    latest.query_id,
    latest.document_id,
    latest.judge,
    latest.schedule,
    latest.draw,
    latest.rating,
    latest.log_strength,
    latest.variant
from latest
semi join pairs using (benchmark, query_id, document_id, judge, schedule, content_hash)
