-- Scores are means over queries of nDCG@10 with the gain of the settings; a domain's over all queries that bear it.
with
    metrics as (select * from {{ ref("query_metrics") }} where measure = {{ headline() }}),

    linear as (
        select run_id, {{ mean("value") }} as ndcg_lin_10
        from {{ ref("query_metrics") }}
        where measure = 'ndcg_lin@10'
        group by run_id
    ),

    domains as (select problem_id as query_id, domain from {{ ref("problem_domains") }}),

    overall as (
        select
            run_id,
            {{ mean("value") }} as overall,
            count(*) filter (is_missing) as n_missing,
            count(*) filter (value is null) as n_degenerate,
            count(*) filter (is_tied_at_cutoff) as n_tied_at_cutoff
        from metrics
        group by run_id
    ),

    by_domain as (
        select metrics.run_id, domains.domain, {{ mean("metrics.value") }} as score
        from metrics
        inner join domains using (query_id)
        group by metrics.run_id, domains.domain
    ),

    intervals as (select * from {{ ref("bootstrap_intervals") }} where domain = 'overall'),

    rating_intervals as (select * from {{ ref("rating_intervals") }} where domain = 'overall'),

    ranks as (select * from {{ ref("rank_intervals") }} where domain = 'overall'),

    chance as (select * from {{ ref("chance_levels") }} where measure = {{ headline() }})

select
    systems.benchmark,
    systems.variant,
    systems.setting,
    systems.scope,
    systems.system,
    overall.overall,
    {%- for domain, column in domain_columns() %}
        (
            select score
            from by_domain
            where by_domain.run_id = systems.run_id and by_domain.domain = {{ text_literal(domain) }}
        ) as {{ column }},
    {%- endfor %}
    linear.ndcg_lin_10,
    benchmarks.n_queries,
    overall.n_missing,
    overall.n_degenerate,
    overall.n_tied_at_cutoff,
    benchmarks.share_judged,
    benchmarks.judge,
    systems.idf,
    systems.run_id,
    {{ build_id() }} as build_id,
    intervals.low as overall_low,
    intervals.high as overall_high,
    rating_intervals.low as rating_low,
    rating_intervals.high as rating_high,
    ranks.rank,
    ranks.rank_low,
    ranks.rank_high,
    chance.chance,
    {{ setting("evaluation.gain") }} as gain
from {{ ref("systems") }} as systems
inner join {{ ref("benchmarks") }} as benchmarks using (benchmark)
inner join overall using (run_id)
inner join linear using (run_id)
left join intervals on intervals.run_id = systems.run_id
left join rating_intervals on rating_intervals.run_id = systems.run_id
left join ranks on ranks.run_id = systems.run_id
left join chance on chance.benchmark = systems.benchmark and chance.scope = systems.scope
order by systems.benchmark, systems.setting, systems.scope, overall.overall desc, systems.run_id
