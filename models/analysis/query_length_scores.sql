-- Scores by length of the query's text, in tenths of the queries.
with
    lengths as (
        select
            queries.benchmark,
            queries.query_id,
            length(problems.statement) as n_statement,
            length(problems.statement) + length(coalesce(problems.solution, '')) as n_full
        from {{ ref("evaluated_queries") }} as queries
        inner join {{ ref("stg_problems") }} as problems on problems.problem_id = queries.query_id
    ),

    shown as (
        select
            systems.run_id,
            systems.benchmark,
            systems.system,
            systems.setting,
            systems.scope,
            lengths.query_id,
            case when systems.setting like 'full-%' then lengths.n_full else lengths.n_statement end as n_characters
        from {{ ref("systems") }} as systems
        inner join lengths using (benchmark)
    ),

    tenths as (select *, ntile(10) over (partition by run_id order by n_characters, query_id) as tenth from shown)

select
    tenths.run_id,
    any_value(tenths.benchmark) as benchmark,
    any_value(tenths.system) as system,
    any_value(tenths.setting) as setting,
    any_value(tenths.scope) as scope,
    tenths.tenth,
    min(tenths.n_characters) as min_characters,
    max(tenths.n_characters) as max_characters,
    count(metrics.value) as n_queries,
    {{ mean("metrics.value") }} as score
from tenths
inner join
    {{ ref("query_metrics") }} as metrics
    on metrics.run_id = tenths.run_id
    and metrics.query_id = tenths.query_id
    and metrics.measure = {{ headline() }}
group by tenths.run_id, tenths.tenth
