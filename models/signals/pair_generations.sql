-- Comes after pairs and counts, so what it says is covered is there whatever happened to the build. A run that
-- rebuilt
-- only some of them says nothing while rows are kept: the next one starts anew.
{{ config(materialized="incremental") }}

with
    thresholds as (
        select
            max(threshold) filter (signal = 'topic') as topic_threshold,
            max(threshold) filter (signal = 'summary') as summary_threshold
        from {{ ref("signal_thresholds") }}
    ),

    this_build as (
        select
            {{ selected_variant("signals") }} as signals_variant,
            thresholds.topic_threshold,
            thresholds.summary_threshold,
            {{ setting("signals.comparison") }} as comparison,
            {{ setting("signals.tokeniser") }} as tokeniser,
            (select coalesce(max(storage), 'stored') from {{ ref("pair_density") }}) as storage,
            (select coalesce(max(problem_index) + 1, 0) from {{ ref("problem_numbers") }})::integer as n_problems,
            (select coalesce(max(set_index) + 1, 0) from {{ ref("topic_set_numbers") }})::integer as n_sets,
            (select count(*) from {{ ref("pair_counts") }}) as n_eligible,
            (select count(*) from {{ ref("topic_pairs") }}) as n_topic_pairs,
            (select count(*) from {{ ref("summary_pairs") }}) as n_summary_pairs,
            {{ build_id() }} as build_id
        from thresholds
    ),

    kept as (
        {% if is_incremental() %}select * from {{ this }}
        {% else %}select 0 as generation, * from this_build where false
        {% endif %}
    ),

    last as (select * from kept order by generation desc limit 1)

select (coalesce(last.generation, 0) + 1)::integer as generation, this_build.*
from this_build
left join last on true
where
    ({{ is_rebuilt_whole() }} or {{ setting("signals.growth") }} = 'refresh')
    and (
        last.generation is null
        or (last.n_problems, last.n_sets, last.n_eligible, last.build_id)
        <> (this_build.n_problems, this_build.n_sets, this_build.n_eligible, this_build.build_id)
    )
