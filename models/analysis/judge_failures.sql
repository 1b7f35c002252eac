-- Invalid verdicts against the length of the prompt, in tenths of each judge's prompts.
with
    judged as (
        select
            judgments.judge,
            judgments.provider,
            judgments.model,
            judgments.verdict = 'invalid' as is_invalid,
            length(query.statement)
            + length(coalesce(query.solution, ''))
            + length(first.statement)
            + length(coalesce(first.solution, ''))
            + coalesce(length(second.statement) + length(coalesce(second.solution, '')), 0) as n_characters
        from {{ ref("stg_judgments") }} as judgments
        inner join {{ ref("stg_problems") }} as query on query.problem_id = judgments.query_id
        inner join {{ ref("stg_problems") }} as first on first.problem_id = judgments.first_id
        left join {{ ref("stg_problems") }} as second on second.problem_id = judgments.second_id
        where judgments.kind <> 'human'
    ),

    tenths as (
        select *, ntile(10) over (partition by judge, provider, model order by n_characters) as tenth from judged
    )

select
    judge,
    provider,
    model,
    tenth,
    min(n_characters) as min_characters,
    max(n_characters) as max_characters,
    count(*) as n_judgments,
    count(*) filter (is_invalid) as n_invalid,
    n_invalid / n_judgments as share_invalid
from tenths
group by judge, provider, model, tenth
