select purpose, model, job_id, coalesce(error, 'good') as outcome, count(*) as n_attempts
from {{ ref("stg_llm_calls") }}
group by purpose, model, job_id, error
