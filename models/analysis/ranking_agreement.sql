-- Do the ratings of a schedule order two candidates as people do? Equal ratings count as a tie.
with
    -- one choice a person and pair, whichever variants of the benchmark it was asked in
    human as (
        select benchmark, query_id, document_id, other_id, annotator, sign(avg(choice))::integer as choice
        from {{ ref("pair_choices") }}
        where judge = 'human'
        group by benchmark, query_id, document_id, other_id, annotator
    ),

    ratings as (select * from {{ ref("stg_all_ratings") }} where rating is not null),

    ranks as (select * from {{ ref("rank_differences") }}),

    implied as (
        select
            human.query_id,
            human.annotator,
            first.judge,
            first.model,
            first.schedule,
            first.variant,
            human.choice,
            sign(first.rating - second.rating)::integer as implied_choice,
            abs(first_rank.rank - second_rank.rank) as rank_difference
        from human
        inner join
            ratings as first
            on first.benchmark = human.benchmark
            and first.query_id = human.query_id
            and first.document_id = human.document_id
        inner join
            ratings as second
            on second.benchmark = human.benchmark
            and second.query_id = human.query_id
            and second.document_id = human.other_id
            and second.variant = first.variant
            and second.judge = first.judge
            and second.schedule is not distinct from first.schedule
        left join
            ranks as first_rank
            on first_rank.benchmark = human.benchmark
            and first_rank.query_id = human.query_id
            and first_rank.document_id = human.document_id
        left join
            ranks as second_rank
            on second_rank.benchmark = human.benchmark
            and second_rank.query_id = human.query_id
            and second_rank.document_id = human.other_id
    ),

    regimes as (select unnest([0, 25, 50]) as min_rank_difference)

select
    implied.judge,
    implied.model,
    implied.schedule,
    implied.variant,
    regimes.min_rank_difference,
    count(*) as n_pairs,
    avg(1 - abs(implied.choice - implied.implied_choice) / 2.0) as agreement
from implied
inner join regimes on coalesce(implied.rank_difference, 0) >= regimes.min_rank_difference
group by implied.judge, implied.model, implied.schedule, implied.variant, regimes.min_rank_difference
