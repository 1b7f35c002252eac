-- Triples of documents compared pairwise by one judge, and how many of them go round in a circle.
with
    wins as (
        select
            query_id,
            judge,
            model,
            schedule,
            variant,
            case when choice > 0 then document_id else other_id end as winner,
            case when choice > 0 then other_id else document_id end as loser
        from {{ ref("pair_choices") }}
        where choice <> 0 and judge <> 'human'
    ),

    compared as (
        select query_id, judge, model, schedule, variant, winner as a, loser as b
        from wins
        union all
        select query_id, judge, model, schedule, variant, loser as a, winner as b
        from wins
    ),

    triads as (
        select ab.query_id, ab.judge, ab.model, ab.schedule, ab.variant, count(*) as n_triads
        from compared as ab
        inner join
            compared as bc
            on bc.query_id = ab.query_id
            and bc.variant = ab.variant
            and bc.judge = ab.judge
            and bc.a = ab.b
        inner join
            compared as ac
            on ac.query_id = ab.query_id
            and ac.variant = ab.variant
            and ac.judge = ab.judge
            and ac.a = ab.a
            and ac.b = bc.b
        where ab.a < ab.b and bc.a < bc.b
        group by ab.query_id, ab.judge, ab.model, ab.schedule, ab.variant
    ),

    circles as (
        select ab.query_id, ab.judge, ab.variant, count(*) as n_intransitive
        from wins as ab
        inner join
            wins as bc
            on bc.query_id = ab.query_id
            and bc.variant = ab.variant
            and bc.judge = ab.judge
            and bc.winner = ab.loser
        inner join
            wins as ca
            on ca.query_id = ab.query_id
            and ca.variant = ab.variant
            and ca.judge = ab.judge
            and ca.winner = bc.loser
            and ca.loser = ab.winner
        -- each circle is met three times; it is counted from its least document
        where ab.winner < ab.loser and ab.winner < bc.loser
        group by ab.query_id, ab.judge, ab.variant
    )

select
    triads.judge,
    triads.model,
    triads.schedule,
    triads.variant,
    sum(triads.n_triads)::bigint as n_triads,
    sum(coalesce(circles.n_intransitive, 0))::bigint as n_intransitive,
    sum(coalesce(circles.n_intransitive, 0)) / sum(triads.n_triads) as share_intransitive
from triads
left join circles using (query_id, judge, variant)
group by triads.judge, triads.model, triads.schedule, triads.variant
