-- Runs that are evaluated: those without a score that is no number (analysis.refused_runs names the others).
select
    run_id,
    any_value(benchmark) as benchmark,
    any_value(variant) as variant,
    any_value(system) as system,
    any_value(setting) as setting,
    any_value(scope) as scope,
    any_value(idf) as idf,
    any_value(params) as params,
    round(fsum(latency_s) / nullif(count(latency_s), 0), 9) as mean_latency_s
from {{ ref("run_queries") }}
group by run_id
having sum(n_not_finite) = 0
