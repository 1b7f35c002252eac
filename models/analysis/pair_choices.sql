-- What a judge or person chose, whichever candidate was shown first: 1 for document_id, -1 for other_id, 0 a tie.
with
    verdicts as (
        select
            benchmark,
            query_id,
            least(first_id, second_id) as document_id,
            greatest(first_id, second_id) as other_id,
            judge,
            provider,
            model,
            schedule,
            variant,
            annotator,
            case
                when verdict = 'tie' then 0 when (verdict = 'first') = (first_id < second_id) then 1 else -1
            end as choice
        from {{ ref("stg_judgments") }}
        where kind in ('pair', 'human') and vote = 0 and verdict <> 'invalid'
    )

select
    benchmark,
    query_id,
    document_id,
    other_id,
    judge,
    provider,
    model,
    schedule,
    variant,
    annotator,
    -- asked in both orders: the verdicts are averaged, and a contradiction is a tie
    sign(avg(choice))::integer as choice,
    count(*) as n_verdicts,
    min(choice) <> max(choice) as is_contradictory
from verdicts
group by all
