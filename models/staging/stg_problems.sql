with
    landed as (select * from {{ latest(source("landing", "problems"), ["problem_id"]) }}),

    retracted as (select source from {{ ref("stg_retracted_sources") }})

select
    problem_id,
    source,
    source_id,
    nfc_normalize(statement) as statement,
    nfc_normalize(solution) as solution,
    nfc_normalize(answer) as answer,
    language,
    licence,
    metadata,
    content_hash,
    coalesce(trim(solution), '') <> '' as has_solution,
    job_id,
    sequence
from landed
where source not in (select source from retracted)
