-- One pass over the landed runs: what each run says of each query, and its first documents in order.
-- Only as many are kept as the largest cut-off needs, and one more, so that a tie at the cut-off shows.
{% set depth -%}
    (select max(element) + 1 from (select element from {{ setting_list("evaluation.cutoffs", "integer") }} union all select 10))
{%- endset %}
with
    benchmarks as (select benchmark, variant from {{ ref("benchmarks") }}),

    runs as (
        select landed.*
        from {{ ref("stg_runs") }} as landed
        inner join benchmarks on benchmarks.benchmark = landed.benchmark and benchmarks.variant = landed.variant
    )

select
    run_id,
    query_id,
    any_value(benchmark) as benchmark,
    any_value(variant) as variant,
    any_value(system) as system,
    any_value(setting) as setting,
    any_value(scope) as scope,
    any_value(idf) as idf,
    any_value(params) as params,
    count(*) as n_documents,
    count(*) filter (score is null or not isfinite(score)) as n_not_finite,
    sum(latency_s) as latency_s,
    any_value(job_id) as job_id,
    bit_xor(hash(document_id, content_hash)) as documents_key,
    {{ first_documents(depth, setting("evaluation.tie_break")) }} as first_documents
from runs
group by run_id, query_id
