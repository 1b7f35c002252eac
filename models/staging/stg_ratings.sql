with
    selected as (
        select *
        from
            {{
                latest(
                    source("landing", "ratings"),
                    ["benchmark", "query_id", "document_id"],
                    "variant = " ~ selected_variant("ratings"),
                )
            }}
    ),

    texts as (select problem_id, content_hash from {{ ref("stg_problems") }})

select
    selected.benchmark,
    selected.query_id,
    selected.document_id,
    selected.judge,
    selected.schedule,
    selected.rating,
    selected.log_strength,
    selected.std_error,
    selected.component,
    selected.separable,
    selected.n_comparisons,
    selected.ridge,
    selected.provider,
    selected.model,
    selected.variant,
    selected.job_id
from selected
inner join texts as query on query.problem_id = selected.query_id
inner join texts as document on document.problem_id = selected.document_id
where selected.content_hash = left(sha256(concat_ws(':', query.content_hash, document.content_hash)), 32)
