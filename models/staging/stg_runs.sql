-- The documents of a run's query are replaced as a whole: only those of its latest job are read.
select
    run_id,
    query_id,
    document_id,
    benchmark,
    setting,
    scope,
    idf,
    system,
    score,
    rank,
    latency_s,
    params,
    content_hash,
    variant,
    job_id
from {{ source("landing", "runs") }}
qualify job_id = arg_max(job_id, sequence) over (partition by run_id, query_id)
