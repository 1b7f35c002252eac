-- The thresholds in force: a number in saber.toml, else the smallest over the domains that have one.
with
    from_data as (
        select 'topic' as signal, min(topic_threshold) as threshold
        from {{ ref("domain_thresholds") }}
        union all
        select 'summary' as signal, min(summary_threshold) as threshold
        from {{ ref("domain_thresholds") }}
    ),

    given as (
        select 'topic' as signal, {{ setting("signals.topic_threshold") }} as value
        union all
        select 'summary' as signal, {{ setting("signals.summary_threshold") }} as value
    )

select
    given.signal,
    coalesce(try_cast(given.value as double), from_data.threshold) as threshold,
    -- Under `comparison = published` both sides are rounded to float16, so slightly less qualifies too.
    least_qualifying(
        coalesce(try_cast(given.value as double), from_data.threshold), {{ setting("signals.comparison") }}
    ) as least_similarity,
    from_data.threshold as threshold_from_data,
    case when try_cast(given.value as double) is null then 'data' else 'saber.toml' end as origin
from given
inner join from_data using (signal)
