-- What a judge or person chose, whichever candidate was shown first: 1 for document_id, -1 for other_id, 0 a tie.
-- A judge that grades single documents has a choice on every pair that anyone compared and whose grades it gave.
with
    judgments as (select * from {{ ref("stg_judgments") }}),

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
        from judgments
        where kind in ('pair', 'human') and vote = 0 and verdict <> 'invalid'
    ),

    grades as (
        select benchmark, query_id, first_id as document_id, judge, provider, model, schedule, variant, score
        from judgments
        where kind = 'score' and vote = 0 and score is not null
    ),

    graders as (select distinct judge, provider, model, schedule, variant from grades),

    compared as (select distinct benchmark, query_id, document_id, other_id from verdicts),

    graded as (
        select
            compared.benchmark,
            compared.query_id,
            compared.document_id,
            compared.other_id,
            one.judge,
            one.provider,
            one.model,
            one.schedule,
            one.variant,
            null::varchar as annotator,
            sign(one.score - other.score)::integer as choice
        from compared
        inner join
            grades as one
            on one.benchmark = compared.benchmark
            and one.query_id = compared.query_id
            and one.document_id = compared.document_id
        inner join
            grades as other
            on other.benchmark = compared.benchmark
            and other.query_id = compared.query_id
            and other.document_id = compared.other_id
            and other.judge = one.judge
            and other.provider is not distinct from one.provider
            and other.model is not distinct from one.model
            and other.schedule is not distinct from one.schedule
            and other.variant = one.variant
    ),

    choices as (
        -- the verdicts of a judge that grades say again what its grades say
        select verdicts.*, false as is_by_grades
        from verdicts
        anti join
            graders
            on graders.judge = verdicts.judge
            and graders.provider is not distinct from verdicts.provider
            and graders.model is not distinct from verdicts.model
            and graders.schedule is not distinct from verdicts.schedule
            and graders.variant = verdicts.variant
        union all
        select graded.*, true as is_by_grades
        from graded
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
    is_by_grades,
    -- asked in both orders: the verdicts are averaged, and a contradiction is a tie
    sign(avg(choice))::integer as choice,
    count(*) as n_verdicts,
    min(choice) <> max(choice) as is_contradictory
from choices
group by all
