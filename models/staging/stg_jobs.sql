select job_id, command, state, "at", cast(summary ->> '$.seconds' as double) as seconds
from {{ latest(source("landing", "jobs"), ["job_id"]) }}
