-- Statements whose formulas the model of the settings has put into delimiters, where the text is still the one it
-- saw.
with
    latest as (
        select *
        from
            {{
                latest(
                    source("landing", "delimited_statements"),
                    ["problem_id"],
                    "model = " ~ setting("evaluation.formulas"),
                )
            }}
    )

select latest.problem_id, latest.statement, latest.model, latest.prompt_version, latest.call_id
from latest
inner join
    {{ ref("stg_problems") }} as problems
    on problems.problem_id = latest.problem_id
    and problems.content_hash = latest.content_hash
