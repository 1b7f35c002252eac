select
    purpose,
    model,
    served_model,
    prompt_version,
    count(distinct call_id) as n_calls,
    count(*) as n_attempts,
    count(*) filter (error is null) as n_good,
    count(*) filter (finish_reason = 'length') as n_truncated,
    count(*) filter (error is not null) as n_failed,
    string_agg(distinct error, ', ' order by error) as failures,
    sum(tokens_in)::bigint as tokens_in,
    sum(tokens_out)::bigint as tokens_out,
    median(latency_s) as median_latency_s,
    max(latency_s) as max_latency_s
from {{ ref("stg_llm_calls") }}
group by purpose, model, served_model, prompt_version
