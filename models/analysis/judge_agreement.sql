-- Agreement of choices on the same pair: 1 when equal, 1/2 when one says tie, 0 when opposite; by rank difference.
with
    choices as (
        select
            *,
            judge
            || '|'
            || coalesce(model, '')
            || '|'
            || coalesce(schedule, '')
            || '|'
            || variant
            || '|'
            || coalesce(annotator, '') as identity
        from {{ ref("pair_choices") }}
    ),

    paired as (
        select
            a.query_id,
            a.document_id,
            a.other_id,
            a.judge,
            a.model,
            a.schedule,
            a.variant,
            a.annotator,
            b.judge as other_judge,
            b.model as other_model,
            b.schedule as other_schedule,
            b.variant as other_variant,
            b.annotator as other_annotator,
            1 - abs(a.choice - b.choice) / 2.0 as agreement
        from choices as a
        inner join
            choices as b
            on b.query_id = a.query_id
            and b.document_id = a.document_id
            and b.other_id = a.other_id
            and (b.identity > a.identity or (b.judge = 'human' and a.judge <> 'human'))
        where not (a.judge = 'human' and b.judge <> 'human')
    ),

    placed as (
        select paired.*, abs(first.rank - second.rank) as rank_difference
        from paired
        left join
            {{ ref("rank_differences") }} as first
            on first.query_id = paired.query_id
            and first.document_id = paired.document_id
        left join
            {{ ref("rank_differences") }} as second
            on second.query_id = paired.query_id
            and second.document_id = paired.other_id
    ),

    regimes as (select unnest([0, 25, 50]) as min_rank_difference)

select
    placed.judge,
    placed.model,
    placed.schedule,
    placed.variant,
    placed.annotator,
    placed.other_judge,
    placed.other_model,
    placed.other_schedule,
    placed.other_variant,
    placed.other_annotator,
    regimes.min_rank_difference,
    count(*) as n_pairs,
    avg(placed.agreement) as agreement
from placed
inner join regimes on coalesce(placed.rank_difference, 0) >= regimes.min_rank_difference
group by all
