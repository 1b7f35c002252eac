-- What a random order scores on average, exactly: hits are hypergeometric, gains average over the documents.
with
    benchmarks as (select benchmark, origin from {{ ref("benchmarks") }}),

    ideal as (select * from {{ ref("ideal_gains") }}),

    -- an imported benchmark's collection: the problems of the sources that its documents come from
    sources as (
        select distinct relevances.benchmark, problems.source
        from {{ ref("relevances") }} as relevances
        inner join {{ ref("stg_problems") }} as problems on problems.problem_id = relevances.document_id
    ),

    collections as (
        select sources.benchmark, count(*) as n_documents
        from sources
        inner join {{ ref("stg_problems") }} as problems using (source)
        group by sources.benchmark
    ),

    levels as (
        select
            ideal.benchmark,
            'candidates' as scope,
            ideal.query_id,
            ideal.k,
            unnest(['ndcg_exp', 'ndcg_lin', 'recall', 'hit']) as measure,
            unnest(
                [
                    ideal.random_exponential / nullif(ideal.ideal_exponential, 0),
                    ideal.random_linear / nullif(ideal.ideal_linear, 0),
                    case when ideal.n_relevant > 0 then least(1.0, ideal.k / ideal.n_documents) end,
                    case
                        when ideal.n_relevant > 0
                        then {{ chance_of_a_hit("ideal.n_documents", "ideal.n_relevant", "ideal.k") }}
                    end
                ]
            ) as value
        from ideal
        union all
        select
            ideal.benchmark,
            'corpus' as scope,
            ideal.query_id,
            ideal.k,
            unnest(['recall', 'hit']) as measure,
            unnest(
                [
                    case when ideal.n_relevant > 0 then least(1.0, ideal.k / collections.n_documents) end,
                    case
                        when ideal.n_relevant > 0
                        then {{ chance_of_a_hit("collections.n_documents", "ideal.n_relevant", "ideal.k") }}
                    end
                ]
            ) as value
        from ideal
        inner join collections using (benchmark)
        where collections.n_documents >= ideal.n_relevant
    )

select
    levels.benchmark,
    levels.scope,
    levels.measure || '@' || levels.k as measure,
    levels.k,
    count(levels.value) as n_queries,
    {{ mean("levels.value") }} as chance
from levels
inner join benchmarks using (benchmark)
where benchmarks.origin = 'imported' or levels.measure in ('ndcg_exp', 'ndcg_lin')
group by levels.benchmark, levels.scope, levels.measure, levels.k
