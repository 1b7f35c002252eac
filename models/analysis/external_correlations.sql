-- Correlation of every two measures over the systems that both have. A subset is a rule that has landed as an
-- external
-- score: leaderboard 'subset: NAME', system '*', and a measure with the least value that its members have.
{% set pair = ["subset", "leaderboard", "measure", "other_leaderboard", "other_measure"] %}
with
    scores as (select leaderboard, measure, system_key, value from {{ ref("leaderboard_scores") }}),

    rules as (
        select trim(substr(leaderboard, length('subset:') + 1)) as subset, measure, value as least_value
        from {{ ref("stg_external_scores") }}
        where starts_with(leaderboard, 'subset:') and system = '*'
    ),

    members as (
        select 'all' as subset, system_key
        from scores
        union
        select rules.subset, scores.system_key
        from rules
        inner join scores on scores.measure = rules.measure and scores.value >= rules.least_value
    ),

    paired as (
        select
            members.subset,
            a.leaderboard,
            a.measure,
            b.leaderboard as other_leaderboard,
            b.measure as other_measure,
            a.system_key,
            a.value,
            b.value as other_value
        from scores as a
        inner join
            scores as b on b.system_key = a.system_key and (b.leaderboard, b.measure) > (a.leaderboard, a.measure)
        inner join members on members.system_key = a.system_key
    ),

    -- equal values share the mean of the ranks they take
    ranked as (
        select
            *, {{ average_rank("value", pair) }} as value_rank, {{ average_rank("other_value", pair) }} as other_rank
        from paired
    )

select
    subset,
    leaderboard,
    measure,
    other_leaderboard,
    other_measure,
    count(*) as n_systems,
    {{ correlation("value", "other_value") }} as pearson,
    {{ correlation("value_rank", "other_rank") }} as spearman
from ranked
group by subset, leaderboard, measure, other_leaderboard, other_measure
