-- Invalid replies against the length of the prompt, in tenths of each judge's prompts. What is derived from several
-- replies (a majority, two grades compared) is no reply.
with
    judgments as (
        select *, bool_or(kind = 'score') over asker as is_by_grades, bool_or(vote > 0) over asker as is_by_votes
        from {{ ref("stg_judgments") }}
        where kind <> 'human'
        window asker as (partition by judge, provider, model, schedule, variant)
    ),

    judged as (
        select
            judgments.judge,
            judgments.provider,
            judgments.model,
            judgments.query_id,
            judgments.first_id,
            judgments.second_id,
            judgments.vote,
            judgments.schedule,
            judgments.variant,
            coalesce(judgments.verdict = 'invalid', false) as is_invalid,
            length(query.statement)
            + length(coalesce(query.solution, ''))
            + length(first.statement)
            + length(coalesce(first.solution, ''))
            + coalesce(length(second.statement) + length(coalesce(second.solution, '')), 0) as n_characters
        from judgments
        inner join {{ ref("stg_problems") }} as query on query.problem_id = judgments.query_id
        inner join {{ ref("stg_problems") }} as first on first.problem_id = judgments.first_id
        left join {{ ref("stg_problems") }} as second on second.problem_id = judgments.second_id
        where
            not (judgments.is_by_grades and judgments.kind = 'pair')
            and not (judgments.is_by_votes and judgments.vote = 0)
    ),

    tenths as (
        select
            *,
            ntile(10) over (
                partition by judge, provider, model
                -- the rest decides equal lengths, so that the same rows give the same tenths
                order by n_characters, query_id, first_id, second_id, vote, schedule, variant
            ) as tenth
        from judged
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
