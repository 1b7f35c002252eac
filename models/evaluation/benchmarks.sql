-- The benchmark of the settings, built here, and every imported one under another name.
with
    built as (
        select
            {{ setting("benchmark.name") }} as benchmark,
            {{ selected_variant("benchmark") }} as variant,
            'built' as origin,
            count(*) as n_queries
        from {{ ref("queries") }}
    ),

    imported as (
        select benchmark, any_value(variant) as variant, 'imported' as origin, count(distinct query_id) as n_queries
        from {{ ref("stg_qrels") }}
        where is_selected and benchmark <> {{ setting("benchmark.name") }}
        group by benchmark
    ),

    named as (
        select *
        from built
        union all
        select *
        from imported
    ),

    judged as (
        select
            benchmark,
            count(*) as n_pairs,
            count(relevance) as n_judged,
            string_agg(distinct judge, ' + ' order by judge) as judge
        from {{ ref("relevances") }}
        group by benchmark
    )

select
    named.benchmark,
    named.variant,
    named.origin,
    named.n_queries,
    coalesce(judged.n_pairs, 0) as n_pairs,
    judged.n_judged / judged.n_pairs as share_judged,
    judged.judge
from named
left join judged using (benchmark)
