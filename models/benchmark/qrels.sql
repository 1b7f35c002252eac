-- The graded relevance of each candidate; NULL while it has no rating (see analysis.unjudged_candidates).
with candidates as (select * from {{ ref("candidates") }}), ratings as (select * from {{ ref("stg_ratings") }})

select
    candidates.benchmark,
    candidates.variant,
    candidates.query_id,
    candidates.document_id,
    candidates.class,
    ratings.rating as relevance,
    ratings.std_error,
    ratings.judge,
    ratings.schedule,
    ratings.provider,
    ratings.model,
    ratings.variant as ratings_variant,
    ratings.job_id
from candidates
left join
    ratings
    on ratings.benchmark = candidates.benchmark
    and ratings.query_id = candidates.query_id
    and ratings.document_id = candidates.document_id
