-- Ranks by the exhaustive fit of a query where there is one, else by the selected ratings.
with
    candidates as (
        select
            benchmark,
            query_id,
            document_id,
            rating,
            judge,
            provider,
            model,
            schedule,
            variant,
            schedule = 'exhaustive' as is_exhaustive,
            variant = {{ selected_variant("ratings") }} as is_selected
        from {{ ref("stg_all_ratings") }}
        where rating is not null
    ),

    leading_judge as (select distinct judge, provider, model, true as is_leading from candidates where is_selected),

    fits as (
        select
            candidates.benchmark,
            candidates.query_id,
            candidates.judge,
            candidates.schedule,
            candidates.variant,
            -- of several exhaustive fits that of the judge whose ratings the benchmark has, then the fullest
            row_number() over (
                partition by candidates.benchmark, candidates.query_id
                order by
                    bool_or(is_exhaustive) desc,
                    bool_or(is_selected) desc,
                    bool_or(coalesce(is_leading, false)) desc,
                    count(*) desc,
                    candidates.variant,
                    candidates.judge,
                    candidates.schedule
            ) as preference
        from candidates
        left join
            leading_judge
            on leading_judge.judge = candidates.judge
            and leading_judge.provider is not distinct from candidates.provider
            and leading_judge.model is not distinct from candidates.model
        group by candidates.benchmark, candidates.query_id, candidates.judge, candidates.schedule, candidates.variant
    )

select
    candidates.benchmark,
    candidates.query_id,
    candidates.document_id,
    candidates.variant,
    candidates.is_exhaustive,
    row_number() over (
        partition by candidates.benchmark, candidates.query_id order by candidates.rating desc, candidates.document_id
    )::integer as rank
from candidates
inner join fits using (benchmark, query_id, judge, schedule, variant)
where fits.preference = 1
