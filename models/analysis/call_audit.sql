with
    calls as (
        select
            *,
            cast(params ->> '$.price_in' as double) as price_in,
            cast(params ->> '$.price_out' as double) as price_out,
            params ->> '$.currency' as currency
        from {{ ref("stg_llm_calls") }}
    ),

    attempts_of_jobs as (
        select purpose, model, served_model, prompt_version, job_id, count(*) as n_attempts
        from calls
        group by purpose, model, served_model, prompt_version, job_id
    ),

    -- Jobs that were killed left no running time: neither their attempts nor their seconds count.
    throughput as (
        select
            attempts_of_jobs.purpose,
            attempts_of_jobs.model,
            attempts_of_jobs.served_model,
            attempts_of_jobs.prompt_version,
            sum(attempts_of_jobs.n_attempts) / nullif(sum(jobs.seconds), 0) as attempts_per_s
        from attempts_of_jobs
        inner join {{ ref("stg_jobs") }} as jobs on jobs.job_id = attempts_of_jobs.job_id and jobs.seconds is not null
        group by
            attempts_of_jobs.purpose,
            attempts_of_jobs.model,
            attempts_of_jobs.served_model,
            attempts_of_jobs.prompt_version
    ),

    audited as (
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
            fsum(tokens_in * price_in + tokens_out * price_out) / 1e6 as cost,
            string_agg(distinct currency, ', ' order by currency) as currency,
            median(latency_s) as median_latency_s,
            max(latency_s) as max_latency_s
        from calls
        group by purpose, model, served_model, prompt_version
    )

select audited.*, throughput.attempts_per_s
from audited
left join
    throughput
    on throughput.purpose = audited.purpose
    and throughput.model = audited.model
    and throughput.served_model is not distinct from audited.served_model
    and throughput.prompt_version = audited.prompt_version
