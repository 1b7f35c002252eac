-- How often each judge prefers what it was shown first, with the exact two-sided binomial p-value for one half.
-- A majority counts as one verdict; a judge that grades single documents shows none first.
with
    judgments as (select * from {{ ref("stg_judgments") }}),

    graders as (select distinct judge, provider, model, schedule, variant from judgments where kind = 'score'),

    counted as (
        select
            judge,
            provider,
            model,
            schedule,
            variant,
            count(*) filter (verdict = 'first') as n_first,
            count(*) filter (verdict = 'second') as n_second,
            count(*) filter (verdict = 'tie') as n_tie,
            count(*) filter (verdict = 'invalid') as n_invalid
        from judgments
        anti join
            graders
            on graders.judge = judgments.judge
            and graders.provider is not distinct from judgments.provider
            and graders.model is not distinct from judgments.model
            and graders.schedule is not distinct from judgments.schedule
            and graders.variant = judgments.variant
        -- what a person took back was never invalid
        where vote = 0 and (kind = 'pair' or (kind = 'human' and verdict <> 'invalid'))
        group by judge, provider, model, schedule, variant
    ),

    tails as (
        select
            counted.judge,
            counted.provider,
            counted.model,
            counted.schedule,
            counted.variant,
            least(
                1.0,
                2 * sum(
                    exp(
                        lgamma(n_first + n_second + 1)
                        - lgamma(steps.k + 1)
                        - lgamma(n_first + n_second - steps.k + 1)
                        - (n_first + n_second) * ln(2)
                    )
                )
            ) as p_value
        from counted
        cross join lateral(select unnest(range(0, least(n_first, n_second) + 1)) as k) as steps
        group by counted.judge, counted.provider, counted.model, counted.schedule, counted.variant
    )

select
    counted.judge,
    counted.provider,
    counted.model,
    counted.schedule,
    counted.variant,
    counted.n_first,
    counted.n_second,
    counted.n_tie,
    counted.n_invalid,
    counted.n_first / nullif(counted.n_first + counted.n_second, 0) as share_first,
    tails.p_value
from counted
left join
    tails
    on tails.judge is not distinct from counted.judge
    and tails.provider is not distinct from counted.provider
    and tails.model is not distinct from counted.model
    and tails.schedule is not distinct from counted.schedule
    and tails.variant = counted.variant
