-- Agreement of choices on the same pair: 1 when equal, 1/2 when one says tie, 0 when opposite; by rank difference.
with
    choices as (
        select
            *,
            concat_ws(
                '|', judge, provider, coalesce(model, ''), coalesce(schedule, ''), variant, annotator
            ) as identity
        from {{ ref("pair_choices") }}
    ),

    ranks as (select * from {{ ref("rank_differences") }}),

    paired as (
        select
            a.benchmark,
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
            on b.benchmark = a.benchmark
            and b.query_id = a.query_id
            and b.document_id = a.document_id
            and b.other_id = a.other_id
            and (b.identity > a.identity or (b.judge = 'human' and a.judge <> 'human'))
        where
            not (a.judge = 'human' and b.judge <> 'human')
            -- one person asked about two variants of the benchmark is not two persons
            and not coalesce(a.annotator = b.annotator, false)
    ),

    placed as (
        select paired.*, abs(first.rank - second.rank) as rank_difference, first.is_exhaustive
        from paired
        left join
            ranks as first
            on first.benchmark = paired.benchmark
            and first.query_id = paired.query_id
            and first.document_id = paired.document_id
        left join
            ranks as second
            on second.benchmark = paired.benchmark
            and second.query_id = paired.query_id
            and second.document_id = paired.other_id
    ),

    -- beside each person all people together: the figures of the paper's table
    counted as (
        select placed.*, annotator as person, other_annotator as other_person, false as is_pooled
        from placed
        union all
        select placed.*, null::varchar as person, null::varchar as other_person, true as is_pooled
        from placed
        where other_judge = 'human'
    ),

    regimes as (select unnest([0, 25, 50]) as min_rank_difference)

select
    counted.benchmark,
    counted.judge,
    counted.model,
    counted.schedule,
    counted.variant,
    counted.person as annotator,
    counted.other_judge,
    counted.other_model,
    counted.other_schedule,
    counted.other_variant,
    counted.other_person as other_annotator,
    counted.is_pooled,
    regimes.min_rank_difference,
    count(*) as n_pairs,
    count(*) filter (counted.rank_difference is not null and counted.is_exhaustive) as n_exhaustive,
    avg(counted.agreement) as agreement
from counted
inner join regimes on coalesce(counted.rank_difference, 0) >= regimes.min_rank_difference
group by all
