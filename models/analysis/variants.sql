-- Every set of settings that a build has used: how it differs from the one in force, what has landed for it, and what
-- it still needs. Their scores stand in analysis.variant_scores.
with
    builds as (
        select
            build_id,
            ontology,
            package_version,
            settings::json as settings,
            variants ->> 'topics' as topics_variant,
            variants ->> 'summaries' as summaries_variant,
            variants ->> 'benchmark' as benchmark_variant,
            variants ->> 'judgments' as judgments_variant,
            variants ->> 'ratings' as ratings_variant,
            coalesce(settings ->> '$."evaluation.gain"', 'exp') as gain
        from {{ latest(source("landing", "builds"), ["build_id"]) }}
    ),

    in_force as (
        select
            max(value) filter (name = 'build_id') as build_id,
            coalesce(max(value) filter (name = 'variant_name'), '') as variant_name
        from {{ source("landing", "build") }}
    ),

    chosen as (select builds.build_id, unnest(json_keys(builds.settings)) as name, builds.settings from builds),

    compared as (
        select
            chosen.build_id,
            chosen.name,
            json_extract(chosen.settings, '$."' || chosen.name || '"')::varchar as value,
            json_extract(stg_settings.value, '$')::varchar as value_in_force
        from chosen
        left join {{ ref("stg_settings") }} as stg_settings using (name)
        union all
        -- a build from before the setting existed
        select builds.build_id, stg_settings.name, 'not known' as value, null as value_in_force
        from builds
        cross join {{ ref("stg_settings") }} as stg_settings
        where not json_exists(builds.settings, '$."' || stg_settings.name || '"')
    ),

    differences as (
        select build_id, string_agg(name || ' = ' || value, '; ' order by name) as differences
        from compared
        where value is distinct from value_in_force
        group by build_id
    ),

    assigned as (select distinct variant from {{ source("landing", "topic_scores") }}),

    summarised as (select distinct variant from {{ source("landing", "summaries") }}),

    judged as (select variant, count(*) as n_judgments from {{ source("landing", "judgments") }} group by variant),

    rated as (
        select variant, count(distinct query_id) as n_queries, min(judge) as judge, min(schedule) as schedule
        from {{ source("landing", "ratings") }}
        group by variant
    ),

    ranked as (select variant, count(distinct run_id) as n_runs from {{ source("landing", "runs") }} group by variant)

select
    builds.build_id,
    builds.build_id = in_force.build_id as is_in_force,
    differences.differences,
    builds.ontology,
    builds.package_version,
    builds.benchmark_variant,
    builds.judgments_variant,
    builds.ratings_variant,
    builds.gain,
    coalesce(judged.n_judgments, 0) as n_judgments,
    coalesce(rated.n_queries, 0) as n_rated_queries,
    rated.judge,
    rated.schedule,
    coalesce(ranked.n_runs, 0) as n_runs,
    case
        when assigned.variant is null
        then 'needs topics: saber annotate topics, dbt build, then saber judge, saber rate'
        when summarised.variant is null
        then 'needs summaries: saber annotate summaries, dbt build, then saber judge, saber rate'
        when coalesce(judged.n_judgments, 0) = 0
        then 'needs judgments: saber judge, saber rate'
        when coalesce(rated.n_queries, 0) = 0
        then 'needs ratings: saber rate'
        when coalesce(ranked.n_runs, 0) = 0
        then 'needs runs: saber retrieve --system NAME'
    end || case
        when in_force.build_id = builds.build_id and in_force.variant_name <> ''
        then
            ' (each with --variant '
            || in_force.variant_name
            || ', whose settings stand in [variants.'
            || in_force.variant_name
            || '] of saber.toml)'
        when in_force.build_id = builds.build_id
        then ''
        else ' (each with --variant NAME, whose settings stand in [variants.NAME] of saber.toml)'
    end as still_needs
from builds
cross join in_force
left join differences on differences.build_id = builds.build_id
left join assigned on assigned.variant = builds.topics_variant
left join summarised on summarised.variant = builds.summaries_variant
left join judged on judged.variant = builds.judgments_variant
left join rated on rated.variant = builds.ratings_variant
left join ranked on ranked.variant = builds.benchmark_variant
