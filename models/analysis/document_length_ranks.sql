-- Does a system favour long or short documents? Its first ten against the ten of highest rating, by length.
with
    lengths as (
        select
            relevances.benchmark,
            relevances.query_id,
            relevances.document_id,
            relevances.relevance,
            length(problems.statement) + length(coalesce(problems.solution, '')) as n_characters
        from {{ ref("relevances") }} as relevances
        inner join {{ ref("stg_problems") }} as problems on problems.problem_id = relevances.document_id
    ),

    tenths as (
        select
            *,
            ntile(10) over (partition by benchmark order by n_characters, query_id, document_id) as tenth,
            row_number() over (
                partition by benchmark, query_id order by relevance desc nulls last, document_id
            ) as ideal_rank
        from lengths
    ),

    candidates as (
        select
            benchmark,
            tenth,
            min(n_characters) as min_characters,
            max(n_characters) as max_characters,
            count(*) as n_documents,
            count(*) filter (ideal_rank <= 10 and relevance is not null) as n_best,
            {{ mean("relevance") }} as mean_relevance
        from tenths
        group by benchmark, tenth
    ),

    first_ten as (
        select ranked.run_id, systems.benchmark, tenths.tenth, count(*) as n_first
        from {{ ref("ranked_runs") }} as ranked
        inner join {{ ref("systems") }} as systems using (run_id)
        inner join
            tenths
            on tenths.benchmark = systems.benchmark
            and tenths.query_id = ranked.query_id
            and tenths.document_id = ranked.document_id
        where ranked.rank <= 10
        group by ranked.run_id, systems.benchmark, tenths.tenth
    )

select
    systems.run_id,
    systems.benchmark,
    systems.system,
    systems.setting,
    systems.scope,
    candidates.tenth,
    candidates.min_characters,
    candidates.max_characters,
    candidates.n_documents,
    candidates.mean_relevance,
    coalesce(first_ten.n_first, 0) as n_first,
    candidates.n_best,
    coalesce(first_ten.n_first, 0)
    / nullif(sum(first_ten.n_first) over (partition by systems.run_id), 0) as share_first,
    candidates.n_best / nullif(sum(candidates.n_best) over (partition by systems.run_id), 0) as share_best
from {{ ref("systems") }} as systems
inner join candidates on candidates.benchmark = systems.benchmark
left join first_ten on first_ten.run_id = systems.run_id and first_ten.tenth = candidates.tenth
