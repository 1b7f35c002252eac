-- Ranks by the exhaustive fit of a query where there is one, else by the selected ratings.
with
    candidates as (
        select query_id, document_id, rating, schedule = 'exhaustive' as is_exhaustive, variant
        from {{ ref("stg_all_ratings") }}
        where rating is not null
    ),

    chosen as (
        select query_id, arg_max(variant, (is_exhaustive, variant = {{ selected_variant("ratings") }})) as variant
        from candidates
        group by query_id
    )

select
    candidates.query_id,
    candidates.document_id,
    candidates.variant,
    candidates.is_exhaustive,
    row_number() over (
        partition by candidates.query_id order by candidates.rating desc, candidates.document_id
    )::integer as rank
from candidates
inner join chosen using (query_id, variant)
