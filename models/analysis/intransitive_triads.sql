-- Triples of documents compared pairwise by one judge, and how many of them go round in a circle.
with
    wins as (
        select
            -- one tournament of one judge about one query
            struct_pack(benchmark, query_id, judge, provider, model, schedule, variant) as tournament,
            judge,
            model,
            schedule,
            variant,
            case when choice > 0 then document_id else other_id end as winner,
            case when choice > 0 then other_id else document_id end as loser
        from {{ ref("pair_choices") }}
        where choice <> 0 and judge <> 'human' and not is_by_grades
    ),

    ordered as (
        select
            tournament, judge, model, schedule, variant, least(winner, loser) as low, greatest(winner, loser) as high
        from wins
    ),

    triads as (
        select ab.judge, ab.model, ab.schedule, ab.variant, count(*) as n_triads
        from ordered as ab
        inner join ordered as bc on bc.tournament = ab.tournament and bc.low = ab.high
        inner join ordered as ac on ac.tournament = ab.tournament and ac.low = ab.low and ac.high = bc.high
        group by ab.judge, ab.model, ab.schedule, ab.variant
    ),

    circles as (
        select ab.judge, ab.model, ab.schedule, ab.variant, count(*) as n_intransitive
        from wins as ab
        inner join wins as bc on bc.tournament = ab.tournament and bc.winner = ab.loser
        inner join wins as ca on ca.tournament = ab.tournament and ca.winner = bc.loser and ca.loser = ab.winner
        -- each circle is met three times; it is counted from its least document
        where ab.winner < ab.loser and ab.winner < bc.loser
        group by ab.judge, ab.model, ab.schedule, ab.variant
    )

select
    triads.judge,
    triads.model,
    triads.schedule,
    triads.variant,
    triads.n_triads::bigint as n_triads,
    coalesce(circles.n_intransitive, 0)::bigint as n_intransitive,
    coalesce(circles.n_intransitive, 0) / triads.n_triads as share_intransitive
from triads
left join
    circles
    on circles.judge = triads.judge
    and circles.model is not distinct from triads.model
    and circles.schedule is not distinct from triads.schedule
    and circles.variant = triads.variant
