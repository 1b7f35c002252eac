{{ config(materialized="table") }}
-- Mean nDCG@10 of every system under every build's own candidates, ratings and gain, from landed rows alone.
-- Runs of the variant in force are ranked already; other variants' runs are ranked here.
with
    builds as (
        select build_id, is_in_force, differences, benchmark_variant, ratings_variant, gain from {{ ref("variants") }}
    ),

    -- variants of benchmark and ratings that are not those in force
    others as (
        select distinct benchmark_variant, ratings_variant
        from builds
        except
        select benchmark_variant, ratings_variant
        from builds
        where is_in_force
    ),

    cutoffs as (select 10 as k),

    -- the macros group by benchmark and query: a variant of ratings takes the benchmark's place
    relevances as (
        select ratings.variant as benchmark, ratings.query_id, ratings.document_id, ratings.rating as relevance
        from {{ ref("stg_all_ratings") }} as ratings
        semi join others on others.ratings_variant = ratings.variant
    ),

    ideal as (select * from {{ ideal_gains("relevances", "cutoffs") }}),

    runs as (
        select landed.*
        from {{ ref("stg_runs") }} as landed
        semi join others on others.benchmark_variant = landed.variant
        anti join {{ ref("systems") }} as systems using (run_id)
    ),

    heads as (
        select run_id, query_id, {{ first_documents(11, setting("evaluation.tie_break")) }} as first_documents
        from runs
        where isfinite(score)
        group by run_id, query_id
    ),

    ranked as (
        select run_id, query_id, document_id, score, rank
        from {{ unfolded_documents("heads") }}
        union all
        select run_id, query_id, document_id, score, rank
        from {{ ref("ranked_runs") }}
        where rank <= 11
    ),

    run_variants as (
        select
            run_id,
            any_value(variant) as variant,
            any_value(system) as system,
            any_value(setting) as setting,
            any_value(scope) as scope
        from
            (
                select run_id, variant, system, setting, scope
                from runs
                union all
                select run_id, variant, system, setting, scope
                from {{ ref("systems") }}
            )
        group by run_id
    ),

    wanted as (
        select distinct
            run_variants.run_id || chr(31) || others.ratings_variant as run_id,
            ideal.query_id,
            ideal.k,
            ideal.ideal_exponential,
            ideal.ideal_linear,
            ideal.n_relevant,
            false as counts_relevant
        from others
        inner join run_variants on run_variants.variant = others.benchmark_variant
        inner join ideal on ideal.benchmark = others.ratings_variant
    ),

    graded as (
        select
            ranked.run_id || chr(31) || others.ratings_variant as run_id,
            ranked.query_id,
            ranked.rank,
            ranked.score,
            relevances.relevance
        from ranked
        inner join run_variants using (run_id)
        inner join others on others.benchmark_variant = run_variants.variant
        left join
            relevances
            on relevances.benchmark = others.ratings_variant
            and relevances.query_id = ranked.query_id
            and relevances.document_id = ranked.document_id
    ),

    gains as (select * from {{ discounted_gains("graded", "cutoffs") }}),

    measured as (
        select
            string_split(run_id, chr(31))[1] as run_id,
            string_split(run_id, chr(31))[2] as ratings_variant,
            measure,
            {{ mean("value") }} as overall,
            count(value) as n_queries
        from {{ measures("wanted", "gains") }}
        where measure in ('ndcg_exp@10', 'ndcg_lin@10')
        group by run_id, measure
    ),

    scores as (
        select
            run_variants.variant as benchmark_variant,
            measured.ratings_variant,
            measured.run_id,
            run_variants.system,
            run_variants.setting,
            run_variants.scope,
            measured.measure,
            measured.n_queries,
            measured.overall
        from measured
        inner join run_variants using (run_id)
        union all
        select
            systems.variant as benchmark_variant,
            in_force.ratings_variant,
            systems.run_id,
            systems.system,
            systems.setting,
            systems.scope,
            metrics.measure,
            count(metrics.value) as n_queries,
            {{ mean("metrics.value") }} as overall
        from {{ ref("query_metrics") }} as metrics
        inner join {{ ref("systems") }} as systems using (run_id)
        inner join
            (select distinct benchmark_variant, ratings_variant from builds where is_in_force) as in_force
            on in_force.benchmark_variant = systems.variant
        where metrics.measure in ('ndcg_exp@10', 'ndcg_lin@10')
        group by all
    )

select
    builds.build_id,
    scores.run_id,
    builds.is_in_force,
    builds.differences,
    builds.gain,
    scores.system,
    scores.setting,
    scores.scope,
    scores.n_queries,
    scores.overall
from builds
inner join
    scores
    on scores.benchmark_variant = builds.benchmark_variant
    and scores.ratings_variant = builds.ratings_variant
    and scores.measure = 'ndcg_' || builds.gain || '@10'
