-- The first documents of every run and query in the order that metrics use; gains travel with the rows.
-- A ranking that saw an older text of any of its documents, or one that is withdrawn, or that ranked candidates of
-- which
-- one is none any more, is left out as a whole: the query then counts as missing.
with
    heads as (
        select run_queries.run_id, run_queries.query_id, run_queries.first_documents
        from {{ ref("run_queries") }} as run_queries
        inner join {{ ref("systems") }} as systems using (run_id)
        inner join
            {{ ref("evaluated_queries") }} as queries
            on queries.benchmark = run_queries.benchmark
            and queries.query_id = run_queries.query_id
    ),

    ranked as (select * from {{ unfolded_documents("heads") }}),

    texts as (select problem_id, content_hash from {{ ref("stg_problems") }}),

    candidates as (select query_id, document_id, true as is_candidate from {{ ref("candidates") }}),

    landed as (
        select
            run_id,
            query_id,
            document_id,
            content_hash,
            scope = 'candidates' and benchmark = {{ setting("benchmark.name") }} as is_of_candidates
        from {{ ref("stg_runs") }}
    ),

    -- checked once a pair, not once a run
    seen as (select distinct query_id, document_id, content_hash, is_of_candidates from landed),

    outdated_pairs as (
        select seen.query_id, seen.document_id, seen.content_hash, seen.is_of_candidates
        from seen
        left join texts as query on query.problem_id = seen.query_id
        left join texts as document on document.problem_id = seen.document_id
        left join candidates on candidates.query_id = seen.query_id and candidates.document_id = seen.document_id
        where
            seen.content_hash <> left(sha256(concat_ws(':', query.content_hash, document.content_hash)), 32)
            or (seen.is_of_candidates and candidates.is_candidate is null)
    ),

    outdated as (
        select distinct landed.run_id, landed.query_id
        from landed
        inner join
            outdated_pairs
            on outdated_pairs.query_id = landed.query_id
            and outdated_pairs.document_id = landed.document_id
            and outdated_pairs.content_hash is not distinct from landed.content_hash
            and outdated_pairs.is_of_candidates = landed.is_of_candidates
    ),

    current as (select ranked.* from ranked anti join outdated using (run_id, query_id))

select current.run_id, current.query_id, current.document_id, current.score, current.rank, relevances.relevance
from current
inner join {{ ref("systems") }} as systems on systems.run_id = current.run_id
left join
    {{ ref("relevances") }} as relevances
    on relevances.benchmark = systems.benchmark
    and relevances.query_id = current.query_id
    and relevances.document_id = current.document_id
