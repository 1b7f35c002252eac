select
    run_id,
    any_value(benchmark) as benchmark,
    any_value(variant) as variant,
    any_value(system) as system,
    any_value(setting) as setting,
    any_value(scope) as scope,
    any_value(idf) as idf,
    any_value(params) as params,
    sum(latency_s) / nullif(count(distinct query_id), 0) as mean_latency_s
from {{ ref("stg_runs") }}
where variant = {{ selected_variant("benchmark") }} and benchmark = {{ setting("benchmark.name") }}
group by run_id
